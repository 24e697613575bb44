import Assembler
import SegmenterRules
import SegmenterTransport

/// Decides what follows when an attempt has ended, from the results of all attempts so far.
///
/// Limits the number of attempts without a received byte of the file.
///
/// Pure: no I/O and no clock.
struct Attempts: Sendable {
    /// The number of times that a download may start over because the remote file changed.
    static let restartLimit = 1
    /// The number of times in a row that a server may revoke a statement that would discard the
    /// part.
    ///
    /// Bytes of the file that arrive in between reset the count.
    static let takeBackLimit = 3

    /// The step that follows an attempt.
    enum Step: Sendable, Hashable {
        /// Publish the complete file of `size` bytes.
        ///
        /// `isChecked`: the server was just asked whether the file has changed.
        case publish(size: Int64, isChecked: Bool)
        /// Ask once more for the `Last-Modified` date of a complete file, because some responses
        /// lacked it.
        case askForDate
        /// Ask what the server offers.
        case find(Question)
        /// Wait before the question, after this number of failures in a row; `retryAfter` in
        /// seconds.
        case pause(failures: Int, retryAfter: Double?, TransferFailure, then: Question)
        /// End with this error.
        case end(DownloadError.Reason)
    }

    /// The request that is sent before another attempt.
    struct Question: Sendable, Hashable {
        /// The bytes that are requested.
        enum Extent: Sendable, Hashable { case firstByte, firstRange, whole }
        /// The meaning of the previous finding.
        enum Earlier: Sendable, Hashable {
            /// It is ignored.
            case forgotten
            /// It states the version that is being downloaded.
            case version
            /// It states that version, and the response to `GET` is compared with the one to
            /// `HEAD`.
            case hint
        }

        var extent: Extent
        var earlier = Earlier.version
        /// Whether the server has not sent any byte of the file; it is then asked only a few times.
        var isBeginning = false
    }

    /// The reason why the next attempt discards an earlier part; `nil` if it does not.
    private(set) var startOver: StartOverReason?
    /// The results of comparing samples.
    var samples = Samples()
    /// Whether the server has stated several versions.
    private(set) var isDoubted = false
    /// Whether the server's first ranges contradicted its earlier statements about the file.
    private(set) var hasContradicted = false
    /// Whether the next requests are for the whole file, without ranges.
    private(set) var isRangeless = false
    /// The failure of the previous attempt, which is reported if the download ends.
    private(set) var setback: DownloadError.Reason?
    /// The number of bytes that all attempts have received.
    private(set) var received: Int64 = 0
    /// Whether ranges lacked the `Last-Modified` date that identifies the version.
    private var isUndated = false
    /// Whether the last fetch ended because the server ignored ranges.
    private var wereRangesIgnored = false
    private var restarts = 0
    private var takenBack = 0
    /// The version that was being downloaded when a response stated another one, and the
    /// difference.
    private var change: (before: RemoteIdentity, breach: ContractBreach)?
    private var breaks = StreamBreaks()

    /// Takes the result of a fetch, and returns the next step.
    ///
    /// - Parameters:
    ///   - outcome: The result.
    ///   - file: The file that was downloaded.
    ///   - received: The number of bytes that all attempts have received.
    ///   - policy: Limits how often a stream may break without progress.
    ///   - isSurplus: Whether the request exceeded the number that the server serves at a time.
    ///   - isDateConfirmed: Whether the server was asked for the date after the fetch, and stated
    ///     it.
    /// - Returns: The next step.
    mutating func next(
        after outcome: Fetch.Outcome, of file: RemoteFile, received: Int64, policy: RetryPolicy,
        isSurplus: Bool = false, isDateConfirmed: Bool = false
    ) -> Step {
        setback = outcome.setback
        if received > self.received { takenBack = 0 }
        self.received = received
        switch outcome {
        case .complete(let size, let isUndated, let vouchedDates):
            guard !isUndated || isDateConfirmed else {
                self.isUndated = true
                return .askForDate
            }
            samples.take(vouchedDates)
            return .publish(size: size, isChecked: isUndated)
        case .cancelled: return .end(.cancelled)
        case .failed(let reason): return .end(reason)
        case .contradictsProbe:
            (isDoubted, hasContradicted) = (true, true)
            return .find(
                Question(extent: .firstRange, earlier: .hint, isBeginning: received == 0))
        case .mayBePart:
            isRangeless = true
            return .find(Question(extent: .whole, earlier: .forgotten))
        case .rangesIgnored:
            wereRangesIgnored = true
            // Ranges are not requested without limit from a server that serves only the first one.
            isRangeless = takenBack >= Self.takeBackLimit
            takenBack += 1
            return .find(Question(extent: isRangeless ? .whole : .firstByte))
        case .changed(let breach):
            isDoubted = true
            // A server that contradicted its own first ranges may revoke a change less often.
            if hasContradicted { takenBack += 1 }
            change = (file.identity, breach)
            // If ranges do not state their version, another version is downloaded in a single
            // response.
            isRangeless = isUndated
            return .find(Question(extent: isRangeless ? .whole : .firstRange))
        case .streamBroken(let failure, let retryAfter, let reached):
            breaks.note(file.identity, at: reached, isSurplus: isSurplus)
            // Content that cannot be decoded is the same in the next attempt.
            var isHopeless = false
            if case .breach(.contentCoding) = failure { isHopeless = file.isDecoded }
            guard policy.allows(breaks.failures), !isHopeless else {
                if case .breach(let breach) = failure { return .end(.contract(breach)) }
                return .end(.transfer(failure, attempts: breaks.failures))
            }
            return .pause(
                failures: breaks.count, retryAfter: retryAfter, failure,
                then: Question(extent: isRangeless ? .whole : .firstRange))
        }
    }

    /// Takes the server's offer for the next attempt.
    mutating func take(_ offered: RemoteFile) {
        // If the server serves ranges now, they continue the stream.
        if breaks.takeIsGoneOn(with: offered), offered.transfer != .segments {
            startOver = .streamBroken
        }
    }

    /// Returns whether to report now that the server ignores ranges, and resets that state.
    mutating func takeRangesIgnored(_ offered: RemoteFile) -> Bool {
        defer { wereRangesIgnored = false }
        return wereRangesIgnored && offered.transfer != .segments
    }

    // MARK: Changes of the remote file

    /// The step that follows a response with another version.
    enum Settlement: Sendable, Hashable {
        /// Continue with the offered version.
        case goOn
        /// Start over, with the version that all servers behind the address state.
        case startOver
        /// End with this error.
        case end(DownloadError.Reason)
    }

    /// Decides how to continue if a response has stated another version.
    ///
    /// If the server offers the previous version again, the download continues. Otherwise it starts
    /// over with the other version, at most ``restartLimit`` times. It ends if the part must not be
    /// discarded.
    mutating func settle(_ offered: RemoteIdentity, keepsPart: Bool) -> Settlement {
        guard let change else { return .goOn }
        let isAnother = change.before.obstacle(toContinuingWith: offered) != nil
        if !isAnother, takenBack < Self.takeBackLimit {
            takenBack += 1
            self.change = nil
            return .goOn
        }
        restarts += 1
        guard restarts <= Self.restartLimit, !keepsPart else {
            return .end(.remoteChanged(change.breach))
        }
        return .startOver
    }

    /// Requests the whole file in one response from now on, because servers behind one address
    /// disagree.
    ///
    /// The bytes of one response are of one version.
    mutating func distrustRanges() { isRangeless = true }

    /// Starts over if the offered version differs from the previous one.
    mutating func startOver(with offered: RemoteIdentity) {
        guard let change else { return }
        let isAnother = change.before.obstacle(toContinuingWith: offered) != nil
        startOver = isAnother ? .changedMidway : nil
        self.change = nil
    }

    /// Discards the existing part in the next attempt.
    mutating func startOver(because reason: StartOverReason) { startOver = reason }

    /// Records that a part is open; `hasStartedOver`: an earlier part was discarded.
    mutating func opened(hasStartedOver: Bool) {
        startOver = nil
        samples.opened()
        // The samples were of the discarded version.
        if hasStartedOver { samples = Samples() }
    }

    /// Forgets the behaviour of the previous server, because another server is the primary.
    mutating func turnToAnotherServer() {
        (startOver, change) = (nil, nil)
        (isUndated, isRangeless) = (false, false)
        (restarts, takenBack) = (0, 0)
        breaks = StreamBreaks()
    }
}

/// The results of comparing samples: bytes on the disk that were downloaded again.
struct Samples: Sendable {
    /// The generation of the part that is resumed because a sample of it matched.
    private(set) var generation: String?
    /// The dates that came with the same strong ETag, and for which a sample matched.
    private(set) var vouchedDates: Set<String> = []
    /// Those dates that first came during a fetch: the remote file may have changed in the
    /// meantime.
    private(set) var datesMidway: Set<String> = []
    /// Whether samples, not validators, show that all bytes are of one version.
    private(set) var areNeeded = false

    /// The generation of a part that was adopted from another program after a sample matched.
    private var adopted: String?

    /// Forgets the comparison of a part, because the next one may be another part.
    mutating func forgetPart() { generation = adopted }

    /// Records that a part is open; a later part is compared again, even if it was adopted.
    mutating func opened() { adopted = nil }

    /// Records that a part was adopted after a sample matched.
    ///
    /// `decides`: there is no other evidence that the part is of the same file.
    mutating func adopt(generation: String, decides: Bool) {
        (adopted, self.generation) = (generation, generation)
        areNeeded = areNeeded || decides
    }

    /// Records that a sample of a part matched; `date` is a differing date that is accepted now.
    mutating func agree(generation: String, date: String?) {
        self.generation = generation
        areNeeded = true
        if let date { vouchedDates.insert(date) }
    }

    /// Takes the dates for which a fetch has compared samples.
    mutating func take(_ dates: Set<String>) {
        datesMidway.formUnion(dates.subtracting(vouchedDates))
        areNeeded = areNeeded || !datesMidway.isEmpty
        vouchedDates.formUnion(dates)
    }
}

/// Counts how often in a row a single stream broke without progress.
private struct StreamBreaks: Sendable {
    /// The number of breaks; it determines the length of the pause.
    private(set) var count = 0
    /// The number of breaks that the server's limit did not cause; the retry policy limits it.
    private(set) var failures = 0
    private var reached: Int64 = 0
    /// The version whose stream has just broken, if bytes of it had arrived.
    private var broken: RemoteIdentity?

    /// Records that the stream of a version broke after `reached` bytes.
    mutating func note(_ version: RemoteIdentity, at reached: Int64, isSurplus: Bool) {
        if reached > self.reached { (failures, count) = (0, 0) }
        count += 1
        if !isSurplus { failures += 1 }
        self.reached = max(reached, self.reached)
        broken = reached > 0 ? version : nil
    }

    /// Returns whether a stream of the offered version has just broken; `true` only once for each
    /// break.
    fileprivate mutating func takeIsGoneOn(with offered: RemoteFile) -> Bool {
        defer { broken = nil }
        guard let broken else { return false }
        return broken.obstacle(toContinuingWith: offered.identity)?.change == nil
    }
}

extension Fetch.Outcome {
    /// Whether all bytes have arrived.
    var isComplete: Bool { if case .complete = self { true } else { false } }

    /// The error to report if the download ends after this outcome.
    var setback: DownloadError.Reason? {
        switch self {
        case .complete, .cancelled, .contradictsProbe: nil
        case .rangesIgnored: .contract(.wholeFileForRange)
        case .mayBePart: .contract(.contentRangeUnusable(nil))
        case .changed(let breach): .remoteChanged(breach)
        case .streamBroken(.breach(let breach), _, _): .contract(breach)
        case .streamBroken(let failure, _, _): .transfer(failure, attempts: 1)
        case .failed(let reason): reason
        }
    }

    /// The notice about this outcome; `nil` if there is none.
    var notice: DownloadNotice? {
        switch self {
        case .contradictsProbe: .headUnusable(Probe.contradicted)
        case .mayBePart: .replyRefused(.contentRangeUnusable(nil))
        case .complete, .cancelled, .rangesIgnored, .changed, .streamBroken, .failed: nil
        }
    }
}

extension StartOverReason {
    /// The change of the remote file that is the reason; `nil` for other reasons.
    var change: ContractBreach? {
        switch self {
        case .sizeChanged(let was, let now): .otherSize(expected: was, got: now)
        case .etagChanged(let was, let now): .otherETag(expected: was, got: now)
        case .lastModifiedChanged(let was, let now): .otherLastModified(expected: was, got: now)
        default: nil
        }
    }
}
