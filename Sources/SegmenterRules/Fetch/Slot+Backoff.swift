extension Slot {
    /// The failures of a connection, and the wait before it retries.
    package struct Backoff {
        /// The number of failures in a row on this connection, which determines the wait.
        package var failures = 0
        /// The number of failures in a row without bytes from the server.
        ///
        /// The retry policy limits the number.
        private(set) var barren = 0
        /// The number of bytes that the server had sent at the last failure.
        private var receivedAtFailure: Int64 = -1
        /// The number of bytes that all other servers had sent at the first of these failures.
        private(set) var othersAtFailure: Int64 = 0
        /// The time until which the connection waits; infinity while the server's URL is being
        /// resolved again.
        package var until = 0.0
        /// Whether the connection waits because the server may be at its limit, rather than after a
        /// failure.
        package var isOverLimit = false

        /// The step that follows a failure.
        package enum Decision: Hashable {
            /// Retry after a number of seconds.
            case again(after: Double)
            /// Give up the server.
            case giveUp(DownloadError.Reason)
        }

        /// Records that bytes were received.
        package mutating func clear() { (failures, barren) = (0, 0) }

        /// Records a failure that counts towards the limit of retries.
        ///
        /// - Parameters:
        ///   - received: The number of bytes that the connection's server has sent.
        ///   - others: The number of bytes that all other servers have sent.
        package mutating func note(received: Int64, others: Int64) {
            let hasProgressed = received != receivedAtFailure
            receivedAtFailure = received
            if hasProgressed { othersAtFailure = others }
            barren = hasProgressed ? 1 : barren + 1
        }

        /// Decides about a recorded failure.
        ///
        /// - Parameters:
        ///   - failure: The failure.
        ///   - retryAfter: The wait that the server requested, in seconds.
        ///   - isBearable: Whether the failure may be temporary, and the server is worth waiting
        ///     for.
        ///   - first: The decision for a server that has never sent anything.
        ///   - policy: The limits of retries and waits.
        ///   - random: Returns a random number in 0..<1.
        /// - Returns: The next step.
        package func step(
            after failure: TransferFailure, retryAfter: Double?, isBearable: Bool,
            first: FirstContact.Decision, policy: RetryPolicy, random: () -> Double
        ) -> Decision {
            guard policy.allows(barren), isBearable, first != .giveUp else {
                if case .breach(let breach) = failure { return .giveUp(.contract(breach)) }
                return .giveUp(.transfer(failure, attempts: barren))
            }
            if let problem = tooLong(retryAfter, policy) { return .giveUp(problem) }
            let delay = policy.delay(
                failures: failures, retryAfter: retryAfter, random: random())
            if case .again(let wait) = first { return .again(after: wait) }
            return .again(after: delay)
        }

        /// Decides about a failure after which something else is tried.
        ///
        /// The new attempt need not wait, and has a separate limit.
        func hastyStep(retryAfter: Double?, policy: RetryPolicy) -> Decision {
            tooLong(retryAfter, policy).map { .giveUp($0) } ?? .again(after: 0)
        }

        private func tooLong(
            _ retryAfter: Double?, _ policy: RetryPolicy
        ) -> DownloadError.Reason? {
            guard let retryAfter, retryAfter > policy.longestRetryAfter else { return nil }
            return .transfer(.retryAfterTooLong(.init(seconds: retryAfter)), attempts: barren)
        }
    }
}
