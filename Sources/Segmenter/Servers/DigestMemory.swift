import Assembler

/// Who has asked for digest authentication, so that the next request offers just that.
///
/// May be used from any thread.
final class DigestMemory: Sendable {
    /// What stands for the proxy among the origins.
    private static let proxy = "proxy"

    private let asked = Monitor<Set<String>>([])

    /// Whether an origin is known to want digest.
    func wantsDigest(_ origin: String) -> Bool { asked.withLock { $0.contains(origin) } }

    /// Whether the proxy is known to want digest.
    var proxyWantsDigest: Bool { wantsDigest(Self.proxy) }

    /// Notes that an origin asks for digest, and for nothing else.
    ///
    /// - Returns: Whether that is new.
    func note(_ origin: String) -> Bool { asked.withLock { $0.insert(origin).inserted } }

    /// Notes the same of the proxy.
    func noteProxy() -> Bool { note(Self.proxy) }
}
