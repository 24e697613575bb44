package import ArgumentParser
import SeggetFormats
package import Segmenter
import SegmenterTransport

/// The options for authentication and for what identifies the client.
package struct CredentialArguments: ParsableArguments {
    /// The authentication scheme of HTTP.
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
                By default, segget keeps them in memory for their hosts, and shares them between files of the \
                run that have the same user, headers and cookies.
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
                Targets of redirects and mirrors then receive them. By default, only the scheme, host and port \
                of the URL do, except for harmless headers such as `User-Agent` and `Accept`, and the origin of \
                the referer. They are never sent after a redirect from https to http. The client's certificate \
                stays at its origin.
                """))
    package var headerCrossOrigin = false

    package init() {}

    /// Sets the library's options, except secrets from descriptors.
    func apply(to options: inout AccessOptions) {
        if let user { options.credentials = .init(text: user) }
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

/// The option for Kerberos, for commands that send the requests themselves.
///
/// The queue's worker has no such option, because it may have other tickets.
package struct NegotiateOption: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Authenticate by Kerberos (Negotiate), with the ticket from `kinit`.",
            discussion: """
                Applies to the origin of the URL only, not to targets of redirects at other origins, mirrors or the \
                files of a list. Can be set on the command line or in the configuration file.
                """))
    package var negotiate = false

    package init() {}

    package func validate() throws {
        guard !negotiate || CURLVersion.features.contains("SPNEGO") else {
            throw ValidationError(
                "`--negotiate` needs a libcurl with GSS-API, and this one has none")
        }
    }

    /// Sets the library's option.
    ///
    /// - Throws: `ValidationError`, if another way to authenticate is given too.
    package func apply(to access: inout AccessOptions) throws {
        guard negotiate else { return }
        guard access.credentials == nil, access.bearerToken == nil, !access.usesNetrc else {
            throw ValidationError(
                "`--negotiate` cannot be used together with `--user`, `--bearer-fd` or `--netrc`")
        }
        access.negotiates = true
    }
}

/// The options for proxies, addresses and redirects.
package struct RouteArguments: ParsableArguments {
    @Option(
        help: .row(
            "proxy",
            discussion: """
                With socks5h and socks4a, the proxy resolves host names. By default, the environment \
                variables http_proxy, https_proxy, all_proxy and no_proxy apply; an empty URL disables them.
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

    /// Sets the library's options.
    func apply(to options: inout AccessOptions) {
        options.proxy = proxy
        options.noProxy = noProxy
        options.addressFamily = ipv4 ? .ipv4 : ipv6 ? .ipv6 : .any
        options.interface = interface
        options.resolve = resolve
        options.maxRedirects = maxRedirs
    }
}

/// The options for TLS.
package struct TLSArguments: ParsableArguments {
    /// The minimum version of TLS.
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
                Anyone on the network path can then read and change the file; use `--checksum`. Headers and \
                credentials, `.netrc` included, are still not sent.
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

    /// Sets the library's options, except secrets from descriptors.
    func apply(to options: inout AccessOptions) {
        options.isInsecure = insecure
        options.pinnedPublicKey = pinnedPublicKey
        options.clientCertificate = clientCertificate
        options.clientKey = clientKey
        options.minimumTLS = tlsMin == .tls13 ? .tls13 : .tls12
        options.allowsDowngrade = allowDowngrade
    }
}

/// The option to save cookies, which only the command line accepts.
package struct CookieJarOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Save the cookies to this file at the end, readable only by you.",
            discussion: """
                The file has the Netscape format, like curl's, and contains the cookies of servers and of `--cookie`. \
                To load it in a later run, use `--cookie`. Available on the command line only. Cookies of list files \
                that have their own user, headers or cookies are not saved.
                """,
            valueName: "file"),
        completion: .file(), transform: PathArgument.file)
    package var cookieJar: String?

    package init() {}
}
