import ArgumentParser
import Glibc
import Segmenter

/// The options that say who asks, and on which way.
struct AccessArguments: ParsableArguments {
    /// How credentials are shown.
    enum AuthenticationScheme: String, CaseIterable, ExpressibleByArgument {
        case auto, basic, digest
    }

    /// The lowest version of TLS.
    enum TLSVersion: String, CaseIterable, ExpressibleByArgument {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "User and password for the server; without `:PASS` the password is asked for.",
            discussion: """
                Other users of this machine may see a password on a command line for a moment: \
                `--password-fd` and `--netrc` are safer.
                """,
            valueName: "user[:pass]"))
    var user: String?

    @Option(
        help: ArgumentHelp(
            "Read the password for `--user` from this descriptor.", valueName: "n"))
    var passwordFd: Int32?

    @Option(
        help: ArgumentHelp(
            "How credentials are shown: basic, digest, or auto, which is digest where only that is "
                + "asked for.", valueName: "scheme"))
    var auth = AuthenticationScheme.auto

    @Flag(help: "Look credentials up in ~/.netrc, by host.")
    var netrc = false

    @Option(help: ArgumentHelp("Look credentials up in this file.", valueName: "file"))
    var netrcFile: String?

    @Option(
        help: ArgumentHelp(
            "Send the token that this descriptor gives, as `Authorization: Bearer`.",
            valueName: "n"))
    var bearerFd: Int32?

    @Option(
        help: ArgumentHelp(
            "Send the cookies of this file, in Netscape's format, to their hosts.",
            valueName: "file"))
    var cookie: String?

    @Option(
        name: [.customShort("b"), .long],
        help: ArgumentHelp("Send these cookies.", valueName: "k=v; k=v"))
    var cookieText: String?

    @Option(
        name: [.customShort("A"), .long],
        help: ArgumentHelp("Call this program so; empty for nothing.", valueName: "name"))
    var userAgent: String?

    @Option(help: ArgumentHelp("Send this as `Referer`.", valueName: "url"))
    var referer: String?

    @Option(
        help: ArgumentHelp(
            "Go through this proxy: http, https, socks4, socks4a, socks5 or socks5h.",
            discussion: """
                socks5h and socks4a have the proxy resolve names. Without this option http_proxy, \
                https_proxy, all_proxy and no_proxy of the environment hold; an empty URL is no proxy.
                """,
            valueName: "url"))
    var proxy: String?

    @Option(
        help: ArgumentHelp(
            "Reach these hosts without a proxy, separated by commas; `*` is all.",
            valueName: "hosts"))
    var noProxy: String?

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Use IPv4 addresses only.")
    var ipv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Use IPv6 addresses only.")
    var ipv6 = false

    @Option(
        help: ArgumentHelp(
            "Have connections go out from this interface or address.", valueName: "name"))
    var interface: String?

    @Option(
        help: ArgumentHelp(
            "Use these addresses for this host and port; repeatable.",
            valueName: "host:port:addr[,addr]"))
    var resolve: [String] = []

    @Flag(help: "Believe every certificate. Nobody knows then who answers, or who listens.")
    var insecure = false

    @Option(
        help: ArgumentHelp(
            "Accept a server with this public key only: `sha256//BASE64[;…]`, or a PEM file.",
            valueName: "key"))
    var pinnedPublicKey: String?

    @Option(
        help: ArgumentHelp(
            "Certificate to show to the server: a PEM file, or PKCS #12 (.p12, .pfx).",
            valueName: "file"))
    var clientCertificate: String?

    @Option(
        help: ArgumentHelp(
            "PEM file with its key, unless it is in the same file.", valueName: "file"))
    var clientKey: String?

    @Option(
        help: ArgumentHelp(
            "Read the password of the client's key from this descriptor.", valueName: "n"))
    var clientKeyPasswordFd: Int32?

    @Option(help: ArgumentHelp("Lowest version of TLS to accept: 1.2 or 1.3.", valueName: "v"))
    var tlsMin = TLSVersion.tls12

    func validate() throws {
        guard !ipv4 || !ipv6 else {
            throw ValidationError("`--ipv4` and `--ipv6` cannot be used together")
        }
        guard passwordFd == nil || user != nil else {
            throw ValidationError("`--password-fd` needs `--user`")
        }
        guard passwordFd == nil || user?.contains(":") != true else {
            throw ValidationError("`--user USER:PASS` and `--password-fd` both give a password")
        }
        guard user == nil || bearerFd == nil else {
            throw ValidationError("`--user` and `--bearer-fd` cannot be used together")
        }
        let descriptors = [passwordFd, bearerFd, clientKeyPasswordFd].compactMap { $0 }
        guard descriptors.allSatisfy({ $0 >= 0 }) else {
            throw ValidationError("a descriptor is a number from 0 on")
        }
        guard Set(descriptors).count == descriptors.count else {
            throw ValidationError("a descriptor can give one secret only")
        }
        let files = [netrcFile, cookie, clientCertificate, clientKey, pinnedPublicKey]
        guard !files.contains("") else {
            throw ValidationError("an empty name of a file or key cannot be used")
        }
        // What comes from descriptors is checked when it has been read.
        try Self.check(options)
    }

    /// The library's options, without what descriptors and terminals have to tell.
    private var options: AccessOptions {
        var options = AccessOptions()
        if let user {
            let parts = user.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            options.credentials = .init(
                user: String(parts[0]), password: parts.count > 1 ? String(parts[1]) : nil)
        }
        options.scheme =
            switch auth {
            case .auto: .automatic
            case .basic: .basic
            case .digest: .digest
            }
        options.usesNetrc = netrc || netrcFile != nil
        options.netrcFile = netrcFile
        options.cookieFile = cookie
        options.cookies = cookieText
        options.userAgent = userAgent
        options.referer = referer
        options.proxy = proxy
        options.noProxy = noProxy
        options.addressFamily = ipv4 ? .ipv4 : ipv6 ? .ipv6 : .any
        options.interface = interface
        options.resolve = resolve
        options.isInsecure = insecure
        options.pinnedPublicKey = pinnedPublicKey
        options.clientCertificate = clientCertificate
        options.clientKey = clientKey
        options.minimumTLS = tlsMin == .tls13 ? .tls13 : .tls12
        return options
    }

    private static func check(_ options: AccessOptions) throws {
        do throws(AccessProblem) {
            try options.check()
        } catch {
            throw ValidationError("\(Diagnostic.describe(error)); \(Diagnostic.hint(error))")
        }
    }

    /// The library's options, after everything was read and asked for.
    ///
    /// To be called once, before any thread is started and signals are blocked: it may wait for
    /// somebody who types.
    ///
    /// - Throws: `ValidationError`.
    func read() throws -> AccessOptions {
        var options = options
        if let passwordFd {
            options.credentials?.password = try Secret.read(passwordFd, for: "--password-fd")
        } else if options.credentials?.password == nil, let user, !options.usesNetrc {
            options.credentials?.password = try Secret.ask("Password for \(user): ")
        }
        if let bearerFd { options.bearerToken = try Secret.read(bearerFd, for: "--bearer-fd") }
        if let clientKeyPasswordFd {
            options.clientKeyPassword = try Secret.read(
                clientKeyPasswordFd, for: "--client-key-password-fd")
        }
        try Self.check(options)
        return options
    }

    /// Takes secrets off the command line, where other processes could read them.
    ///
    /// - Parameters:
    ///   - headers: The values of `--header`.
    ///   - urls: URLs on the command line, whose passwords are secrets.
    func hideSecrets(headers: [String], urls: [String]) {
        for value in [user].compactMap({ $0 }) + headers {
            guard let colon = value.firstIndex(of: ":") else { continue }
            CommandLineSecrets.hide(in: value, value[value.index(after: colon)...])
        }
        if let cookieText { CommandLineSecrets.hide(in: cookieText, cookieText[...]) }
        for url in urls + [proxy].compactMap({ $0 }) {
            guard let mark = url.lastIndex(of: "@") else { continue }
            let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
            if start < mark { CommandLineSecrets.hide(in: url, url[start..<mark]) }
        }
    }
}
