import CCurl
import Glibc

extension TransferRequest {
    /// The settings for connections and authentication, common to all requests of a download.
    package struct Connecting: Sendable {
        /// The PEM file with trusted certificates; `nil` for `TrustedCertificates`.
        package var caCertificate: String?
        /// The maximum time to connect, including the TLS handshake, in seconds.
        package var connectTimeout: Double
        /// The maximum time without a received byte, in seconds.
        package var stallTimeout: Double
        /// Whether a request fails instead of waiting while segget sends its server no requests.
        package var endsToRest: Bool
        /// The access options, with the credentials of the URL if the options have none.
        package private(set) var access: AccessOptions
        /// The range of the file that the download treats as the file; `nil` for all of it.
        package let window: RemoteWindow?
        /// The caller's headers.
        package let headers: [String]
        /// The origin for which the credentials, headers and client certificate are intended.
        package let origin: String
        /// The facts about servers that the download has learned.
        package private(set) var memory: DownloadMemory

        /// Takes the settings from the options of a download from `url`.
        package init(_ options: DownloadOptions, url: WebURL, memory: DownloadMemory = .init()) {
            self.memory = memory
            caCertificate = options.caCertificate
            connectTimeout = options.connectTimeout.inSeconds
            stallTimeout = options.stallTimeout.inSeconds
            endsToRest = options.endsToRest
            (headers, window) = (options.headers, options.window)
            origin = url.origin
            var access = options.access
            if access.bearerToken == nil {
                access.credentials = access.credentials ?? url.credentials
            }
            // A proxy would connect to addresses that segget cannot check.
            if access.deniesPrivate { access.proxy = "" }
            self.access = access
        }

        /// Returns a copy with other credentials for the origin.
        package func identifying(as credentials: AccessOptions.Credentials) -> Connecting {
            var copy = self
            copy.access.credentials = credentials
            copy.access.bearerToken = nil
            return copy
        }

        /// Returns a copy for a mirror, which has separate cookies.
        package func forMirror(_ url: WebURL) -> Connecting {
            var copy = self
            copy.memory = memory.forMirror(at: url.origin)
            return copy
        }

        /// Limits the connect timeout and the stall timeout to `longest` seconds.
        package mutating func bound(by longest: Double) {
            connectTimeout = min(connectTimeout, longest)
            stallTimeout = min(stallTimeout, longest)
        }

        /// Returns whether a request to `url` carries credentials.
        ///
        /// After a refusal, segget does not repeat such a request, so that it does not send a wrong
        /// password several times.
        package func identifies(at url: WebURL) -> Bool {
            let permitted = permitted(for: url)
            return permitted.access.authenticates
                || permitted.headers.contains { $0.lowercased().hasPrefix("authorization") }
        }

        /// Returns the access options and headers that a request to `url` may use.
        ///
        /// Only this function decides which of them are restricted to the origin of the download's
        /// URL.
        package func permitted(for url: WebURL) -> (access: AccessOptions, headers: [String]) {
            guard url.origin != origin else { return (access, headers) }
            let crosses = access.crossesOrigins && !url.isDowngraded
            var others = crosses ? access.withoutClientCertificate : access.forOtherOrigins
            // Credentials in the URL of a redirect may be sent.
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

    /// Whether the request may go through a proxy, which then chooses the server's address.
    ///
    /// libcurl reads the same variables (`CURLOPT_PROXY`).
    package var mayUseProxy: Bool {
        if connecting.access.noProxy == "*" { return false }
        if let proxy = connecting.access.proxy { return !proxy.isEmpty }
        return proxyVariables.contains(where: isSet)
    }

    /// Whether the request certainly goes through a proxy, because there is no list of exceptions.
    var surelyUsesProxy: Bool {
        let hasExceptions =
            connecting.access.noProxy.map { !$0.isEmpty }
            ?? (isSet("no_proxy") || isSet("NO_PROXY"))
        guard !hasExceptions else { return false }
        if let proxy = connecting.access.proxy { return !proxy.isEmpty }
        return proxyVariables.contains(where: isSet)
    }

    /// Whether the request certainly goes through a proxy that is reached over TLS.
    var surelyUsesTLSToProxy: Bool {
        guard let proxy = connecting.proxy(for: url) else { return false }
        return proxy.isSure && proxy.origin.hasPrefix("https:")
    }

    private var proxyVariables: [String] { Connecting.proxyVariables(for: url) }
}

/// Returns whether an environment variable is set and not empty.
///
/// libcurl treats an empty one as unset (`curl_getenv(3)`).
private func isSet(_ name: String) -> Bool { getenv(name).map { $0.pointee != 0 } ?? false }

extension TransferRequest.Connecting {
    fileprivate static func proxyVariables(for url: WebURL) -> [String] {
        (url.isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"])
            + ["all_proxy", "ALL_PROXY"]
    }

    /// Returns the proxy for requests to a URL.
    ///
    /// - Returns: The proxy's origin, and whether requests certainly use it; `nil` for no proxy.
    package func proxy(for url: WebURL) -> (origin: String, isSure: Bool)? {
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
    /// Whether requests to some URL may go through a proxy.
    package var mayUseProxy: Bool {
        if noProxy == "*" { return false }
        if let proxy { return !proxy.isEmpty }
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return names.contains(where: isSet)
    }

    /// Sets these options on a new easy handle.
    ///
    /// - Parameters:
    ///   - setter: Sets the options on the handle.
    ///   - url: The URL of the request.
    ///   - digests: The origins and proxies that require digest authentication.
    func configure(_ setter: inout OptionSetter, url: WebURL, digests: DigestMemory) {
        func allowed(_ isAsked: Bool) -> Int {
            let isDigest = scheme == .digest || (scheme == .automatic && isAsked)
            return isDigest ? segget_curl_auth_digest : segget_curl_auth_basic
        }
        if let credentials, let password = credentials.password {
            setter.set(CURLOPT_USERNAME, credentials.user)
            setter.set(CURLOPT_PASSWORD, password)
        } else if let credentials {
            // With CURLOPT_USERNAME, libcurl would not read the netrc file.
            setter.set(CURLOPT_URL, url.text(with: credentials.user))
        }
        if negotiates {
            // The Kerberos ticket identifies the user (CURLOPT_HTTPAUTH, `CURLAUTH_NEGOTIATE`).
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
        // Without a password, OpenSSL would prompt on the terminal and block the loop thread.
        setter.set(CURLOPT_KEYPASSWD, clientKeyPassword ?? "")
    }
}

/// Sets options on one easy handle, and keeps the lists that the handle refers to.
struct OptionSetter {
    let handle: CURL
    /// The lists; the caller frees them after the handle.
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
