import Assembler

/// What earlier attempts of a download have shown, and what is to be done after the next outcome.
///
/// Knows how fetches ended and what the server said in between, and bounds how often that may go on without
/// a byte of the file; never a clock, a socket or a file.
///
/// Pure.
struct Attempts: Sendable {
    /// Times that a download starts over because the remote file changed.
    static let restartLimit = 1
    /// Times in a row, without a byte of the file between them, that a server may take back what would have
    /// cost what is there.
    static let takeBackLimit = 3

    /// What is to be done after an outcome.
    enum Step: Sendable, Hashable {
        /// Give the complete file of `size` bytes its name; `isChecked`: it was just asked whether it is
        /// still the server's.
        case publish(size: Int64, isChecked: Bool)
        /// Ask once more for the date of the complete file, some of whose bytes came without it.
        case askForDate
        /// Ask what the server offers.
        case find(Question)
        /// Pause as after so many failures in a row, and then ask.
        case pause(failures: Int, retryAfter: Double?, TransferFailure, then: Question)
        /// Give up.
        case end(DownloadError.Reason)
    }

    /// What the server is asked when another attempt is due.
    struct Question: Sendable, Hashable {
        /// How much of the file is asked for.
        enum Extent: Sendable, Hashable { case firstByte, firstRange, whole }
        /// What was found before, and what it counts for.
        enum Earlier: Sendable, Hashable {
            /// Nothing of it counts.
            case forgotten
            /// It is the version that is being fetched.
            case version
            /// It is that, and what `HEAD` said is held against what `GET` says.
            case hint
        }

        var extent: Extent
        var earlier = Earlier.version
        /// Whether the server has sent nothing of the file yet: it is not asked for long.
        var isBeginning = false
    }

    /// Why an earlier part is to be thrown away, decided by what was seen.
    private(set) var startOver: StartOverReason?
    /// What samples of the bytes have shown.
    var samples = Samples()
    /// Whether the server has stated several versions.
    private(set) var isDoubted = false
    /// Whether its first ranges contradicted what it had stated.
    private(set) var hasContradicted = false
    /// Whether the file is asked for whole from now on.
    private(set) var isRangeless = false
    /// What broke the attempt before.
    private(set) var setback: DownloadError.Reason?
    /// Bytes that have come in all attempts.
    private(set) var received: Int64 = 0
    /// Whether ranges came without the date that the version is known by.
    private var isUndated = false
    /// Whether the last fetch ended because ranges were ignored.
    private var wereRangesIgnored = false
    private var restarts = 0
    private var takenBack = 0
    /// The version that was being fetched when a reply stated another, and what it stated.
    private var change: (before: RemoteIdentity, breach: ContractBreach)?
    private var breaks = StreamBreaks()

    /// Takes how a fetch ended, and says what is next.
    ///
    /// - Parameters:
    ///   - outcome: How it ended.
    ///   - file: What was fetched.
    ///   - received: Bytes that have come in all attempts so far.
    ///   - policy: How often a stream may break without progress.
    ///   - isSurplus: Whether the request was one more than the server serves at a time.
    ///   - isDateConfirmed: Whether it was asked for the date meanwhile, and stated it.
    /// - Returns: What is to be done.
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
            // One that serves the first range only is not believed for ever.
            isRangeless = takenBack >= Self.takeBackLimit
            takenBack += 1
            return .find(Question(extent: isRangeless ? .whole : .firstByte))
        case .changed(let breach):
            isDoubted = true
            // Who does so from the start may take it back less often.
            if hasContradicted { takenBack += 1 }
            change = (file.identity, breach)
            // Where ranges do not state their version, another one is fetched in one reply.
            isRangeless = isUndated
            return .find(Question(extent: isRangeless ? .whole : .firstRange))
        case .streamBroken(let failure, let retryAfter, let reached):
            breaks.note(file.identity, at: reached, isSurplus: isSurplus)
            // What cannot be decoded is the same again.
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

    /// Takes what the server offers for the next attempt.
    mutating func take(_ offered: RemoteFile) {
        // Ranges continue a stream where they are served by now.
        if breaks.takeIsGoneOn(with: offered), offered.transfer != .segments {
            startOver = .streamBroken
        }
    }

    /// Whether it is to be reported now that the server ignores ranges.
    mutating func takeRangesIgnored(_ offered: RemoteFile) -> Bool {
        defer { wereRangesIgnored = false }
        return wereRangesIgnored && offered.transfer != .segments
    }

    // MARK: Changes

    /// What is to be done after a reply that stated another version.
    enum Settlement: Sendable, Hashable {
        /// Go on with what was found.
        case goOn
        /// Start over, with what all servers behind the address agree on.
        case startOver
        /// Give up.
        case end(DownloadError.Reason)
    }

    /// Decides how to go on after a change, when there was one: with the version that was begun if it is
    /// offered again, else with the other one, once; with none where what is there must not be thrown away.
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

    /// Several servers behind one address disagree: what one of them sends in one reply is one version.
    mutating func distrustRanges() { isRangeless = true }

    /// Starts over with what is offered now, if that is another version than the one that was begun.
    mutating func startOver(with offered: RemoteIdentity) {
        guard let change else { return }
        let isAnother = change.before.obstacle(toContinuingWith: offered) != nil
        startOver = isAnother ? .changedMidway : nil
        self.change = nil
    }

    /// Has the next attempt throw away what is there.
    mutating func startOver(because reason: StartOverReason) { startOver = reason }

    /// A part is open; `hasStartedOver` says whether an earlier one was thrown away.
    mutating func opened(hasStartedOver: Bool) {
        startOver = nil
        samples.opened()
        // What was compared was of another version.
        if hasStartedOver { samples = Samples() }
    }

    /// Another server is the primary: what the one before has done does not count for it.
    mutating func turnToAnotherServer() {
        (startOver, change) = (nil, nil)
        (isUndated, isRangeless) = (false, false)
        (restarts, takenBack) = (0, 0)
        breaks = StreamBreaks()
    }
}

/// What samples have shown, that is bytes which were fetched again and compared with what is there.
struct Samples: Sendable {
    /// The generation of a part that is continued because a sample of it was the same.
    private(set) var generation: String?
    /// Dates with which the same strong tag came, and a sample was the same.
    private(set) var vouchedDates: Set<String> = []
    /// Those of them that came midway: the file may have been written into while it was fetched.
    private(set) var datesMidway: Set<String> = []
    /// Whether a sample, and not the validator, holds the file together.
    private(set) var areNeeded = false

    /// The generation of a part that was taken over from another program, as a sample of it was the same.
    private var adopted: String?

    /// Forgets what was compared of a part: it may be another one by now.
    mutating func forgetPart() { generation = adopted }

    /// A part is open: should it be opened again, it is compared again.
    mutating func opened() { adopted = nil }

    /// A part was taken over after a sample of it was the same; `decides`: nothing else shows that it is of the
    /// same file.
    mutating func adopt(generation: String, decides: Bool) {
        (adopted, self.generation) = (generation, generation)
        areNeeded = areNeeded || decides
    }

    /// A sample of a part was the same; `date` is the one that is not doubted any more.
    mutating func agree(generation: String, date: String?) {
        self.generation = generation
        areNeeded = true
        if let date { vouchedDates.insert(date) }
    }

    /// Takes dates for which a fetch has compared samples.
    mutating func take(_ dates: Set<String>) {
        datesMidway.formUnion(dates.subtracting(vouchedDates))
        areNeeded = areNeeded || !datesMidway.isEmpty
        vouchedDates.formUnion(dates)
    }
}

/// How often in a row a single stream broke without getting further.
private struct StreamBreaks: Sendable {
    /// They lengthen the pause.
    private(set) var count = 0
    /// Those of them that were not over the server's limit: they are bounded.
    private(set) var failures = 0
    private var reached: Int64 = 0
    /// The version whose stream has just broken, when anything of it had come.
    private var broken: RemoteIdentity?

    /// The stream of a version broke after `reached` bytes.
    mutating func note(_ version: RemoteIdentity, at reached: Int64, isSurplus: Bool) {
        if reached > self.reached { (failures, count) = (0, 0) }
        count += 1
        if !isSurplus { failures += 1 }
        self.reached = max(reached, self.reached)
        broken = reached > 0 ? version : nil
    }

    /// Whether a stream has just broken of the version that is offered now; says so once.
    mutating func takeIsGoneOn(with offered: RemoteFile) -> Bool {
        defer { broken = nil }
        guard let broken else { return false }
        return broken.obstacle(toContinuingWith: offered.identity)?.change == nil
    }
}

extension Fetch.Outcome {
    /// Whether all bytes have come.
    var isComplete: Bool { if case .complete = self { true } else { false } }

    /// What to say when the download cannot go on after this.
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

    /// What is reported of it.
    var notice: DownloadNotice? {
        switch self {
        case .contradictsProbe: .headUnusable(Probe.contradicted)
        case .mayBePart: .replyRefused(.contentRangeUnusable(nil))
        case .complete, .cancelled, .rangesIgnored, .changed, .streamBroken, .failed: nil
        }
    }
}

extension StartOverReason {
    /// The change of the remote file that is in the way; `nil` when it is something else.
    var change: ContractBreach? {
        switch self {
        case .sizeChanged(let was, let now): .otherSize(expected: was, got: now)
        case .etagChanged(let was, let now): .otherETag(expected: was, got: now)
        case .lastModifiedChanged(let was, let now): .otherLastModified(expected: was, got: now)
        default: nil
        }
    }
}
