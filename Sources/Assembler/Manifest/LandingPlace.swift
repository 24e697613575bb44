/// Where a redirect has led: to another server than the one that was asked.
package struct LandingPlace: Sendable, Hashable {
    /// The URL without credentials and query.
    package var url: String
    /// Whether it has a query: then it is not written down, because that may be a signature.
    package var hasQuery: Bool

    package init(url: String, hasQuery: Bool) {
        self.url = url
        self.hasQuery = hasQuery
    }

    /// What of it is written down.
    var stored: String? { hasQuery ? nil : url }

    /// Scheme, host and port, as a normalised URL has them.
    static func server(of url: String) -> Substring {
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count < 3 ? url[...] : url[..<parts[2].endIndex]
    }
}

extension Manifest.Header {
    /// Whether the server that a URL leads to is the one of the run before.
    package enum SameServer: Sendable, Hashable {
        case yes, no
        /// That was not written down.
        case unknown
    }

    /// Compares the server of the run before with the one that the same URL leads to now.
    package func isSameServer(_ landing: LandingPlace?) -> SameServer {
        guard let mirror else { return landing == nil ? .yes : .unknown }
        guard let landing else { return .no }
        return LandingPlace.server(of: mirror) == LandingPlace.server(of: landing.url) ? .yes : .no
    }
}
