import Assembler
import SegmenterValues

/// Carries out what a ``FleetWorker`` decides, but for the work itself.
///
/// Any thread may use it.
final class FleetLoop: Sendable {
    /// The seconds between two looks at shards that others work on.
    private static let pause = 5.0
    /// The attempts at a file of the fleet that cannot be read or written.
    private static let patience = 5

    private let fleet: Fleet
    private let report: @Sendable (FleetRun.Report) async -> Void
    private let interrupted = Monitor(false)

    init(_ fleet: Fleet, _ report: @escaping @Sendable (FleetRun.Report) async -> Void) {
        (self.fleet, self.report) = (fleet, report)
    }

    /// Asks the loop to end; returns immediately.
    func interrupt() { interrupted.withLock { $0 = true } }

    var isInterrupted: Bool { interrupted.withLock { $0 } }

    /// Runs a worker to its end.
    ///
    /// - Parameters:
    ///   - shards: The shards that it may work on.
    ///   - isIndexed: Whether the caller has assigned them.
    ///   - describe: Adds to the content of a mark; called on any thread.
    ///   - begin: Works on a shard that was claimed.
    /// - Returns: How it has ended.
    /// - Throws: `FleetError`.
    func callAsFunction(
        _ shards: [Int], isIndexed: Bool,
        describe: @escaping @Sendable (FleetMark, inout FleetClaim) -> Void,
        begin: (Int, Int, inout FleetWorker) async throws(FleetError) -> FleetWorker.Outcome
    ) async throws(FleetError) -> FleetWorker.Ending {
        var worker = FleetWorker(shards, isIndexed: isIndexed)
        var action = FleetWorker.first
        var hasSaid: Set<Int> = []
        while true {
            if isInterrupted, case .end(let ending) = worker.take(.interrupted) { return ending }
            switch action {
            case .look:
                let (board, signs) = try await patiently { [fleet] () throws(FleetError) in
                    let board = try fleet.board()
                    return (board, try fleet.signs(board, shards))
                }
                action = worker.take(.looked(board, signs, now: monotonicSeconds()))
                if action == .rest { await sayWaiting(shards, board, &hasSaid) }
            case .make(let mark):
                let made = try await patiently { [fleet] () throws(FleetError) in
                    try fleet.make(mark) { describe(mark, &$0) }
                }
                action = worker.take(made == .made ? .made : .taken)
            case .begin(let shard, let attempt):
                let outcome = try await begin(shard, attempt, &worker)
                action = worker.take(.ended(outcome))
            case .rest:
                await rest(Self.pause)
                action = worker.take(.rested)
            case .end(let ending): return ending
            // These follow only on events during the work itself.
            case .none, .stop: return .again
            }
        }
    }

    private func sayWaiting(
        _ shards: [Int], _ board: FleetBoard, _ hasSaid: inout Set<Int>
    ) async {
        for shard in shards where !hasSaid.contains(shard) {
            guard case .running(let attempt) = board.state(of: shard) else { continue }
            hasSaid.insert(shard)
            let claim = await offLoop("fleet") { [fleet] () throws(Never) in
                fleet.claim(FleetMark(shard, attempt, .claim))
            }
            let process = claim.flatMap { LockHolder($0.process) }
            await report(
                .waits(
                    shard: shard == FleetMark.finish ? nil : shard,
                    process: process.map { "process \($0.pid) on \($0.host)" }))
        }
    }

    /// Works on the disk, and again after errors, from which a file server may recover.
    func patiently<Result: Sendable>(
        _ body: @escaping @Sendable () throws(FleetError) -> Result
    ) async throws(FleetError) -> Result {
        var failures = 0
        while true {
            do throws(FleetError) {
                return try await offLoop("fleet", body)
            } catch {
                failures += 1
                guard case .assembly = error, failures < Self.patience, !isInterrupted else {
                    throw error
                }
                await report(.disturbed(error))
                await rest(Double(failures) * 2)
            }
        }
    }

    /// Waits, but not after the request to end.
    func rest(_ seconds: Double) async {
        let end = monotonicSeconds() + seconds
        while monotonicSeconds() < end, !isInterrupted {
            try? await Task.sleep(for: .milliseconds(100))
        }
    }
}
