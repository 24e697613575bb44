import CCurl
import Glibc

extension TransferRequest {
    /// How connections are made and who asks; the same for all requests of a download.
    struct Connecting: Sendable {
        /// PEM file with trusted certificates, `nil` for the system's.
        var caCertificate: String?
        /// Longest time to connect, TLS handshake included, in seconds.
        var connectTimeout: Double
        /// Longest time without a byte, in seconds.
        var stallTimeout: Double
        /// Whether a request fails, and does not wait, while its server is left alone.
        var endsToRest: Bool
        /// How servers are reached, with the credentials of the URL when none were given.
        private(set) var access: AccessOptions
        /// The caller's headers.
        let headers: [String]
        /// The origin that credentials, headers and the like are meant for.
        let origin: String
        /// What the download has learned of servers.
        private(set) var memory: DownloadMemory

        /// Takes what concerns requests out of the options of a download from `url`.
        init(_ options: DownloadOptions, url: WebURL, memory: DownloadMemory = .init()) {
            self.memory = memory
            caCertificate = options.caCertificate
            connectTimeout = options.connectTimeout.inSeconds
            stallTimeout = options.stallTimeout.inSeconds
            endsToRest = options.endsToRest
            headers = options.headers
            origin = url.origin
            var access = options.access
            if access.bearerToken == nil {
                access.credentials = access.credentials ?? url.credentials
            }
            // A proxy connects to addresses that nobody here judges.
            if access.deniesPrivate { access.proxy = "" }
            self.access = access
        }

        /// The same with other credentials for its origin.
        func identifying(as credentials: AccessOptions.Credentials) -> Connecting {
            var copy = self
            copy.access.credentials = credentials
            copy.access.bearerToken = nil
            return copy
        }

        /// The same for a mirror, which has cookies of its own.
        func forMirror(_ url: WebURL) -> Connecting {
            var copy = self
            copy.memory = memory.forMirror(at: url.origin)
            return copy
        }

        /// Has neither the making of a connection nor a time without a byte last longer, in seconds.
        mutating func bound(by longest: Double) {
            connectTimeout = min(connectTimeout, longest)
            stallTimeout = min(stallTimeout, longest)
        }

        /// Whether a request to `url` says who asks: a password that was refused is not shown again and again.
        func identifies(at url: WebURL) -> Bool {
            let permitted = permitted(for: url)
            return permitted.access.authenticates
                || permitted.headers.contains { $0.lowercased().hasPrefix("authorization") }
        }

        /// What a request to `url` may reveal: the one place where it is decided what stays with
        /// the origin of the download's URL.
        func permitted(for url: WebURL) -> (access: AccessOptions, headers: [String]) {
            guard url.origin != origin else { return (access, headers) }
            let crosses = access.crossesOrigins && !url.isDowngraded
            var others = crosses ? access.withoutClientCertificate : access.forOtherOrigins
            // What a redirect itself says, it may say.
            if let credentials = url.credentials {
                others.credentials = credentials
                others.bearerToken = nil
            }
            if url.isDowngraded { others.usesNetrc = false }
            guard !crosses else { return (others, headers) }
            others.referer = access.referer.flatMap { TravellingHeaders.referer($0, to: url) }
            return (others, TravellingHeaders.lines(headers, to: url))
        }
    }

    /// Whether a proxy may be used: then addresses are its business.
    ///
    /// `CURLOPT_PROXY`; libcurl reads these variables.
    var mayUseProxy: Bool {
        if connecting.access.noProxy == "*" { return false }
        if let proxy = connecting.access.proxy { return !proxy.isEmpty }
        return proxyVariables.contains { getenv($0) != nil }
    }

    /// Whether a proxy is used for certain: no exceptions are listed.
    var surelyUsesProxy: Bool {
        func isSet(_ name: String) -> Bool { getenv(name).map { $0.pointee != 0 } ?? false }
        let hasExceptions =
            connecting.access.noProxy.map { !$0.isEmpty }
            ?? (isSet("no_proxy") || isSet("NO_PROXY"))
        guard !hasExceptions else { return false }
        if let proxy = connecting.access.proxy { return !proxy.isEmpty }
        return proxyVariables.contains(where: isSet)
    }

    /// Whether TLS is spoken to a proxy, for certain.
    var surelyUsesTLSToProxy: Bool {
        guard let proxy = connecting.proxy(for: url) else { return false }
        return proxy.isSure && proxy.origin.hasPrefix("https:")
    }

    private var proxyVariables: [String] { Connecting.proxyVariables(for: url) }
}

extension TransferRequest.Connecting {
    fileprivate static func proxyVariables(for url: WebURL) -> [String] {
        (url.isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"])
            + ["all_proxy", "ALL_PROXY"]
    }

    /// The proxy that requests to a URL go through: its origin, and whether they surely do.
    ///
    /// - Returns: `nil` where there is none.
    func proxy(for url: WebURL) -> (origin: String, isSure: Bool)? {
        let request = TransferRequest(url: url, connecting: self)
        let variables = Self.proxyVariables(for: url).lazy.compactMap { getenv($0) }
        guard request.mayUseProxy,
            let text = access.proxy
                ?? variables.map({ String(cString: $0) }).first(where: { !$0.isEmpty }),
            let origin = proxyOrigin(text)
        else { return nil }
        return (origin, request.surelyUsesProxy)
    }
}

extension AccessOptions {
    /// Whether requests may go through a proxy, whatever their URL.
    var mayUseProxy: Bool {
        if noProxy == "*" { return false }
        if let proxy { return !proxy.isEmpty }
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return names.contains { name in getenv(name).map { $0.pointee != 0 } ?? false }
    }

    /// Sets what these options say on a new easy handle.
    ///
    /// - Parameters:
    ///   - setter: The handle.
    ///   - url: Where the request goes.
    ///   - digests: Who has asked for digest authentication.
    func configure(_ setter: inout OptionSetter, url: WebURL, digests: DigestMemory) {
        func allowed(_ isAsked: Bool) -> Int {
            let isDigest = scheme == .digest || (scheme == .automatic && isAsked)
            return isDigest ? segget_curl_auth_digest : segget_curl_auth_basic
        }
        if let credentials, let password = credentials.password {
            setter.set(CURLOPT_USERNAME, credentials.user)
            setter.set(CURLOPT_PASSWORD, password)
        } else if let credentials {
            // CURLOPT_USERNAME would keep libcurl from looking into a netrc file.
            setter.set(CURLOPT_URL, url.text(with: credentials.user))
        }
        if negotiates {
            // The ticket says who asks (CURLOPT_HTTPAUTH, `CURLAUTH_NEGOTIATE`).
            setter.set(CURLOPT_USERNAME, "")
            setter.set(CURLOPT_PASSWORD, "")
            setter.set(CURLOPT_HTTPAUTH, segget_curl_auth_negotiate)
        } else {
            setter.set(CURLOPT_HTTPAUTH, allowed(digests.wantsDigest(url.origin)))
        }
        setter.set(CURLOPT_PROXYAUTH, allowed(digests.proxyWantsDigest))
        if usesNetrc {
            setter.set(CURLOPT_NETRC, segget_curl_netrc_optional)
            if let netrcFile { setter.set(CURLOPT_NETRC_FILE, netrcFile) }
        }
        if let cookies { setter.set(CURLOPT_COOKIE, cookies) }
        if let referer { setter.set(CURLOPT_REFERER, referer) }
        if let userAgent { setter.set(CURLOPT_USERAGENT, userAgent) }
        if let proxy { setter.set(CURLOPT_PROXY, encodingEarlierAts(in: proxy)) }
        if let noProxy { setter.set(CURLOPT_NOPROXY, noProxy) }
        if let interface { setter.set(CURLOPT_INTERFACE, interface) }
        switch addressFamily {
        case .any: break
        case .ipv4: setter.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: setter.set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        if !resolve.isEmpty { setter.set(CURLOPT_RESOLVE, resolve) }
        configureTLS(&setter)
    }

    private func configureTLS(_ setter: inout OptionSetter) {
        let lowest =
            switch minimumTLS {
            case .tls12: segget_curl_sslversion_tls1_2
            case .tls13: segget_curl_sslversion_tls1_3
            }
        setter.set(CURLOPT_SSLVERSION, lowest)
        setter.set(CURLOPT_PROXY_SSLVERSION, lowest)
        if isInsecure {
            setter.set(CURLOPT_SSL_VERIFYPEER, 0)
            setter.set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let pinnedPublicKey { setter.set(CURLOPT_PINNEDPUBLICKEY, pinnedPublicKey) }
        guard let clientCertificate else { return }
        let isPKCS12 = [".p12", ".pfx"].contains { clientCertificate.lowercased().hasSuffix($0) }
        setter.set(CURLOPT_SSLCERT, clientCertificate)
        setter.set(CURLOPT_SSLCERTTYPE, isPKCS12 ? "P12" : "PEM")
        if let clientKey { setter.set(CURLOPT_SSLKEY, clientKey) }
        // Without one, OpenSSL would ask on the terminal, on the loop thread.
        setter.set(CURLOPT_KEYPASSWD, clientKeyPassword ?? "")
    }
}

/// Sets options on one easy handle, and keeps the lists that it refers to.
struct OptionSetter {
    let handle: CURL
    /// To be freed after the handle.
    private(set) var lists: [UnsafeMutablePointer<curl_slist>] = []

    init(_ handle: CURL) { self.handle = handle }

    func set(_ option: CURLoption, _ value: Int) {
        check(segget_curl_setopt_long(handle, option, value), option)
    }

    func set(_ option: CURLoption, _ value: String) {
        check(segget_curl_setopt_string(handle, option, value), option)
    }

    mutating func set(_ option: CURLoption, _ lines: [String]) {
        var list: UnsafeMutablePointer<curl_slist>?
        for line in lines { list = curl_slist_append(list, line) ?? list }
        check(segget_curl_setopt_list(handle, option, list), option)
        if let list { lists.append(list) }
    }

    private func check(_ code: CURLcode, _ option: CURLoption) {
        precondition(code == CURLE_OK, "libcurl refuses option \(option.rawValue)")
    }
}
