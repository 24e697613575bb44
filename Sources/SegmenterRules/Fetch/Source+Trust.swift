extension Source {
    /// The trust in a server's responses.
    ///
    /// Trust limits the number of requests until ranges have proved right, and the length of ranges
    /// that are checked by a digest.
    package struct Trust {
        /// The number of responses in a row, on new connections, that may show another version
        /// before that is believed.
        static let mismatchLimit = 4
        /// The longest range, in bytes, that is requested if the server sends `Content-Digest` (RFC
        /// 9530) for ranges.
        ///
        /// Such a range is recorded only once it is complete. A crash can therefore cost each
        /// connection this many bytes.
        static let longestProven: Int64 = 8 << 20
        /// The minimum length of a request, in bytes, to a server that may refuse long ranges.
        static let leastShortened: Int64 = 1 << 20

        /// The confidence that the server answers range requests with the requested bytes.
        private(set) var confidence: Confidence
        /// Whether the server sends digests of ranges.
        ///
        /// Ranges are then kept short, because each counts only as a whole.
        private(set) var provesRanges = false
        /// Whether the last range that was compared with its digest did not match.
        var isForging = false
        /// The number of responses in a row that showed another version.
        private var mismatches = 0
        /// The length of the longest range that the server has served, in bytes.
        private var longestServed: Int64 = 0
        /// The limit on the length of requests after longer ranges were refused, in bytes; `nil`
        /// for no such limit.
        private var shortened: Int64?
        /// The number of responses in a row that ignored the range.
        private var ignoredRanges = 0

        /// Whether range requests are sent.
        ///
        /// Only their responses have digests that are checked.
        private let hasRanges: Bool

        /// - Parameters:
        ///   - isProven: Whether a range response was already correct.
        ///   - hasRanges: Whether range requests are sent.
        init(isProven: Bool = false, hasRanges: Bool = true) {
            confidence = Confidence(isProven: isProven)
            self.hasRanges = hasRanges
        }

        /// The maximum number of bytes per request.
        var longestRange: Int64 {
            min(provesRanges ? Self.longestProven : .max, shortened ?? .max)
        }

        // MARK: Wrong responses

        /// Returns whether the server may be sent one more request.
        ///
        /// - Parameters:
        ///   - asking: The number of requests in flight, plus the connections that wait after a
        ///     wrong response: others would only receive wrong responses instead.
        ///   - roundTrip: The time to connect, in seconds; `nil` when unknown.
        /// - Returns: Whether one more request is allowed.
        package func allows(
            beside asking: @autoclosure () -> Int, roundTrip: @autoclosure () -> Double?
        )
            -> Bool
        {
            confidence.isProven || asking() < confidence.most(roundTrip: roundTrip())
        }

        /// Records a response of the right version.
        package mutating func accepted() { mismatches = 0 }

        /// Records that a range response was correct.
        ///
        /// - Returns: Whether this ends the limit on the number of requests.
        package mutating func accepted(_ served: ByteRange, now: Double) -> Bool {
            longestServed = max(longestServed, served.count)
            guard !confidence.isProven else { return false }
            confidence.accepted(served, now: now)
            return confidence.isProven
        }

        /// Records that the server refused a range with 403, although it had served others.
        ///
        /// - Parameter isAgain: Whether it also did so after a pause. The server may then refuse
        ///   ranges of that length, so requests get no longer than the longest range served. A
        ///   further refusal removes that limit.
        mutating func forbade(isAgain: Bool) {
            shortened = shortened == nil && isAgain ? max(longestServed, Self.leastShortened) : nil
        }

        /// Advances the time.
        package mutating func wait(now: Double) { confidence.wait(now: now) }

        /// Records that bytes of the file were received.
        mutating func hasProgressed() { ignoredRanges = 0 }

        /// Records a response that did not match its request.
        mutating func lied() { confidence.refused() }

        /// Records a response that ignored the range.
        ///
        /// - Returns: The number of such responses in a row.
        mutating func ignoredRange() -> Int {
            ignoredRanges += 1
            return ignoredRanges
        }

        /// Records a response that showed another version.
        ///
        /// A server whose first responses contradicted each other is believed sooner.
        ///
        /// - Returns: Whether another version is now assumed.
        mutating func sawAnotherVersion(hasContradicted: Bool) -> Bool {
            mismatches += 1
            let isDoubtful = hasContradicted && !confidence.isProven
            return mismatches > (isDoubtful ? 1 : Self.mismatchLimit)
        }

        /// Returns whether a connection retries after a failure.
        ///
        /// After wrong responses, retries are limited.
        ///
        /// - Parameters:
        ///   - failure: The failure.
        ///   - failures: The number of failures in a row on the connection.
        /// - Returns: Whether it retries.
        func bears(_ failure: TransferFailure, _ failures: Int) -> Bool {
            guard case .breach(let breach) = failure else { return true }
            if case .otherContentDigest = breach { return failures < Confidence.tries }
            return confidence.bears(failures)
        }

        // MARK: Digests of ranges

        /// Returns the digest of a range response.
        ///
        /// The bytes count only if they match it.
        package mutating func digest(of reply: Reply) -> Digest? {
            guard hasRanges, reply.status == 206,
                let digest = AdvertisedDigests.content(of: reply)
            else { return nil }
            provesRanges = true
            return digest
        }

        /// Returns whether a range response has a digest, and is longer than `longestProven`.
        mutating func isTooLong(_ range: ByteRange?, _ reply: Reply) -> Bool {
            guard hasRanges, let range, range.count > Self.longestProven,
                AdvertisedDigests.content(of: reply) != nil
            else { return false }
            provesRanges = true
            return true
        }
    }
}
