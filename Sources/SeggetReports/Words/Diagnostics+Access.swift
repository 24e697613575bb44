package import Segmenter

// What is wrong with the options of access, in words that never show their values.
extension Diagnostic {
    /// What to do about an error of the network, by libcurl's text.
    static func hint(network text: String, _ again: String) -> String {
        if text.contains("wrong version number") {
            return "the server does not speak TLS at that port: check the scheme and the port"
        }
        if text.contains("alert protocol version") || text.contains("unsupported protocol")
            || text.contains("no protocols available")
        {
            return "the server offers no version of TLS that is accepted here (`--tls-min`)"
        }
        return "check the network and the host name, then \(again)"
    }

    /// Words why something is not fetched that must not come from a private address.
    init(_ denial: AddressDenial, url: String) {
        switch denial {
        case .privateAddress(let address):
            self.init(
                .refused, "address_denied",
                "\(url) leads to the private address \(Self.quote(address)), which is denied",
                hint: "add it with `segget add` on the machine itself, or start the service with "
                    + "`--deny-private no`")
        case .proxy:
            self.init(
                .refused, "address_denied",
                "\(url) is not fetched through a proxy: private addresses are denied, and only the "
                    + "proxy knows which address it connects to",
                hint: "do without the proxy that the task or the environment names, or start the "
                    + "service with `--deny-private no`")
        }
    }

    package static func describe(_ problem: AccessProblem) -> String {
        switch problem {
        case .unreadable(let part, let path, let code):
            "the file \(quote(path)) of \(quote(option(part))) cannot be read: "
                + describe(errno: code)
        case .malformed(let part):
            "the value of \(quote(option(part))) cannot be used"
        case .conflict(let one, let other):
            "\(quote(option(one))) and \(quote(option(other))) cannot be used together"
        case .incomplete(let part, let missing):
            "\(quote(option(part))) needs \(quote(option(missing)))"
        case .unusable(.interface):
            "no connection can go out from what \(quote(option(.interface))) names"
        case .unusable(.clientCertificate):
            "the client's certificate or its key cannot be used"
        case .unusable(let part):
            "what \(quote(option(part))) gives cannot be used"
        }
    }

    package static func hint(_ problem: AccessProblem) -> String {
        switch problem {
        case .unreadable: "check the name and the permissions of the file"
        case .malformed(let part): form(part)
        case .conflict: "give one of them"
        case .incomplete(_, let missing): "give \(quote(option(missing))) too"
        case .unusable(.interface):
            "give the name of an interface that is up, or an address of this machine"
        case .unusable(.clientCertificate):
            "give `--client-certificate` and `--client-key` PEM files that belong together, and a "
                + "password for an encrypted key with `--client-key-password-fd`"
        case .unusable(let part): form(part)
        }
    }

    static func hint(proxyRefused code: Int?) -> String {
        code == 403
            ? "the proxy does not let this address pass: ask whoever runs it"
            : "give the right credentials in the URL of the proxy, `SCHEME://USER:PASS@HOST:PORT`"
    }

    static func hint(untrusted problem: String) -> String {
        problem.contains("pinned")
            ? "the server has another key than `--pinned-public-key` names: do not go on before you "
                + "know why"
            : "if its authority is yours, name its file with `--ca-certificate`"
    }

    /// What a value must look like.
    private static func form(_ part: AccessProblem.Part) -> String {
        switch part {
        case .credentials:
            "give `USER:PASS`, or `USER` and the password with `--password-fd`, without line breaks"
        case .bearerToken: "a token is not empty, and has no spaces or line breaks within"
        case .cookies:
            "give cookies as `name=value; name=value`; `--cookie` takes a file with cookies"
        case .proxy:
            "give the proxy as `SCHEME://HOST:PORT`; schemes are http, https, socks4, socks4a, "
                + "socks5 and socks5h"
        case .resolve: "give an address as `HOST:PORT:ADDRESS`"
        case .pinnedPublicKey:
            "give a key as `sha256//BASE64`, or the name of a PEM file with a public key"
        default: "give a text without line breaks and control characters"
        }
    }

    /// The command-line option.
    private static func option(_ part: AccessProblem.Part) -> String {
        switch part {
        case .credentials: "--user"
        case .netrcFile: "--netrc"
        case .bearerToken: "--bearer-fd"
        case .cookieFile: "--cookie"
        case .cookies: "--cookie-text"
        case .userAgent: "--user-agent"
        case .referer: "--referer"
        case .proxy: "--proxy"
        case .noProxy: "--no-proxy"
        case .interface: "--interface"
        case .resolve: "--resolve"
        case .pinnedPublicKey: "--pinned-public-key"
        case .clientCertificate: "--client-certificate"
        case .clientKey: "--client-key"
        case .clientKeyPassword: "--client-key-password-fd"
        }
    }
}
