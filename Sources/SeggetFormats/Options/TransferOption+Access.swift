import Segmenter

extension TransferOption {
    /// The options for credentials, cookies, proxies, addresses and TLS.
    static let access: [TransferOption] = [
        TransferOption(
            "access.credentials", .credentials,
            [
                .own(
                    "user",
                    help:
                        "User and password for the server; without `:PASS`, segget asks for the password."
                ),
                .typed(
                    "password-fd", .part,
                    help: "Read the password for `--user` from this descriptor."),
                .aria2(
                    "http-user",
                    .other(
                        .text("a user, without a colon"),
                        read: { options, text in
                            guard !text.isEmpty else { return false }
                            return change(&options) {
                                $0.access.credentials = .init(user: text, password: nil)
                            }
                        },
                        texts: { $0.access.credentials.map { [$0.user] } ?? [] })),
                .aria2(
                    "http-passwd",
                    .other(
                        .text("a password"),
                        read: { options, text in
                            guard !text.isEmpty else { return false }
                            return change(&options) {
                                let user = $0.access.credentials?.user ?? ""
                                $0.access.credentials = .init(user: user, password: text)
                            }
                        },
                        texts: { $0.access.credentials?.password.map { [$0] } ?? [] })),
            ], .all, isSecret: true,
            help: "User and password for the server.",
            read: { options, text in
                guard !text.isEmpty else { return false }
                return change(&options) { $0.access.credentials = .init(text: text) }
            },
            texts: { $0.access.credentials.map { [$0.text] } ?? [] }),
        .choice(
            "access.scheme",
            [("auto", AccessOptions.Scheme.automatic), ("basic", .basic), ("digest", .digest)],
            \.access.scheme, [.own("auth")], [.own, .tcp],
            help: "How to send credentials: `basic`, `digest` or `auto`."),
        .flag(
            "access.uses_netrc", \.access.usesNetrc, [.typed("netrc")],
            [.configuration, .socket],
            help: "Look up credentials in ~/.netrc, by host."),
        .file(
            "access.netrc_file", \.access.netrcFile, [.typed("netrc-file")],
            [.configuration, .socket],
            help: "Look up credentials in this file."),
        .text(
            "access.bearer_token", "a token", \.access.bearerToken,
            [
                .typed(
                    "bearer-fd", .part,
                    help: "Send the token from this descriptor as `Authorization: Bearer`.")
            ], [.configuration, .socket, .tcp],
            isSecret: true,
            help: "Send this token as `Authorization: Bearer`."),
        .file(
            "access.cookie_file", \.access.cookieFile, [.own("cookie"), .aria2("load-cookies")],
            .own,
            help: "Send the cookies of this file, in Netscape's format, to their hosts."),
        .flag(
            "access.keeps_cookies", \.access.keepsCookies,
            [.own("no-cookies", .opposite, help: "Forget the cookies that servers set.")],
            [.own, .tcp],
            help: "Keep the cookies that servers set, for the requests that follow."),
        .text(
            "access.cookies", "cookies, as `NAME=VALUE; NAME=VALUE`", \.access.cookies,
            [.own("cookie-text")], [.own, .tcp], isSecret: true,
            help: "Send these cookies."),
        .text(
            "access.user_agent", "a name", \.access.userAgent,
            [.everywhere("user-agent")], .all, canBeEmpty: true,
            help: "Set the `User-Agent` header; empty sends none."),
        .text(
            "access.referer", "a URL", \.access.referer, [.everywhere("referer")], .all,
            help: "Set the `Referer` header."),
        .text(
            "access.proxy", "the URL of a proxy", \.access.proxy,
            [.own("proxy"), .list("all-proxy"), .onlyAria2("all-proxy", .filled(\.access.proxy))],
            .all, isSecret: true, canBeEmpty: true,
            help: "Connect through this proxy: http, https, socks4, socks4a, socks5 or socks5h."),
        .text(
            "access.no_proxy", "hosts, separated by commas", \.access.noProxy,
            [.own("no-proxy"), .onlyAria2("no-proxy", .filled(\.access.noProxy))], .all,
            canBeEmpty: true,
            help: "Connect to these hosts without a proxy, separated by commas; `*` is all."),
        .choice(
            "access.address_family",
            [("any", AccessOptions.AddressFamily.any), ("ipv4", .ipv4), ("ipv6", .ipv6)],
            \.access.addressFamily,
            [
                .typed("ipv4", .family(.ipv4), help: "Use IPv4 addresses only."),
                .typed("ipv6", .family(.ipv6), help: "Use IPv6 addresses only."),
            ],
            [.configuration, .socket, .tcp],
            help: "Use IPv4 or IPv6 addresses only."),
        .integer(
            "access.max_redirects", 0...100, \.access.maxRedirects, [.own("max-redirs")],
            [.own, .tcp],
            help: "Most redirects to follow before a download fails."),
        .text(
            "access.interface", "the name or address of an interface", \.access.interface,
            [.typed("interface"), .onlyAria2("interface")],
            [.configuration, .socket],
            help: "Connect from this interface or address."),
        TransferOption(
            "access.resolve", .texts("HOST:PORT:ADDRESS[,ADDRESS]"), [.typed("resolve")],
            [.configuration, .socket],
            help: "Use these addresses for this host and port; repeatable.",
            read: { options, text in
                change(&options) { $0.access.resolve.append(text) }
            },
            texts: \.access.resolve),
        .hidden(
            "access.denies_private", .flag, [.socket, .tcp],
            help: "Refuse servers with private addresses."),
        .flag(
            "access.is_insecure", \.access.isInsecure,
            [.own("insecure"), .aria2("check-certificate", .opposite)], .own,
            help: "Accept any certificate: anyone can then impersonate the server."),
        .text(
            "access.pinned_public_key", "`sha256//BASE64`, or the path of a PEM file",
            \.access.pinnedPublicKey, [.own("pinned-public-key")], .own,
            help: "Accept only a server with this public key."),
        .file(
            "access.client_certificate", \.access.clientCertificate,
            [.own("client-certificate"), .aria2("certificate")], .own,
            help: "Certificate to send to the server: a PEM file, or PKCS #12 (.p12, .pfx)."),
        .file(
            "access.client_key", \.access.clientKey, [.own("client-key"), .aria2("private-key")],
            .own,
            help: "PEM file with the key of the certificate, unless it is in the same file."),
        .text(
            "access.client_key_password", "a password", \.access.clientKeyPassword,
            [
                .typed(
                    "client-key-password-fd", .part,
                    help: "Read the password of the client's key from this descriptor.")
            ], [.configuration, .socket],
            isSecret: true,
            help: "The password of the client's key."),
        .choice(
            "access.minimum_tls", [("1.2", AccessOptions.TLSVersion.tls12), ("1.3", .tls13)],
            \.access.minimumTLS, [.own("tls-min")], [.own, .tcp],
            help: "Lowest version of TLS to accept."),
        .flag(
            "access.allows_downgrade", \.access.allowsDowngrade, [.own("allow-downgrade")], .own,
            help: "Also follow redirects from https to http."),
        .flag(
            "access.crosses_origins", \.access.crossesOrigins, [.own("header-cross-origin")],
            .own,
            help: "Also send headers, credentials, cookies and referer to other origins."),
    ]
}

extension OptionName.Meaning {
    /// A flag for one address family.
    fileprivate static func family(_ family: AccessOptions.AddressFamily) -> Self {
        .other(
            .flag,
            read: { options, text in
                guard let isOn = Bool(text) else { return false }
                options.access.addressFamily = isOn ? family : .any
                return true
            },
            texts: { ["\($0.access.addressFamily == family)"] })
    }

    /// A text that is shown only if it is not empty, as in aria2.
    fileprivate static func filled(
        _ path: @escaping @autoclosure @Sendable () -> TransferOption.Path<String?>
    ) -> Self {
        .other(
            .text("a text"),
            read: { options, text in
                options[keyPath: path()] = text
                return true
            },
            texts: { $0[keyPath: path()].flatMap { $0.isEmpty ? nil : [$0] } ?? [] })
    }
}
