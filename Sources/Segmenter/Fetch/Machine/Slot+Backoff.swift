extension Slot {
    /// What a connection's failures have it wait for, and whether it tries again at all.
    struct Backoff {
        /// Failures in a row on this connection: they lengthen the wait.
        var failures = 0
        /// Failures in a row during which nothing arrived from its server: they are bounded.
        private(set) var barren = 0
        /// Bytes that its server had sent at the last failure.
        private var receivedAtFailure: Int64 = -1
        /// Bytes that all other servers had sent when the first of those failures came.
        private(set) var othersAtFailure: Int64 = 0
        /// Until when it waits; infinity stands for its server's URL, which is being resolved.
        var until = 0.0
        /// Whether it waits because the server may serve no more at a time, and not for a failure.
        var isOverLimit = false

        /// What follows from a failure.
        enum Step: Hashable {
            /// Another try, after so many seconds.
            case again(after: Double)
            /// The server is given up.
            case giveUp(DownloadError.Reason)
        }

        /// Something has come.
        mutating func clear() { (failures, barren) = (0, 0) }

        /// A failure that counts.
        ///
        /// - Parameters:
        ///   - received: Bytes that the connection's server has sent.
        ///   - others: Bytes that all others have.
        mutating func note(received: Int64, others: Int64) {
            let hasProgressed = received != receivedAtFailure
            receivedAtFailure = received
            if hasProgressed { othersAtFailure = others }
            barren = hasProgressed ? 1 : barren + 1
        }

        /// Decides after a failure that was noted.
        ///
        /// - Parameters:
        ///   - failure: What it was.
        ///   - retryAfter: Seconds that the server asks to wait for.
        ///   - isBearable: Whether the failure is one of those that may pass, and its server one that is
        ///     waited for.
        ///   - first: What is to be done where the server has never sent anything.
        ///   - policy: How often, and after how long, something is tried again.
        ///   - random: A number in 0..<1, another one each time.
        /// - Returns: What follows.
        func step(
            after failure: TransferFailure, retryAfter: Double?, isBearable: Bool,
            first: FirstContact.Step, policy: RetryPolicy, random: () -> Double
        ) -> Step {
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

        /// Decides after a failure behind which something else is tried: that need not wait, and is
        /// bounded by a limit of its own.
        func hastyStep(retryAfter: Double?, policy: RetryPolicy) -> Step {
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
