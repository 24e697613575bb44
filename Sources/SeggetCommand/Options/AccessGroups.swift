package import ArgumentParser
package import Segmenter

/// The options that say who asks.
package struct CredentialArguments: ParsableArguments {
    /// How credentials are shown.
    package enum AuthenticationScheme: String, CaseIterable, ExpressibleByArgument {
        case auto, basic, digest
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
    package var user: String?

    @Option(
        help: ArgumentHelp(
            "Read the password for `--user` from this descriptor.", valueName: "n"))
    package var passwordFd: Int32?

    @Option(
        help: ArgumentHelp(
            "How credentials are shown: basic, digest, or auto, which is digest where only that is "
                + "asked for.", valueName: "scheme"))
    package var auth = AuthenticationScheme.auto

    @Flag(help: "Look credentials up in ~/.netrc, by host.")
    package var netrc = false

    @Option(
        help: ArgumentHelp("Look credentials up in this file.", valueName: "file"),
        transform: PathArgument.file)
    package var netrcFile: String?

    @Option(
        help: ArgumentHelp(
            "Send the token that this descriptor gives, as `Authorization: Bearer`.",
            valueName: "n"))
    package var bearerFd: Int32?

    @Option(
        help: ArgumentHelp(
            "Send the cookies of this file, in Netscape's format, to their hosts.",
            valueName: "file"),
        transform: PathArgument.file)
    package var cookie: String?

    @Option(
        name: [.customShort("b"), .long],
        help: ArgumentHelp("Send these cookies.", valueName: "k=v; k=v"))
    package var cookieText: String?

    @Flag(
        help: ArgumentHelp(
            "Forget the cookies that servers set.",
            discussion: """
                They are kept in memory otherwise, for the files of the run that ask with the same user, \
                headers and cookies, and sent where they are for.
                """))
    package var noCookies = false

    @Option(
        name: [.customShort("A"), .long],
        help: ArgumentHelp("Call this program so; empty for nothing.", valueName: "name"))
    package var userAgent: String?

    @Option(help: ArgumentHelp("Send this as `Referer`.", valueName: "url"))
    package var referer: String?

    @Flag(
        help: ArgumentHelp(
            "Send headers, credentials, cookies and referer to other origins too.",
            discussion: """
                Where redirects lead, and to mirrors: whoever answers there learns them. Without it \
                they go to the scheme, host and port of the URL only, but for `User-Agent`, `Accept`, \
                `Accept-Language` and the like, and the origin of the referer. Never behind a redirect from \
                https to http, and never the client's certificate.
                """))
    package var headerCrossOrigin = false

    package init() {}
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
        help: ArgumentHelp(
            "Go through this proxy: http, https, socks4, socks4a, socks5 or socks5h.",
            discussion: """
                socks5h and socks4a have the proxy resolve names. Without this option http_proxy, \
                https_proxy, all_proxy and no_proxy of the environment hold; an empty URL is no proxy.
                """,
            valueName: "url"))
    package var proxy: String?

    @Option(
        help: ArgumentHelp(
            "Reach these hosts without a proxy, separated by commas; `*` is all.",
            valueName: "hosts"))
    package var noProxy: String?

    @Flag(name: [.customShort("4"), .customLong("ipv4")], help: "Use IPv4 addresses only.")
    package var ipv4 = false

    @Flag(name: [.customShort("6"), .customLong("ipv6")], help: "Use IPv6 addresses only.")
    package var ipv6 = false

    @Option(
        help: ArgumentHelp(
            "Have connections go out from this interface or address.", valueName: "name"))
    package var interface: String?

    @Option(
        help: ArgumentHelp(
            "Use these addresses for this host and port; repeatable.",
            valueName: "host:port:addr[,addr]"))
    package var resolve: [String] = []

    package init() {}
}

/// The options about what TLS has to prove.
package struct TLSArguments: ParsableArguments {
    /// The lowest version of TLS.
    package enum TLSVersion: String, CaseIterable, ExpressibleByArgument {
        case tls12 = "1.2"
        case tls13 = "1.3"
    }

    @Flag(help: "Believe every certificate. Nobody knows then who answers, or who listens.")
    package var insecure = false

    @Flag(
        help: ArgumentHelp(
            "Follow redirects from https to http too.",
            discussion: """
                Anybody on the way can then read and change the file; give `--checksum`. Headers and \
                credentials stay behind all the same, `.netrc` included.
                """))
    package var allowDowngrade = false

    @Option(
        help: ArgumentHelp(
            "Accept a server with this public key only: `sha256//BASE64[;…]`, or a PEM file.",
            valueName: "key"),
        transform: PathArgument.file)
    package var pinnedPublicKey: String?

    @Option(
        help: ArgumentHelp(
            "Certificate to show to the server: a PEM file, or PKCS #12 (.p12, .pfx).",
            valueName: "file"),
        transform: PathArgument.file)
    package var clientCertificate: String?

    @Option(
        help: ArgumentHelp(
            "PEM file with its key, unless it is in the same file.", valueName: "file"),
        transform: PathArgument.file)
    package var clientKey: String?

    @Option(
        help: ArgumentHelp(
            "Read the password of the client's key from this descriptor.", valueName: "n"))
    package var clientKeyPasswordFd: Int32?

    @Option(help: ArgumentHelp("Lowest version of TLS to accept: 1.2 or 1.3.", valueName: "v"))
    package var tlsMin = TLSVersion.tls12

    package init() {}
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
