/// How a server is reached, and who asks: credentials, cookies, proxies, TLS and addresses.
///
/// Credentials, the bearer token, cookies given as text, the client certificate and
/// `DownloadOptions.headers` go to the origin of the URL only (scheme, host and port), never to where
/// a redirect leads, and not to mirrors elsewhere, unless ``crossesOrigins`` says so. Of the headers those
/// go along that say how a file is wanted (`User-Agent`, `Accept`, `Accept-Language` and the like), and
/// of the referer its origin. A netrc file and cookies say themselves whom they are for.
public struct AccessOptions: Sendable, Hashable {
    /// A user and a password.
    public struct Credentials: Sendable, Hashable {
        /// The user; holds no colon (RFC 7617 §2).
        public var user: String
        /// The password; `nil` when only a netrc file can say it.
        public var password: String?
        /// What a newer version stored beside these.
        var unknown: [String: CodedValue] = [:]

        /// Makes credentials.
        public init(user: String, password: String?) {
            self.user = user
            self.password = password
        }
    }

    /// How credentials are shown to a server or a proxy.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Scheme: String, Sendable, Hashable, Codable {
        /// Basic, at once; digest where only that is asked for.
        case automatic
        /// Basic only (RFC 7617).
        case basic
        /// Digest only (RFC 7616): the password itself is never sent.
        case digest
    }

    /// Which addresses of a host are used.
    public enum AddressFamily: String, Sendable, Hashable, Codable {
        /// All of them.
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

    /// User and password for the server; they come before those in the URL.
    public var credentials: Credentials?
    /// How credentials are shown.
    public var scheme = Scheme.automatic
    /// Whether the user logs in by Kerberos (Negotiate, RFC 4559) with the ticket that the process finds: at the origin
    /// of the URL only, whatever ``crossesOrigins`` says.
    ///
    /// It is never stored: whoever carries stored options out may have another user's tickets. libcurl asks the key
    /// distribution center itself, and needs GSS-API for it.
    public var negotiates = false
    /// Whether credentials that are not given are looked up in a netrc file, by host.
    public var usesNetrc = false
    /// The netrc file; `nil` for `~/.netrc`.
    public var netrcFile: String?
    /// A token for `Authorization: Bearer` (RFC 6750).
    public var bearerToken: String?
    /// File with cookies in Netscape's format, sent to the hosts that it names.
    ///
    /// The file is never written.
    public var cookieFile: String?
    /// Whether cookies that servers set are kept, in memory, and sent where they are for (RFC 6265): as
    /// long as the one download lasts, or the batch.
    ///
    /// The files of a batch share them where these options, but for ``referer``, and `DownloadOptions.headers` are
    /// the same. Mirrors have their own. What https has set is not sent over http.
    public var keepsCookies = true
    /// Cookies as `name=value; name=value`.
    public var cookies: String?
    /// The `User-Agent` field; empty for none, `nil` for segget's.
    public var userAgent: String?
    /// The `Referer` field; another origin gets its origin only, and from https to http nothing.
    public var referer: String?
    /// URL of the proxy: http, https, socks4, socks4a, socks5 or socks5h; empty for none.
    ///
    /// `nil` leaves it to the environment: `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`.
    public var proxy: String?
    /// Hosts that are reached without a proxy, separated by commas; `*` for all.
    ///
    /// `nil` leaves it to `no_proxy` of the environment. `CURLOPT_NOPROXY`.
    public var noProxy: String?
    /// Which addresses of a host are used.
    public var addressFamily = AddressFamily.any
    /// Most redirects to follow before the download fails, 0 or more.
    public var maxRedirects = 20
    /// The interface, address or host name that connections go out from.
    ///
    /// `CURLOPT_INTERFACE`.
    public var interface: String?
    /// Addresses of hosts, each as `HOST:PORT:ADDRESS[,ADDRESS]`.
    ///
    /// They hold for everything that the session does from then on. `CURLOPT_RESOLVE`.
    public var resolve: [String] = []
    /// Whether the download must not reach private addresses: this machine's, those of networks that are not the
    /// internet (RFC 1918, RFC 6598, link-local, unique local), and the forms of these in IPv6.
    ///
    /// What counts is the address that is connected to, so it holds for redirects, mirrors and refreshed links, too. As
    /// nobody knows where a proxy connects to, the download fails at once where one may be used. The error is
    /// ``DownloadError/Reason/addressDenied(_:)``.
    public var deniesPrivate = false
    /// Whether any certificate is believed: nobody knows then who answers.
    public var isInsecure = false
    /// The public key that a server must have: `sha256//BASE64`, several separated by `;`, or the name
    /// of a file.
    ///
    /// It holds for every server, also where a redirect leads. `CURLOPT_PINNEDPUBLICKEY`.
    public var pinnedPublicKey: String?
    /// File with the client's certificate: PKCS #12 when its name ends in `.p12` or `.pfx`, else PEM.
    public var clientCertificate: String?
    /// PEM file with the client's key, unless it is in the file with the certificate.
    public var clientKey: String?
    /// The password of the client's key.
    public var clientKeyPassword: String?
    /// The lowest version of TLS that is accepted.
    public var minimumTLS = TLSVersion.tls12

    /// Whether redirects from https to http are followed: nothing proves then whose file it is.
    ///
    /// What is sent behind such a redirect is what another origin gets, without a netrc file,
    /// ``crossesOrigins`` or not, unless it leads back to the very origin of the URL.
    public var allowsDowngrade = false
    /// Whether credentials, the bearer token, cookies given as text, the referer and
    /// `DownloadOptions.headers` go to other origins too: where redirects lead, and to mirrors.
    ///
    /// The client certificate stays with the origin of the URL all the same.
    public var crossesOrigins = false

    /// What a newer version stored beside these.
    var unknown: [String: CodedValue] = [:]

    /// Makes the default options.
    public init() {}

    /// What of these options another origin may learn of: nothing that the caller meant for one
    /// server.
    var forOtherOrigins: AccessOptions {
        var access = self
        access.credentials = nil
        access.bearerToken = nil
        access.cookies = nil
        access.referer = nil
        return access.withoutClientCertificate
    }

    /// The same without what is never shown to another origin: the client certificate, and Kerberos tickets.
    var withoutClientCertificate: AccessOptions {
        var access = self
        access.clientCertificate = nil
        access.clientKey = nil
        access.clientKeyPassword = nil
        access.negotiates = false
        return access
    }

    /// Whether a request with these options shows who asks, be it to a proxy: some answer 401 where
    /// 407 belongs.
    var authenticates: Bool {
        credentials != nil || negotiates || bearerToken != nil || usesNetrc
            || proxy?.contains("@") == true
    }
}
