/// The servers that require digest authentication, so that the next request uses only that scheme.
///
/// May be used from any thread.
package final class DigestMemory: Sendable {
    /// The key of the proxy among the origins.
    private static let proxy = "proxy"

    private let asked = Monitor<Set<String>>([])

    /// Returns whether an origin is known to require digest authentication.
    func wantsDigest(_ origin: String) -> Bool { asked.withLock { $0.contains(origin) } }

    /// Whether the proxy is known to require digest authentication.
    var proxyWantsDigest: Bool { wantsDigest(Self.proxy) }

    /// Records that an origin offers digest authentication and no other scheme.
    ///
    /// - Returns: Whether this was unknown.
    package func note(_ origin: String) -> Bool { asked.withLock { $0.insert(origin).inserted } }

    /// Records the same for the proxy.
    func noteProxy() -> Bool { note(Self.proxy) }
}
