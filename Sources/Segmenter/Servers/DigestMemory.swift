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

    /// Learns from an exchange with an origin.
    ///
    /// Where basic was offered too, it was refused because the password is wrong: another try would
    /// only help to lock the account.
    ///
    /// - Returns: Whether something new was learned, so that the same request is worth another try.
    func learn(from exchange: Exchange, origin: String) -> Bool {
        let asking: String
        if let reply = exchange.reply {
            guard reply.asksForDigest, [401, 407].contains(reply.status) else { return false }
            asking = reply.status == 407 ? Self.proxy : origin
        } else if case .proxyRefused(status: 407, asksForDigest: true)? = exchange.end {
            asking = Self.proxy
        } else {
            return false
        }
        return asked.withLock { $0.insert(asking).inserted }
    }
}
