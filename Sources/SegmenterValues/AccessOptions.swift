/// Options for access to a server: credentials, cookies, proxies, TLS and addresses.
///
/// Credentials, the bearer token, cookies given as text, the client certificate and
/// `DownloadOptions.headers` are sent to the origin of the URL only (scheme, host and port). They
/// are not sent to other origins, neither after a redirect nor for mirrors, unless
/// ``crossesOrigins`` is set. The client certificate is never sent to another origin.
///
/// Two kinds of headers are exceptions. Headers that state preferences for the response
/// (`User-Agent`, `Accept`, `Accept-Language`) are sent to every origin. Of the referer, other
/// origins receive its origin. A netrc file and cookies define their own hosts.
public struct AccessOptions: Sendable, Hashable {
    /// A user and a password.
    public struct Credentials: Sendable, Hashable {
        /// The user; must not contain a colon (RFC 7617 §2).
        public var user: String
        /// The password; `nil` if only a netrc file can supply it.
        public var password: String?
        /// Values that a newer version stored and that this version does not know.
        var unknown: [String: CodedValue] = [:]

        /// Creates credentials.
        public init(user: String, password: String?) {
            self.user = user
            self.password = password
        }

        /// The credentials as `USER` or `USER:PASS`.
        package var text: String { user + (password.map { ":\($0)" } ?? "") }

        /// Creates the credentials of `USER` or `USER:PASS`; the user ends at the first colon
        /// (RFC 7617 §2).
        package init(text: String) {
            let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            self.init(user: String(parts[0]), password: parts.count > 1 ? String(parts[1]) : nil)
        }
    }

    /// The authentication scheme for a server or a proxy.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Scheme: String, Sendable, Hashable, Codable {
        /// Basic with the first request; digest if the server accepts only digest.
        case automatic
        /// Basic only (RFC 7617).
        case basic
        /// Digest only (RFC 7616): the password itself is never sent.
        case digest
    }

    /// The address family to connect to.
    public enum AddressFamily: String, Sendable, Hashable, Codable {
        /// IPv4 and IPv6.
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// A version of TLS.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum TLSVersion: String, Sendable, Hashable, Codable {
        /// TLS 1.2 (RFC 5246).
        case tls12 = "1.2"
        /// TLS 1.3 (RFC 8446).
        case tls13 = "1.3"
    }

    /// The user and password for the server; they take precedence over those in the URL.
    public var credentials: Credentials?
    /// The authentication scheme for ``credentials``.
    public var scheme = Scheme.automatic
    /// Whether to authenticate by Kerberos (Negotiate, RFC 4559) with the ticket of the process.
    ///
    /// The ticket is used at the origin of the URL only, even if ``crossesOrigins`` is set. This
    /// option is never stored, because the process that runs stored options may have another user's
    /// ticket. libcurl contacts the key distribution center itself, and needs GSS-API for that.
    public var negotiates = false
    /// Whether to look up missing credentials in a netrc file, by host.
    public var usesNetrc = false
    /// The netrc file; `nil` for `~/.netrc`.
    public var netrcFile: String?
    /// A token for `Authorization: Bearer` (RFC 6750).
    public var bearerToken: String?
    /// A file of cookies in Netscape's format; each cookie is sent to the hosts that its line
    /// names.
    ///
    /// The file is never written.
    public var cookieFile: String?
    /// Whether to keep the cookies that servers set, in memory.
    ///
    /// segget sends them as RFC 6265 requires, until the download or the batch ends. The files of a
    /// batch share cookies if these options, apart from ``referer``, and `DownloadOptions.headers`
    /// are equal. Mirrors have separate cookies. Cookies that were set over https are not sent over
    /// http.
    public var keepsCookies = true
    /// Cookies as `name=value; name=value`.
    public var cookies: String?
    /// The `User-Agent` field; empty sends none, `nil` sends segget's.
    public var userAgent: String?
    /// The `Referer` field; other origins receive only its origin, and nothing from https to http.
    public var referer: String?
    /// The URL of the proxy: http, https, socks4, socks4a, socks5 or socks5h; empty for none.
    ///
    /// `nil` uses the environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
    public var proxy: String?
    /// The hosts to reach without a proxy, separated by commas; `*` for all.
    ///
    /// `nil` uses `no_proxy` of the environment. See `CURLOPT_NOPROXY`.
    public var noProxy: String?
    /// The address family to connect to.
    public var addressFamily = AddressFamily.any
    /// The most redirects to follow before the download fails, 0 or more.
    public var maxRedirects = 20
    /// The interface, address or host name from which to connect.
    ///
    /// See `CURLOPT_INTERFACE`.
    public var interface: String?
    /// Addresses of hosts, each as `HOST:PORT:ADDRESS[,ADDRESS]`.
    ///
    /// All later requests of the session use these addresses. See `CURLOPT_RESOLVE`.
    public var resolve: [String] = []
    /// Whether to refuse private addresses.
    ///
    /// Private addresses are those of this machine and of networks outside the internet (RFC 1918,
    /// RFC 6598, link-local, unique local), and their forms in IPv6. The check applies to the
    /// address of each connection, so it includes redirects, mirrors and refreshed links. The
    /// address to which a proxy connects is unknown. Therefore a download that may use a proxy
    /// fails without a request. The error is ``DownloadError/Reason/addressDenied(_:)``.
    public var deniesPrivate = false
    /// Whether to accept any certificate; another server can then answer in the server's place.
    public var isInsecure = false
    /// The required public key: `sha256//BASE64`, several separated by `;`, or the path of a file.
    ///
    /// Every server must have this key, also after a redirect. See `CURLOPT_PINNEDPUBLICKEY`.
    public var pinnedPublicKey: String?
    /// A file with the client's certificate: PKCS #12 if its name ends in `.p12` or `.pfx`, else
    /// PEM.
    public var clientCertificate: String?
    /// A PEM file with the client's key, unless the file of the certificate contains it.
    public var clientKey: String?
    /// The password of the client's key.
    public var clientKeyPassword: String?
    /// The lowest version of TLS to accept.
    public var minimumTLS = TLSVersion.tls12

    /// Whether to follow redirects from https to http; the origin of the file is then not
    /// authenticated.
    ///
    /// After such a redirect, requests carry only the headers for other origins, and no credentials
    /// from a netrc file, even if ``crossesOrigins`` is set. The exception is a redirect back to
    /// the origin of the URL.
    public var allowsDowngrade = false
    /// Whether to send credentials and headers to other origins too, after redirects and to
    /// mirrors.
    ///
    /// This includes the bearer token, cookies given as text, the referer and
    /// `DownloadOptions.headers`. The client certificate is still sent to the origin of the URL
    /// only.
    public var crossesOrigins = false

    /// Options that a newer version stored and that this version does not know.
    var unknown: [String: CodedValue] = [:]

    /// Creates the default options.
    public init() {}

    /// These options without the values that the caller intended for one server.
    package var forOtherOrigins: AccessOptions {
        var access = self
        access.credentials = nil
        access.bearerToken = nil
        access.cookies = nil
        access.referer = nil
        return access.withoutClientCertificate
    }

    /// These options without the client certificate and Kerberos, which no other origin may
    /// receive.
    package var withoutClientCertificate: AccessOptions {
        var access = self
        access.clientCertificate = nil
        access.clientKey = nil
        access.clientKeyPassword = nil
        access.negotiates = false
        return access
    }

    /// Whether a request with these options authenticates itself to the server or a proxy.
    ///
    /// Proxies are included because some answer 401 instead of 407.
    package var authenticates: Bool {
        credentials != nil || negotiates || bearerToken != nil || usesNetrc
            || proxy?.contains("@") == true
    }
}

extension WebURL {
    /// The decoded user and password of the URL.
    package var credentials: AccessOptions.Credentials? {
        login.map { .init(user: $0.user, password: $0.password) }
    }
}
