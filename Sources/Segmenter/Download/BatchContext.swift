import Assembler

/// What a batch does for its files.
struct BatchContext: Sendable {
    /// Chooses the name in the folder, from the one that is suggested, the full URLs, and whether that one is
    /// taken although something stands there.
    let naming: @Sendable (FileTarget, [String], Bool) async throws(DownloadError.Reason) -> String
    /// Takes the name that is suggested, or the next number of it that no earlier file has, if a file of that
    /// name exists; `nil` where none does.
    let existing: @Sendable (FileTarget) async throws(DownloadError.Reason) -> String?
    let publisher: WholeFilePublisher
    let gate: any SegmentGate
    /// Whether it is begun like any other file, with a place at the gate that it has already: it has
    /// mirrors, may be requested once only, or something stands at the names that are to be expected.
    let isBegun: Bool
    /// Notes that one request has brought the file, of so many bytes.
    let hasCome: @Sendable (Int) -> Void
    /// Notes that it goes the way of others nevertheless.
    let isDeclined: @Sendable () -> Void
    /// Notes that it is done; takes the time to first byte of replies.
    let isDone: @Sendable (BatchWidth.Wait?) -> Void
    /// Runs what chooses a name when the turn of the file has come.
    let whenDue: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Gives up the slot of the file, which the server of this origin refuses, for so many seconds at least; returns
    /// with a slot, when it may be served, or after cancelling.
    let stepAside: @Sendable (_ origin: String, _ delay: Double) async -> Void
    /// The folders that the batch makes.
    let folders: MadeFolders
    /// The same, where it is the file's turn; blocks.
    let claim: @Sendable (FileTarget, [String], Bool) throws(AssemblyError) -> String
}

/// Lets so many files be fetched in segments at a time.
protocol SegmentGate: Sendable {
    /// Takes a place, if one is free.
    func tryEnter() -> Bool
    /// Waits for a place.
    ///
    /// - Returns: Whether there is one; not after cancelling.
    func enter() async -> Bool
    /// Gives a place back.
    func leave()
}

/// The place of one file at its batch's gate.
final class GatePlace: Sendable {
    private let gate: any SegmentGate
    private let hasEntered: Monitor<Bool>

    /// Creates the place of a file of a list.
    init(_ batch: BatchContext) {
        gate = batch.gate
        hasEntered = Monitor(batch.isBegun)
    }

    /// Waits until the file may be fetched in segments.
    ///
    /// - Throws: `cancelled`.
    func enter(_ finding: inout Probe.Finding) async throws(DownloadError.Reason) {
        guard !hasEntered.withLock({ $0 }) else { return }
        if !gate.tryEnter() {
            if let reply = finding.firstReply, reply.end == nil {
                // No connection waits for other files: the rest is asked for again.
                finding.firstReply = reply.body.isEmpty ? nil : reply.released
            }
            guard await gate.enter() else { throw .cancelled }
        }
        hasEntered.withLock { $0 = true }
    }

    /// Has others take the place, where there is one, as long as `body` takes, and takes one again.
    func leaving(_ body: () async -> Void) async {
        let hadEntered = leave()
        await body()
        guard hadEntered, await gate.enter() else { return }
        hasEntered.withLock { $0 = true }
    }

    /// Gives the place back.
    ///
    /// - Returns: Whether there was one.
    @discardableResult
    func leave() -> Bool {
        let hadEntered = hasEntered.withLock { hasEntered in
            defer { hasEntered = false }
            return hasEntered
        }
        if hadEntered { gate.leave() }
        return hadEntered
    }
}
