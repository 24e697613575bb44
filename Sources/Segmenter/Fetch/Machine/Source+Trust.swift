import Assembler

extension Source {
    /// How far a server's replies are believed: what is asked of them before more is asked for, and
    /// before their bytes count.
    struct Trust {
        /// Replies about another version in a row, on new connections, before that is believed.
        static let mismatchLimit = 4
        /// Longest range that is asked for where digests of ranges come with them (`Content-Digest`,
        /// RFC 9530), in bytes.
        ///
        /// Nothing of it is recorded before all of it has come: that much a crash may cost each
        /// connection.
        static let longestProven: Int64 = 8 << 20
        /// A server that may refuse long ranges is asked for at least so many bytes, in bytes.
        static let leastShortened: Int64 = 1 << 20

        /// How far it is believed to answer ranges with what was asked for.
        private(set) var confidence: Confidence
        /// Whether it states digests of ranges: then these are short, as they count as a whole.
        private(set) var provesRanges = false
        /// Whether the last range that was compared with its digest was wrong.
        var isForging = false
        /// Replies about another version in a row.
        private var mismatches = 0
        /// Longest range that it has served, in bytes.
        private var longestServed: Int64 = 0
        /// Most bytes that are asked for at a time since longer ranges were forbidden; `nil` where that is not tried.
        private var shortened: Int64?
        /// Replies that ignored the range in a row.
        private var ignoredRanges = 0

        /// Whether ranges are asked for: only those have digests.
        private let hasRanges: Bool

        /// - Parameters:
        ///   - isProven: Whether a range was right already.
        ///   - hasRanges: Whether ranges are asked for.
        init(isProven: Bool = false, hasRanges: Bool = true) {
            confidence = Confidence(isProven: isProven)
            self.hasRanges = hasRanges
        }

        /// Most bytes that are asked for at a time.
        var longestRange: Int64 {
            min(provesRanges ? Self.longestProven : .max, shortened ?? .max)
        }

        // MARK: Lies

        /// Whether its server may be sent one more request.
        ///
        /// - Parameters:
        ///   - asking: Requests under way. Connections that were lied to and wait are among them: others
        ///     would only be lied to in their place.
        ///   - roundTrip: Time to connect, in seconds; `nil` when unknown.
        /// - Returns: Whether it may.
        func allows(beside asking: @autoclosure () -> Int, roundTrip: @autoclosure () -> Double?)
            -> Bool
        {
            confidence.isProven || asking() < confidence.most(roundTrip: roundTrip())
        }

        /// A reply was what had been asked for.
        mutating func accepted() { mismatches = 0 }

        /// A range was what had been asked for.
        ///
        /// - Returns: Whether more may be asked for from now on.
        mutating func accepted(_ served: ByteRange, now: Double) -> Bool {
            longestServed = max(longestServed, served.count)
            guard !confidence.isProven else { return false }
            confidence.accepted(served, now: now)
            return confidence.isProven
        }

        /// It has forbidden a range, although it has served others.
        ///
        /// - Parameter isAgain: Whether it has done so after a rest, too. Then it may forbid ranges of that length, and
        ///   is asked for no longer ones than it has served, until it forbids these, too.
        mutating func forbade(isAgain: Bool) {
            shortened = shortened == nil && isAgain ? max(longestServed, Self.leastShortened) : nil
        }

        /// Looks at the time.
        mutating func wait(now: Double) { confidence.wait(now: now) }

        /// Bytes of the file have come.
        mutating func hasProgressed() { ignoredRanges = 0 }

        /// A reply was something else than had been asked for.
        mutating func lied() { confidence.refused() }

        /// A reply ignored the range: that is not believed at once.
        ///
        /// - Returns: Times in a row.
        mutating func ignoredRange() -> Int {
            ignoredRanges += 1
            return ignoredRanges
        }

        /// A reply was about another version: who has contradicted himself from the start is believed
        /// sooner.
        ///
        /// - Returns: Whether that is believed.
        mutating func sawAnotherVersion(hasContradicted: Bool) -> Bool {
            mismatches += 1
            let isDoubtful = hasContradicted && !confidence.isProven
            return mismatches > (isDoubtful ? 1 : Self.mismatchLimit)
        }

        /// Whether a connection asks again after what has just failed: not for ever, where that was a
        /// lie.
        ///
        /// - Parameters:
        ///   - failure: What has failed.
        ///   - failures: Failures in a row on the connection.
        /// - Returns: Whether it does.
        func bears(_ failure: TransferFailure, _ failures: Int) -> Bool {
            guard case .breach(let breach) = failure else { return true }
            if case .otherContentDigest = breach { return failures < Confidence.tries }
            return confidence.bears(failures)
        }

        // MARK: Digests of ranges

        /// The digest that came with a reply to a range: its bytes count only when they have it.
        mutating func digest(of reply: Reply) -> Digest? {
            guard hasRanges, reply.status == 206,
                let digest = AdvertisedDigests.content(of: reply)
            else { return nil }
            provesRanges = true
            return digest
        }

        /// Whether a range that has come has a digest, and is longer than those are to be.
        mutating func isTooLong(_ range: ByteRange?, _ reply: Reply) -> Bool {
            guard hasRanges, let range, range.count > Self.longestProven,
                AdvertisedDigests.content(of: reply) != nil
            else { return false }
            provesRanges = true
            return true
        }
    }
}
