package import ArgumentParser
import SeggetFormats
package import Segmenter

/// The options that say who asks.
package struct CredentialArguments: ParsableArguments {
    /// How credentials are shown.
    package enum AuthenticationScheme: String, CaseIterable, ExpressibleByArgument {
        case auto, basic, digest
    }

    @Option(
        name: .shortAndLong,
        help: .row(
            "user",
            discussion: """
                Other users of this machine may see a password on a command line for a moment: \
                `--password-fd` and `--netrc` are safer.
                """,
            valueName: "user[:pass]"))
    package var user: String?

    @Option(
        help: .row("password-fd", valueName: "n"))
    package var passwordFd: Int32?

    @Option(
        help: .row("auth", valueName: "scheme"))
    package var auth = AuthenticationScheme.auto

    @Flag(help: .row("netrc"))
    package var netrc = false

    @Option(
        help: .row("netrc-file", valueName: "file"),
        transform: PathArgument.file)
    package var netrcFile: String?

    @Option(
        help: .row("bearer-fd", valueName: "n"))
    package var bearerFd: Int32?

    @Option(
        help: .row("cookie", valueName: "file"),
        transform: PathArgument.file)
    package var cookie: String?

    @Option(
        name: [.customShort("b"), .long],
        help: .row("cookie-text", valueName: "k=v; k=v"))
    package var cookieText: String?

    @Flag(
        help: .row(
            "no-cookies",
            discussion: """
                They are kept in memory otherwise, for the files of the run that ask with the same user, \
                headers and cookies, and sent where they are for.
                """))
    package var noCookies = false

    @Option(
        name: [.customShort("A"), .long],
        help: .row("user-agent", valueName: "name"))
    package var userAgent: String?

    @Option(help: .row("referer", valueName: "url"))
    package var referer: String?

    @Flag(
        help: .row(
            "header-cross-origin",
            discussion: """
                Where redirects lead, and to mirrors: whoever answers there learns them. Without it \
                they go to the scheme, host and port of the URL only, but for `User-Agent`, `Accept`, \
                `Accept-Language` and the like, and the origin of the referer. Never behind a redirect from \
                https to http, and never the client's certificate.
                """))
    package var headerCrossOrigin = false

    package init() {}

    /// Puts what was given into the library's options, without what comes from descriptors.
    func apply(to options: inout AccessOptions) {
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
        options.keepsCookies = !noCookies
        options.cookies = cookieText
        options.userAgent = userAgent
        options.referer = referer
        options.crossesOrigins = headerCrossOrigin
    }
}

/// The option to log in by Kerberos: for commands that ask the server themselves, because the queue's worker may have
/// other tickets.
package struct NegotiateOption: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Log in by Kerberos (Negotiate), with the ticket that `kinit` got.",
            discussion: """
                At the origin of the URL only: neither where redirects lead nor at mirrors, and not for the files of \
                a list. On the command line or in the configuration file.
                """))
    package var negotiate = false

    package init() {}

    package func validate() throws {
        guard !negotiate || CURLVersion.features.contains("SPNEGO") else {
            throw ValidationError(
                "`--negotiate` needs a libcurl with GSS-API, and this one has none")
        }
    }

    /// Puts it into the library's options.
    ///
    /// - Throws: `ValidationError`, where another way to log in is given, too.
    package func apply(to access: inout AccessOptions) throws {
        guard negotiate else { return }
        guard access.credentials == nil, access.bearerToken == nil, !access.usesNetrc else {
            throw ValidationError(
                "`--negotiate` cannot be used together with `--user`, `--bearer-fd` or `--netrc`")
        }
        access.negotiates = true
    }
}

/// The options about the way to the server.
package struct RouteArguments: ParsableArguments {
    @Option(
        help: .row(
            "proxy",
            discussion: """
                socks5h and socks4a have the proxy resolve names. Without this option http_proxy, \
                https_proxy, all_proxy and no_proxy of the environment hold; an empty URL is no proxy.
                """,
            valueName: "url"))
    package var proxy: String?

    @Option(
        help: .row("no-proxy", valueName: "hosts"))
    package var noProxy: String?

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: .row("ipv4"))
    package var ipv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: .row("ipv6"))
    package var ipv6 = false

    @Option(
        help: .row("interface", valueName: "name"))
    package var interface: String?

    @Option(
        help: .row("resolve", valueName: "host:port:addr[,addr]"))
    package var resolve: [String] = []

    @Option(help: .row("max-redirs", valueName: "n"))
    package var maxRedirs = AccessOptions().maxRedirects

    package init() {}

    package func validate() throws { try TransferOption.check("max-redirs", maxRedirs) }

    /// Puts what was given into the library's options.
    func apply(to options: inout AccessOptions) {
        options.proxy = proxy
        options.noProxy = noProxy
        options.addressFamily = ipv4 ? .ipv4 : ipv6 ? .ipv6 : .any
        options.interface = interface
        options.resolve = resolve
        options.maxRedirects = maxRedirs
    }
}

/// The options about what TLS has to prove.
package struct TLSArguments: ParsableArguments {
    /// The lowest version of TLS.
    package enum TLSVersion: String, CaseIterable, ExpressibleByArgument {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    @Flag(help: .row("insecure"))
    package var insecure = false

    @Flag(
        help: .row(
            "allow-downgrade",
            discussion: """
                Anybody on the way can then read and change the file; give `--checksum`. Headers and \
                credentials stay behind all the same, `.netrc` included.
                """))
    package var allowDowngrade = false

    @Option(
        help: .row("pinned-public-key", valueName: "key"),
        transform: PathArgument.file)
    package var pinnedPublicKey: String?

    @Option(
        help: .row("client-certificate", valueName: "file"),
        transform: PathArgument.file)
    package var clientCertificate: String?

    @Option(
        help: .row("client-key", valueName: "file"),
        transform: PathArgument.file)
    package var clientKey: String?

    @Option(
        help: .row("client-key-password-fd", valueName: "n"))
    package var clientKeyPasswordFd: Int32?

    @Option(help: .row("tls-min", valueName: "v"))
    package var tlsMin = TLSVersion.tls12

    package init() {}

    /// Puts what was given into the library's options, without what comes from descriptors.
    func apply(to options: inout AccessOptions) {
        options.isInsecure = insecure
        options.pinnedPublicKey = pinnedPublicKey
        options.clientCertificate = clientCertificate
        options.clientKey = clientKey
        options.minimumTLS = tlsMin == .tls13 ? .tls13 : .tls12
        options.allowsDowngrade = allowDowngrade
    }
}

/// The option to save cookies: for the command line only.
package struct CookieJarOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Save the cookies in this file when all has ended, readable by you only.",
            discussion: """
                In Netscape's format, those that servers have set and those of `--cookie`, as curl has them. `--cookie` \
                with the same file has a later run begin with them. For the command line only; files of a list with a \
                user, headers or cookies of their own are left out.
                """,
            valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    package var cookieJar: String?

    package init() {}
}
