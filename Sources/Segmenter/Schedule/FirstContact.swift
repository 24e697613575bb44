/// How long a host is asked that has served nothing yet, before the first byte of a file: briefly.
///
/// Pure. The patience of `RetryPolicy` is for what has begun: a host that nobody has got anything from is
/// as likely to be wrong as to be away, and whoever waits wants to know.
struct FirstContact: Sendable, Hashable {
    /// Tries in all.
    static let tries = 3
    /// Longest waits between them, in seconds; the shortest are half of that.
    static let waits = [1.5, 3.0]

    /// What kind of failure it was, as far as the patience goes.
    enum Trouble: Sendable, Hashable, CaseIterable {
        /// The resolver says that the host, or the proxy, does not exist.
        case unknownName
        /// Nothing has answered, or what did is in trouble, and said so at once: the name server, the
        /// server, a proxy.
        case passing
        /// The name server has said nothing for as long as a connection may take.
        case silentNameServer
        /// Anything else: a server that says when to come again, or is late.
        case other
    }

    /// What is to be done.
    enum Step: Sendable, Hashable {
        case giveUp
        /// Another try, after so many seconds.
        case again(after: Double)
        /// What the policy says.
        case asEver
    }

    /// Whether the number of tries is this one: not where it was asked for, nor where there are others
    /// to turn to, whose waits are shorter.
    var isBounded = true
    /// Whether the host had its chance before: nothing has come to `HEAD` either.
    var isMute = false
    /// Failures that counted.
    var failures = 0

    /// Decides after a failure.
    ///
    /// - Parameters:
    ///   - trouble: What it was.
    ///   - isGivenUp: Whether the host has just been given up for another file.
    ///   - random: In 0..<1; decides where between its bounds the wait falls.
    /// - Returns: What is to be done.
    mutating func step(
        after trouble: Trouble, isGivenUp: Bool = false, random: Double
    ) -> Step {
        switch trouble {
        case .unknownName: return .giveUp
        case .other: return .asEver
        case .passing, .silentNameServer: break
        }
        guard isBounded else { return .asEver }
        failures += 1
        // Two of them have taken far longer than three that fail at once.
        let most = trouble == .silentNameServer ? (isMute ? 1 : 2) : Self.tries
        guard !isGivenUp, failures < most else { return .giveUp }
        return .again(after: Self.waits[failures - 1] * (0.5 + random / 2))
    }
}
