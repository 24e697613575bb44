import Glibc
package import Segmenter

// Messages and hints about access options. They never contain the values of these options.
extension Diagnostic {
    /// Returns the hint for a network error, chosen by libcurl's message.
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

    /// Creates the message for a URL that leads to a denied private address.
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
                "\(url) is not downloaded through a proxy: private addresses are denied, and only "
                    + "the proxy knows which address it connects to",
                hint: "unset the proxy of the task or the environment, or start the "
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
            "cannot connect from the interface or address of \(quote(option(.interface)))"
        case .unusable(.clientCertificate):
            "the client's certificate or its key cannot be used"
        case .unusable(let part):
            "the value of \(quote(option(part))) cannot be used"
        }
    }

    package static func hint(_ problem: AccessProblem) -> String {
        switch problem {
        case .unreadable: "check the name and the permissions of the file"
        case .malformed(let part): form(part)
        case .conflict: "give one of them"
        case .incomplete(_, let missing): "also give \(quote(option(missing)))"
        case .unusable(.interface):
            "give the name of an interface that is up, or an address of this machine"
        case .unusable(.clientCertificate):
            "give `--client-certificate` and `--client-key` PEM files that belong together, and a "
                + "password for an encrypted key with `--client-key-password-fd`"
        case .unusable(let part): form(part)
        }
    }

    /// Returns the hint for a proxy error, chosen by libcurl's message.
    static func hint(proxy text: String) -> String {
        if ["wrong version number", "http request", "packet length too long", "SSL_ERROR_SYSCALL"]
            .contains(where: text.contains)
        {
            return
                "the proxy does not speak TLS: give it as `http://HOST:PORT`, with `--proxy` or as "
                + "`https_proxy=http://HOST:PORT` in the environment"
        }
        return "check the proxy that `--proxy` or the environment names"
    }

    /// Creates the message for a missing or unreadable file of trusted certificates.
    ///
    /// `variable` is the environment variable that names the file; `nil` for the default file.
    init(noCertificates path: String, _ variable: String?) {
        let file = Self.quote(path)
        if let variable {
            self.init(
                .usage, "certificate_file",
                "the certificate file \(file), which \(Self.quote(variable)) names, cannot be used",
                hint: "correct or unset the environment variable \(Self.quote(variable))")
        } else {
            self.init(
                .usage, "certificate_file",
                "this machine has no certificates to trust: \(file) is missing or cannot be used",
                hint: "install the package `ca-certificates`, or name another file with "
                    + "`--ca-certificate` or `SSL_CERT_FILE`")
        }
    }

    /// Creates the message for a server that accepts only login methods that segget did not try.
    init(unusableSchemes schemes: [String], url: String) {
        let names = schemes.joined(separator: " and ")
        self.init(
            .refused, "auth_scheme",
            "the server of \(url) accepts \(names) logins only: a user and password do not help",
            hint: schemes.contains("Negotiate")
                ? "get a Kerberos ticket with `kinit`, and give `--negotiate`"
                : "segget does not support \(names): ask for another login method, or use `curl --ntlm`"
        )
    }

    /// Returns the end of a sentence that names the characters that the file system may not allow.
    ///
    /// Returns an empty string if there are none, or if the error is not EINVAL.
    ///
    /// exFAT, FAT, NTFS and SMB refuse these characters, mostly with EINVAL.
    static func forbiddenCharacters(in path: String, _ code: Int32) -> String {
        guard code == EINVAL else { return "" }
        let name = path.split(separator: "/").last ?? ""
        var found: [String] = []
        for character in name where "\"*:<>?\\|".contains(character) {
            let quoted = quote(String(character))
            if !found.contains(quoted) { found.append(quoted) }
        }
        guard !found.isEmpty else { return "" }
        return "; the file system may not allow \(found.joined(separator: " or ")) in names"
    }

    static func hint(proxyRefused code: Int?) -> String {
        code == 403
            ? "the proxy blocks this address: ask its administrator"
            : "give the right credentials in the URL of the proxy, `SCHEME://USER:PASS@HOST:PORT`"
    }

    static func hint(untrusted problem: String) -> String {
        if ["has expired", "not yet valid"].contains(where: problem.contains) {
            return
                "check the clock of this machine (`date`): if it is right, the server's certificate has "
                + "the wrong dates, and the server's administrator has to renew it"
        }
        return problem.contains("pinned")
            ? "the server's key differs from `--pinned-public-key`: find out why before you continue"
            : "if you trust its authority, give the authority's certificate with `--ca-certificate`"
    }

    /// Returns the hint that describes the form of a value.
    private static func form(_ part: AccessProblem.Part) -> String {
        switch part {
        case .credentials:
            "give `USER:PASS`, or `USER` and the password with `--password-fd`, without line breaks"
        case .bearerToken: "give a token that is not empty and has no spaces or line breaks"
        case .cookies:
            "give cookies as `name=value; name=value`; `--cookie` takes a file with cookies"
        case .proxy:
            "give the proxy as `SCHEME://HOST:PORT`; schemes are http, https, socks4, socks4a, "
                + "socks5 and socks5h"
        case .resolve: "give an address as `HOST:PORT:ADDRESS`"
        case .pinnedPublicKey:
            "give a key as `sha256//BASE64`, or the name of a PEM file with a public key"
        default: "give a text without line breaks or control characters"
        }
    }

    /// Returns the name of the command-line option.
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
