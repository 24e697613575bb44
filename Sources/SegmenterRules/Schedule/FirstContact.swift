/// Limits the retries at a host that has not served anything yet, before the first byte of a file.
///
/// Pure: no I/O and no clock. `RetryPolicy` allows long waits for a download that has started. If a
/// host has served nothing, its URL may be wrong, and the user needs a quick answer.
package struct FirstContact: Sendable, Hashable {
    /// The number of attempts in all.
    package static let tries = 3
    /// The longest waits between the attempts, in seconds; the shortest are half as long.
    package static let waits = [1.5, 3.0]

    /// The kind of a failure, as far as the number of retries depends on it.
    package enum Trouble: Sendable, Hashable, CaseIterable {
        /// The resolver reports that the host or the proxy does not exist.
        case unknownName
        /// An immediate failure: nothing answers, or the name server, the server or a proxy reports
        /// an error.
        case passing
        /// The name server did not answer within the connect timeout.
        case silentNameServer
        /// Any other failure, for example a response with `Retry-After`, or a timeout.
        case other
    }

    /// The step that follows a failure.
    package enum Decision: Sendable, Hashable {
        case giveUp
        /// Retry after this number of seconds.
        case again(after: Double)
        /// Apply `RetryPolicy`.
        case asEver
    }

    /// Whether the number of attempts is limited.
    ///
    /// It is not limited if the user gave the number of retries, nor for mirrors, whose waits are
    /// shorter.
    package var isBounded = true
    /// Whether the host has already failed to respond to `HEAD`.
    package var isMute = false
    /// The number of failures that counted.
    package var failures = 0

    package init(isBounded: Bool = true, isMute: Bool = false, failures: Int = 0) {
        self.isBounded = isBounded
        self.isMute = isMute
        self.failures = failures
    }

    /// Returns the step that follows a failure.
    ///
    /// - Parameters:
    ///   - trouble: The kind of failure.
    ///   - isGivenUp: Whether another download has given up this host within the last seconds.
    ///   - random: A number in 0..<1 that determines the wait within its bounds.
    /// - Returns: The step to take.
    package mutating func step(
        after trouble: Trouble, isGivenUp: Bool = false, random: Double
    ) -> Decision {
        switch trouble {
        case .unknownName: return .giveUp
        case .other: return .asEver
        case .passing, .silentNameServer: break
        }
        guard isBounded else { return .asEver }
        failures += 1
        // Two timeouts of the name server take far longer than three immediate failures.
        let most = trouble == .silentNameServer ? (isMute ? 1 : 2) : Self.tries
        guard !isGivenUp, failures < most else { return .giveUp }
        return .again(after: Self.waits[failures - 1] * (0.5 + random / 2))
    }
}
