/// The URL on another server to which a redirect led.
package struct LandingPlace: Sendable, Hashable {
    /// The URL without credentials and query.
    package var url: String
    /// Whether the URL has a query.
    ///
    /// Such a URL is not stored, since the query may be a signature.
    package var hasQuery: Bool

    package init(url: String, hasQuery: Bool) {
        self.url = url
        self.hasQuery = hasQuery
    }

    /// The URL as the manifest stores it; `nil` if it has a query.
    var stored: String? { hasQuery ? nil : url }

    /// Returns the scheme, host and port of a normalized URL.
    static func server(of url: String) -> Substring {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count < 3 ? url[...] : url[..<parts[2].endIndex]
    }
}

extension Manifest.Header {
    /// Whether a URL leads to the same server as in the previous run.
    package enum SameServer: Sendable, Hashable {
        case yes, no
        /// The manifest does not record the server.
        case unknown
    }

    /// Compares the server of the previous run with the one to which the same URL leads now.
    package func isSameServer(_ landing: LandingPlace?) -> SameServer {
        guard let mirror else { return landing == nil ? .yes : .unknown }
        guard let landing else { return .no }
        return LandingPlace.server(of: mirror) == LandingPlace.server(of: landing.url) ? .yes : .no
    }
}
