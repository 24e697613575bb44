import Assembler
import SegmenterValues

/// The finishing of a fleet by this process, which waits for its turn.
///
/// Any thread may use it.
public final class FleetFinishing: Sendable {
    /// How the finishing has ended.
    public enum Ending: Sendable {
        /// It was done; the result says what is complete.
        case ended(FleetFinish.Result)
        /// Another process is finishing the fleet, or the process was asked to end.
        case again
    }

    /// Where the files of the fleet are put.
    public enum Place: Sendable {
        /// The folder with this path.
        case folder(String)
        /// The Hub's cache with this path.
        case cache(String)
    }

    private let fleet: Fleet
    private let place: Place
    private let hub: HubAccess?
    private let loop: FleetLoop
    private let result = Monitor<FleetFinish.Result?>(nil)

    /// Creates a finishing.
    ///
    /// - Parameters:
    ///   - fleet: The fleet.
    ///   - place: Where the files are put.
    ///   - hub: The Hugging Face Hub, for a plan of this source; `nil` for any other.
    ///   - report: Called with what happens, one call at a time.
    public init(
        _ fleet: Fleet, to place: Place, hub: HubAccess? = nil,
        report: @escaping @Sendable (FleetRun.Report) async -> Void
    ) {
        (self.fleet, self.place, self.hub) = (fleet, place, hub)
        loop = FleetLoop(fleet, report)
    }

    /// Asks the finishing to end; returns immediately.
    public func interrupt() { loop.interrupt() }

    /// Finishes.
    ///
    /// - Returns: How it has ended.
    /// - Throws: `FleetError`.
    public func callAsFunction() async throws(FleetError) -> Ending {
        _ = try await loop([FleetMark.finish], isIndexed: false) { _, _ in
        } begin: { (shard, attempt, _) async throws(FleetError) in
            try await finish(attempt)
            // The next finishing may begin at once.
            return .stopped
        }
        return result.withLock { $0 }.map(Ending.ended) ?? .again
    }

    private func finish(_ attempt: Int) async throws(FleetError) {
        let beats = Task { [fleet] in
            var count: Int64 = 0
            while !Task.isCancelled {
                count += 1
                let beat = FleetBeat(bytes: count, complete: 0, files: 0, rate: 0, at: 0)
                await offLoop("fleet") { () throws(Never) in
                    fleet.beat(FleetMark.finish, attempt, beat)
                }
                try? await Task.sleep(for: .seconds(FleetRun.interval))
            }
        }
        defer { beats.cancel() }
        let found = try await offLoop("finish") { [self] () throws(FleetError) in
            fleet.makeFolder(FleetMark.finish, attempt)
            let target: any FleetDestination =
                switch place {
                case .folder(let path): try FleetFolder(fleet, path, hub: hub)
                case .cache(let path): try FleetCache(fleet, path)
                }
            let finish = FleetFinish(
                fleet, to: target, attempt: attempt,
                isCancelled: { self.loop.isInterrupted })
            let result = try finish()
            if result.isComplete { fleet.removeWork() }
            return result
        }
        result.withLock { $0 = found }
    }
}

extension Fleet {
    /// Creates the folder of an attempt.
    func makeFolder(_ shard: Int, _ attempt: Int) {
        try? MadeFolders().make(folder(shard, attempt), .made)
    }

    /// Removes what all attempts have downloaded, because it is in its place.
    func removeWork() {
        guard let folder = try? Folder("\(path)/\(FleetFormat.work)") else { return }
        for name in folder.entryNames { folder.removeAll(name) }
    }
}
