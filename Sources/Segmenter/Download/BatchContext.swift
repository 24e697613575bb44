import Assembler
import SegmenterRules
import SegmenterTransport

/// The services of a batch for one of its files.
struct BatchContext: Sendable {
    /// Waits for the file's turn, and returns the name that the batch assigns in the folder.
    ///
    /// The arguments are the suggested name, the URLs in full, and whether the suggested name may
    /// be used although it exists.
    let naming: @Sendable (FileTarget, [String], Bool) async throws(DownloadError.Reason) -> String
    /// Waits for the file's turn, and returns the name of an existing file to be skipped.
    ///
    /// That is the suggested name or, if earlier files of the list have it, the next numbered one.
    /// `nil` if no file has that name.
    let existing: @Sendable (FileTarget) async throws(DownloadError.Reason) -> String?
    let publisher: WholeFilePublisher
    let gate: any SegmentGate
    /// Whether the file starts like a single download, and already has a place at the gate.
    ///
    /// Such a file has mirrors, may be requested only once, or has an expected name that exists.
    let isBegun: Bool
    /// Records that one response has delivered the file; the argument is its size in bytes.
    let hasCome: @Sendable (Int) -> Void
    /// Records that all bytes of a file that was downloaded in segments have arrived.
    let isComplete: @Sendable () -> Void
    /// Records that such a file is nevertheless assembled like others, or downloaded again.
    let isDeclined: @Sendable () -> Void
    /// Records that a small file is published; the argument is the time to first byte.
    let isDone: @Sendable (BatchWidth.Wait?) -> Void
    /// Calls the argument when it is the file's turn to choose a name.
    let whenDue: @Sendable (@escaping @Sendable () -> Void) -> Void
    /// Gives up the file's slot for at least `delay` seconds, because the origin refuses the file.
    ///
    /// Returns when the file has a slot again, or after cancellation.
    let stepAside: @Sendable (_ origin: String, _ delay: Double, _ isDemanded: Bool) async -> Void
    /// The set whose files share each host's connections; `nil` if each file has its own.
    let set: Fetch.FileSet?
    /// The folders that the batch creates.
    let folders: MadeFolders
    /// Assigns the name like `naming`, but must be called in the file's turn; blocks.
    let claim: @Sendable (FileTarget, [String], Bool) throws(AssemblyError) -> String
}

/// Limits how many files are downloaded in segments at a time.
protocol SegmentGate: Sendable {
    /// Takes a place if one is free; returns whether it did.
    func tryEnter() -> Bool
    /// Waits for a place.
    ///
    /// - Returns: Whether the file has a place; `false` after cancellation.
    func enter() async -> Bool
    /// Releases a place.
    func leave()
}

/// The place of one file at the gate of its batch.
final class GatePlace: Sendable {
    private let gate: any SegmentGate
    private let hasEntered: Monitor<Bool>

    /// Creates the place of a file of a list.
    init(_ batch: BatchContext) {
        gate = batch.gate
        hasEntered = Monitor(batch.isBegun)
    }

    /// Waits until the file may be downloaded in segments.
    ///
    /// - Throws: `cancelled`.
    func enter(_ finding: inout Probe.Finding) async throws(DownloadError.Reason) {
        guard !hasEntered.withLock({ $0 }) else { return }
        if !gate.tryEnter() {
            if let reply = finding.firstReply, reply.end == nil {
                // No connection stays open while the file waits: the rest is requested again.
                finding.firstReply = reply.body.isEmpty ? nil : reply.released
            }
            guard await gate.enter() else { throw .cancelled }
        }
        hasEntered.withLock { $0 = true }
    }

    /// Releases the place, if the file has one, while `body` runs, and waits for a place
    /// afterwards.
    func leaving(_ body: () async -> Void) async {
        let hadEntered = leave()
        await body()
        guard hadEntered, await gate.enter() else { return }
        hasEntered.withLock { $0 = true }
    }

    /// Waits for a place again, because the complete file has to be downloaded again.
    func enterAgain() async {
        guard await gate.enter() else { return }
        hasEntered.withLock { $0 = true }
    }

    /// Releases the place.
    ///
    /// - Returns: Whether the file had a place.
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
