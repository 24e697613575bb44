package import Assembler
package import SegmenterValues

/// The downloads of what the Hub's cache lacks of a snapshot, which other processes may download at
/// the same time.
///
/// The caller waits for the files that others are downloading, and then downloads those that are
/// still missing. May be used from any thread, by one caller; the methods block on the disk.
package final class HubFetch: Sendable {
    /// The next thing to do.
    package enum Step: Sendable {
        /// Download what the set lacks, then call ``HubFetch/end(_:isStopped:)``.
        case download(HubTurn)
        /// Wait for ``HubFetch/pause``: other processes are downloading all files that are missing.
        ///
        /// Carries their number, and one of the processes if it is known.
        case wait(Int, LockHolder?)
        /// Nothing is missing but files that have failed.
        case done
    }

    private struct State {
        var missing: [String]
        /// Whether copied bytes were wrong, so that no more are copied.
        var hasCopiedWrong = false
    }

    /// The time between two looks at the cache while others download.
    package static let pause = Duration.seconds(1)

    private let snapshot: HubSnapshot
    private let hub: HubAccess
    private let describe: @Sendable (DownloadError) -> SetFailure
    private let state: Monitor<State>

    /// Begins.
    ///
    /// - Parameters:
    ///   - missing: The names of the missing blobs.
    ///   - snapshot: The snapshot.
    ///   - hub: The Hugging Face Hub and its token.
    ///   - describe: Returns how a failure is recorded; called on any thread.
    package init(
        _ missing: [String], of snapshot: HubSnapshot, from hub: HubAccess,
        describe: @escaping @Sendable (DownloadError) -> SetFailure
    ) {
        (self.snapshot, self.hub, self.describe) = (snapshot, hub, describe)
        state = Monitor(State(missing: missing))
    }

    /// Decides what to do next.
    ///
    /// - Parameter isCancelled: Called repeatedly; returns whether to stop.
    /// - Returns: The step.
    /// - Throws: `SetError`.
    package func next(isCancelled: () -> Bool) throws(SetError) -> Step {
        while !isCancelled() {
            let (names, copies) = state.withLock { ($0.missing, !$0.hasCopiedWrong) }
            let missing = snapshot.missing(of: names)
            state.withLock { $0.missing = missing }
            guard !missing.isEmpty else { break }
            if let run = try snapshot.claim(missing, copiesLeftovers: copies) {
                return .download(try HubTurn(run, hub, describe))
            }
            let others = snapshot.others(downloading: missing)
            if !others.isAnyFree { return .wait(missing.count, others.holder) }
        }
        return .done
    }

    /// Ends a turn, whose set is closed.
    ///
    /// - Parameters:
    ///   - turn: The turn.
    ///   - isStopped: Whether the download was stopped.
    /// - Throws: The first error of a delivery to the cache.
    package func end(_ turn: HubTurn, isStopped: Bool) throws(SetError) {
        let (isComplete, again) = turn.result
        let names = (0..<turn.set.plan.count).compactMap { try? turn.set.plan.file(at: $0).path }
        // Failed blobs are not tried again, unless copied bytes may be to blame.
        let own = Set(names).subtracting(again)
        state.withLock { state in
            state.missing.removeAll { own.contains($0) }
            state.hasCopiedWrong = state.hasCopiedWrong || !again.isEmpty
        }
        try turn.run.end(isComplete: isComplete && !isStopped)
    }
}

/// The download of the blobs that a run has claimed.
///
/// May be used from any thread.
package final class HubTurn: Sendable {
    private struct State {
        var isComplete = true
        var again: Set<String> = []
    }

    /// The set of these blobs.
    package let set: SetFolder
    /// The files that the set lacks.
    package let work: SetWork
    fileprivate let run: HubRun
    private let state = Monitor(State())

    fileprivate init(
        _ run: HubRun, _ hub: HubAccess,
        _ describe: @escaping @Sendable (DownloadError) -> SetFailure
    ) throws(SetError) {
        self.run = run
        do throws(SetError) {
            set = try SetFolder(run, hub: hub, describe: describe)
            work = try set.examine()
        } catch {
            try? run.end(isComplete: false)
            throw error
        }
    }

    /// Returns the name of the blob that a file of the batch is; `nil` if the plan is not readable.
    package func blob(_ index: Int) -> String? {
        try? set.plan.file(at: Int(work.files[index])).path
    }

    /// Notes that a file of the batch has failed.
    ///
    /// - Parameters:
    ///   - index: The index of the file in the batch.
    ///   - isWrong: Whether its bytes were not those of the planned file.
    /// - Returns: Whether it is downloaded again, from the first byte, because copied bytes of it may
    ///   have been wrong.
    package func failed(_ index: Int, isWrong: Bool) -> Bool {
        let name = isWrong ? blob(index) : nil
        let again = name.flatMap { run.copied.contains($0) ? $0 : nil }
        state.withLock { state in
            state.isComplete = false
            if let again { state.again.insert(again) }
        }
        return again != nil
    }

    /// Whether all files were downloaded; and the blobs to download again.
    fileprivate var result: (isComplete: Bool, again: Set<String>) {
        state.withLock { ($0.isComplete, $0.again) }
    }
}
