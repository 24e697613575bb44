import Assembler
import Glibc
import SegmenterRules
public import SegmenterValues

/// A worker of a fleet: it claims shards, downloads them and marks what has become of them.
///
/// Any thread may use it.
public final class FleetRun: Sendable {
    /// Something to report.
    public enum Report: Sendable {
        /// A shard is downloaded; its set, and what is to be done, are known.
        case began(Began)
        /// An event of a file; its index is one of ``SetWork/files``, as the shard began.
        case event(BatchEvent)
        /// The shard is complete, or the worker gives it up.
        case ended(shard: Int, End)
        /// Another process works on a shard of this worker, which waits; `nil` for the finishing.
        case waits(shard: Int?, process: String?)
        /// A file of the fleet cannot be read or written now; it is tried again.
        case disturbed(FleetError)
    }

    /// The begin of a shard.
    public struct Began: Sendable {
        /// The number of the shard, from 0.
        public var shard: Int
        /// The number of the attempt, from 1.
        public var attempt: Int
        /// The files that are missing; `nil` if there are none.
        public var set: SetFolder?
        /// The steps that remain for the set.
        public var work: SetWork
        /// The number of files, and their bytes, that earlier attempts have completed.
        public var earlier: (files: Int, bytes: Int64)
        /// The bytes of all files of the shard, as far as known.
        public var size: Int64
        /// The bytes of the files that are ranges of remote files, by the paths of the files.
        public var ranges: [String: ByteRange] = [:]
    }

    /// How a shard has ended for this worker.
    public enum End: Sendable, Hashable {
        case complete
        /// The process was asked to end, or another one has taken over.
        case stopped(isReplaced: Bool)
        /// A later attempt may succeed.
        case left
        case failed
    }

    /// The result of a run.
    public enum Ending: Sendable, Hashable {
        /// All shards of the worker are complete, or others work on them.
        case done
        /// It is to be run again: the network, a limit of a host, or a signal has ended it.
        case again
        /// A shard has failed for good.
        case failed(code: Int32, message: String)
    }

    /// How a failed file is recorded, and whether it may succeed later.
    public struct Failure: Sendable {
        /// The record.
        public var record: SetFailure
        /// Whether it may succeed later.
        public var maySucceedLater: Bool

        /// Creates a failure.
        public init(_ record: SetFailure, maySucceedLater: Bool) {
            (self.record, self.maySucceedLater) = (record, maySucceedLater)
        }
    }

    private struct State {
        var batch: DownloadBatch?
        var input: AsyncStream<Input>.Continuation?
    }

    /// An event for which the download of a shard waits.
    private enum Input: Sendable {
        case events([BatchEvent])
        case ended
        case tick
    }

    /// The seconds between two looks at the marks, and between two records of progress.
    static let interval = 20.0
    /// The runs of a shard in which nothing arrived, before the worker leaves it to others.
    private static let passes = 3

    private let fleet: Fleet
    private let shards: [Int]
    private let isIndexed: Bool
    private let session: DownloadSession
    private let options: DownloadOptions
    private let hub: HubAccess?
    private let jobs: Int?
    private let describe: @Sendable (DownloadError) -> Failure
    private let report: @Sendable (Report) async -> Void
    private let state = Monitor(State())
    private let budget: FleetBudget
    private let loop: FleetLoop

    /// Creates a worker.
    ///
    /// - Parameters:
    ///   - fleet: The fleet.
    ///   - shards: The shards that it may work on, in the order of its choice.
    ///   - isIndexed: Whether the caller has assigned them to this worker.
    ///   - session: Downloads the files.
    ///   - options: The options of all files.
    ///   - hub: The Hugging Face Hub and its token; `nil` for none.
    ///   - jobs: The number of files to download at a time; `nil` as for lists.
    ///   - workers: The number of workers that the caller starts; 1 if it is not known.
    ///   - describe: Returns how a failure is recorded; called on any thread.
    ///   - report: Called with what happens, one call at a time.
    public init(
        _ fleet: Fleet, shards: [Int], isIndexed: Bool, session: DownloadSession,
        options: DownloadOptions, hub: HubAccess? = nil, jobs: Int? = nil, workers: Int = 1,
        describe: @escaping @Sendable (DownloadError) -> Failure,
        report: @escaping @Sendable (Report) async -> Void
    ) {
        (self.fleet, self.shards, self.isIndexed) = (fleet, shards, isIndexed)
        var options = options
        // A worker of another user may continue them.
        options.files.opensParts = true
        (self.session, self.options, self.hub, self.jobs) = (session, options, hub, jobs)
        (self.describe, self.report) = (describe, report)
        budget = FleetBudget(fleet, session, workers: workers)
        loop = FleetLoop(fleet, report)
    }

    /// Asks the run to end; returns immediately.
    public func interrupt() {
        loop.interrupt()
        let batch = state.withLock { state in
            state.input?.yield(.tick)
            return state.batch
        }
        batch?.cancel()
    }

    private var isInterrupted: Bool { loop.isInterrupted }

    /// Works until nothing is left to do.
    ///
    /// - Returns: How the run has ended.
    /// - Throws: `FleetError`, if a file of the fleet could not be read or written in several attempts.
    public func callAsFunction() async throws(FleetError) -> Ending {
        let ending = try await loop(shards, isIndexed: isIndexed) { [details] mark, claim in
            let (cause, sources) = details.withLock { $0 }
            switch mark.kind {
            case .failed, .left:
                (claim.code, claim.kind) = (cause?.code, cause?.kind)
                claim.message = cause?.message
            case .done: claim.sources = sources
            case .claim, .void: break
            }
        } begin: { (shard, attempt, worker) async throws(FleetError) in
            try await download(shard, attempt, &worker)
        }
        switch ending {
        case .done: return .done
        case .again: return .again
        case .failed(let shard):
            let claim = try await loop.patiently { [fleet] () throws(FleetError) -> FleetClaim? in
                guard let last = try fleet.board().attempts(at: shard, marked: .failed).first else {
                    return nil
                }
                return fleet.claim(FleetMark(shard, last, .failed))
            }
            return .failed(
                code: claim?.code ?? 69, message: claim?.message ?? "shard \(shard) has failed")
        }
    }

    // MARK: A shard

    private let details = Monitor<(cause: SetFailure?, sources: [Int])>((nil, []))
    private var cause: SetFailure? { details.withLock { $0.cause } }

    /// Downloads a shard; if records could not be written, reads its files and records them again.
    private func download(
        _ shard: Int, _ attempt: Int, _ worker: inout FleetWorker, round: Int = 1
    ) async throws(FleetError) -> FleetWorker.Outcome {
        let own = try await loop.patiently { [fleet, hub, describe] () throws(FleetError) in
            try FleetAttempt(shard, attempt, of: fleet, hub: hub) { describe($0).record }
        }
        details.withLock { $0 = (nil, own.sources) }
        var began = Began(
            shard: shard, attempt: attempt, set: own.set, work: SetWork(), earlier: own.earlier,
            size: own.size, ranges: own.ranges)
        guard let set = own.set else {
            await report(.began(began))
            await report(.ended(shard: shard, .complete))
            return .complete
        }
        var progress = Progress(own)
        var passes = 0
        var outcome = FleetWorker.Outcome.temporary
        while true {
            let work: SetWork
            do throws(SetError) {
                work = try await offLoop("set") { [self] () throws(SetError) in
                    try set.examine { isInterrupted }
                }
            } catch {
                set.close()
                throw FleetError(error)
            }
            if passes == 0 {
                began.work = work
                await report(.began(began))
            }
            let before = progress.received
            outcome = await pass(set, work, &progress, &worker)
            guard outcome == .temporary else { break }
            passes = progress.received > before ? 1 : passes + 1
            guard passes < Self.passes, cause?.kind != "no_space" else { break }
            await loop.rest(Double(passes) * 10)
            if isInterrupted { break }
        }
        if isInterrupted, outcome == .temporary { outcome = .stopped }
        let problem = await offLoop("set") { () throws(Never) in set.close() }
        if let problem {
            await report(.disturbed(.assembly(problem)))
            // Without its records, the shard is not known to be complete.
            if outcome == .complete {
                if round < Self.passes, !isInterrupted {
                    await loop.rest(Double(round) * 2)
                    return try await download(shard, attempt, &worker, round: round + 1)
                }
                outcome = .temporary
            }
        }
        await beat(progress)
        switch outcome {
        case .complete: await report(.ended(shard: shard, .complete))
        case .stopped:
            await report(.ended(shard: shard, .stopped(isReplaced: !isInterrupted)))
        case .temporary: await report(.ended(shard: shard, .left))
        case .failed: await report(.ended(shard: shard, .failed))
        }
        return outcome
    }

    /// The progress of an attempt.
    private struct Progress {
        let shard: Int
        let attempt: Int
        let set: SetFolder
        let earlier: (files: Int, bytes: Int64)
        /// The bytes that ended files have received.
        var ended: Int64 = 0
        /// The files of the pass: their indices in the plan.
        private(set) var files: [UInt32] = []
        /// The position of each file among those of the first pass, by its index in the plan.
        private var places: [UInt32: Int] = [:]
        /// The bytes that each incomplete file has received since it began, and those that it has, by
        /// its index in the plan.
        var parts: [UInt32: (received: Int64, done: Int64)] = [:]
        var meter = RateMeter()

        init(_ own: FleetAttempt) {
            guard let set = own.set else { preconditionFailure("nothing is missing") }
            (shard, attempt, self.set, earlier) = (own.shard, own.attempt, set, own.earlier)
        }

        mutating func begin(_ files: [UInt32]) {
            self.files = files
            for file in files where places[file] == nil { places[file] = places.count }
        }

        /// Returns the event with the index that its file had in the first pass.
        func asFirst(_ event: BatchEvent) -> BatchEvent {
            BatchEvent(index: places[files[event.index]] ?? event.index, kind: event.kind)
        }

        var received: Int64 { ended + parts.values.reduce(0) { $0 + $1.received } }

        mutating func take(_ event: BatchEvent) {
            switch event.kind {
            case .event(.progress(let progress)):
                parts[files[event.index]] = (
                    progress.bytesReceived, progress.bytesDone + progress.bytesVerifying
                )
            case .ended(let result):
                let last = parts.removeValue(forKey: files[event.index])
                ended += (try? result.get().bytesReceived) ?? last?.received ?? 0
                // The part of a file that failed, or was stopped, remains.
                if case .failure = result, let last {
                    parts[files[event.index]] = (received: 0, done: last.done)
                }
            default: break
            }
        }

        mutating func beat() -> FleetBeat {
            let figures = set.figures
            let rate = meter.rate(bytes: received, now: monotonicSeconds())
            return FleetBeat(
                bytes: received,
                complete: earlier.bytes + figures.bytesComplete
                    + parts.values.reduce(0) { $0 + $1.done },
                files: earlier.files + figures.complete, rate: Int64(rate), at: Int64(time(nil)))
        }
    }

    private func beat(_ progress: Progress) async {
        var progress = progress
        let beat = progress.beat()
        let (shard, attempt) = (progress.shard, progress.attempt)
        await offLoop("fleet") { [fleet] () throws(Never) in fleet.beat(shard, attempt, beat) }
    }

    /// Downloads the missing files of a shard once.
    private func pass(
        _ set: SetFolder, _ work: SetWork, _ progress: inout Progress,
        _ worker: inout FleetWorker
    ) async -> FleetWorker.Outcome {
        guard !work.isCancelled else { return .stopped }
        progress.begin(work.files)
        await budget.apply()
        let batch = session.start(set, work, options: options, jobs: jobs)
        let (inputs, input) = AsyncStream.makeStream(of: Input.self)
        state.withLock { ($0.batch, $0.input) = (batch, input) }
        if isInterrupted { batch.cancel() }
        let events = Task {
            for await group in batch.eventGroups { input.yield(.events(group)) }
            input.yield(.ended)
        }
        let ticks = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(Self.interval))
                input.yield(.tick)
            }
        }
        defer {
            ticks.cancel()
            events.cancel()
            state.withLock { ($0.batch, $0.input) = (nil, nil) }
        }
        var failures = Failures()
        var lastLook = monotonicSeconds()
        await beat(progress)
        loop: for await input in inputs {
            switch input {
            case .ended: break loop
            case .tick: break
            case .events(let group):
                for event in group {
                    progress.take(event)
                    if budget.take(event) { await budget.apply() }
                    if case .ended(.failure(let error)) = event.kind { note(error, &failures) }
                    await report(.event(progress.asFirst(event)))
                }
                guard monotonicSeconds() - lastLook >= Self.interval else { continue }
            }
            if isInterrupted {
                _ = worker.take(.interrupted)
                continue
            }
            lastLook = monotonicSeconds()
            let next = progress.beat()
            let (shard, attempt) = (progress.shard, progress.attempt)
            // A folder that cannot be read now shows no later attempt.
            let board = await offLoop("fleet") { [fleet] () throws(Never) in
                fleet.beat(shard, attempt, next)
                return try? fleet.board()
            }
            await budget.apply()
            guard let board else { continue }
            if worker.take(.looked(board, [:], now: lastLook)) == .stop { batch.cancel() }
        }
        await batch.wait()
        if var final = failures.final {
            if let address = await address(of: failures.url) { final.message += address }
            details.withLock { [final] in $0.cause = final }
            return .failed
        }
        let figures = set.figures
        if figures.complete == figures.files { return .complete }
        if failures.isStopped || failures.later == nil { return .stopped }
        details.withLock { $0.cause = failures.later }
        return .temporary
    }

    /// The failures of a pass.
    private struct Failures {
        /// The first failure that is final, and the URL of its file.
        var final: SetFailure?
        var url = ""
        /// The first failure that may pass.
        var later: SetFailure?
        var isStopped = false
    }

    /// Returns the words for the address of a URL's server, as this machine reaches it.
    private func address(of url: String) async -> String? {
        guard let origin = WebURL(url)?.origin, let address = await session.lastAddress(of: origin),
            !origin.contains(address)
        else { return nil }
        return " (address of the server: \(address))"
    }

    private func note(_ error: DownloadError, _ failures: inout Failures) {
        guard error.reason != .cancelled else { return failures.isStopped = true }
        let failure = describe(error)
        if failure.maySucceedLater {
            failures.later = failures.later ?? failure.record
        } else {
            guard failures.final == nil else { return }
            (failures.final, failures.url) = (failure.record, error.url)
        }
    }
}
