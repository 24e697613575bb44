/// Decides what a worker of a fleet does next.
///
/// A worker owns an attempt because it has created the claim with that number, and writes only in the
/// folder of its own attempt. If a higher number appears, it stops. No decision needs a lock or a
/// clock that others share; `now` is the worker's own monotonic clock. Pure.
struct FleetWorker: Sendable {
    /// Something that happened.
    enum Event: Sendable {
        /// The worker has looked at the marks, and at the claims of running attempts that are not its
        /// own.
        case looked(FleetBoard, [Int: Sign], now: Double)
        /// The mark was made.
        case made
        /// Somebody else has made it.
        case taken
        /// The download has ended.
        case ended(Outcome)
        /// The pause is over.
        case rested
        /// A signal asks the process to end.
        case interrupted
    }

    /// A sign of life of a running attempt.
    enum Sign: Sendable, Hashable {
        /// Its process no longer exists, or the scheduler has replaced it by this one.
        case over
        /// This is how far its record of progress is.
        case beat(Int64)
    }

    /// How the download of a shard has ended.
    enum Outcome: Sendable, Hashable {
        case complete
        /// It was stopped, as asked.
        case stopped
        /// A later attempt may succeed.
        case temporary
        /// A later attempt would fail as well.
        case failed
    }

    /// The next step.
    enum Action: Sendable, Hashable {
        /// Nothing; the next event follows.
        case none
        case look
        case make(FleetMark)
        /// Downloads a shard, and looks from time to time.
        case begin(shard: Int, attempt: Int)
        /// Stops the download.
        case stop
        /// Waits a while.
        case rest
        case end(Ending)
    }

    /// How a worker ends.
    enum Ending: Sendable, Hashable {
        /// Nothing is left for it to do.
        case done
        /// It is to be run again.
        case again
        /// This shard has failed.
        case failed(shard: Int)
    }

    /// The seconds without a sign of life after which another attempt may begin.
    ///
    /// More than a file server may hide changes of other machines (NFS: 60), and more than the time
    /// after which schedulers notice a dead machine.
    static let patience = 600.0

    private enum Phase: Sendable {
        case choosing
        case claiming(shard: Int, attempt: Int)
        case downloading(shard: Int, attempt: Int)
        case stopping(shard: Int, attempt: Int, isSuperseded: Bool)
        case marking(FleetMark)
        case resting
    }

    /// The last sign of life of another attempt.
    private struct Watch: Sendable {
        var attempt: Int
        var beat: Int64
        var since: Double
        /// Whether it has made progress while this worker watched.
        var hasMoved = false
    }

    private let shards: [Int]
    private let isIndexed: Bool
    private var phase = Phase.choosing
    /// The shards that this worker has taken from a running attempt, which it does only once.
    private var replaced: Set<Int> = []
    /// The shards that had failed when this worker began; it tries them again, once.
    private var failedBefore: Set<Int>?
    /// The shards that this worker has attempted, and gave up.
    private var tried: Set<Int> = []
    private var failed: Int?
    private var isInterrupted = false
    private var watches: [Int: Watch] = [:]
    /// The claims that this worker has met or made, which a list of the marks may not show yet.
    private var met: [Int: Int] = [:]

    /// Creates a worker.
    ///
    /// - Parameters:
    ///   - shards: The shards that it may work on, in the order of its choice.
    ///   - isIndexed: Whether the caller has assigned these shards to it. It then replaces an attempt
    ///     that somebody else has begun, as the caller wants, and waits for its shards.
    init(_ shards: [Int], isIndexed: Bool) {
        (self.shards, self.isIndexed) = (shards, isIndexed)
    }

    /// The action with which a worker begins.
    static let first = Action.look

    /// Takes an event.
    ///
    /// - Returns: What to do now.
    mutating func take(_ event: Event) -> Action {
        switch (event, phase) {
        case (.interrupted, .downloading(let shard, let attempt)):
            isInterrupted = true
            phase = .stopping(shard: shard, attempt: attempt, isSuperseded: false)
            return .stop
        case (.interrupted, .resting), (.interrupted, .choosing):
            return .end(.again)
        case (.interrupted, _):
            isInterrupted = true
            return .none
        case (.looked(let board, _, _), .downloading(let shard, let attempt)):
            guard board.last(of: shard) > attempt else { return .none }
            phase = .stopping(shard: shard, attempt: attempt, isSuperseded: true)
            return .stop
        case (.looked(var board, var signs, let now), .choosing):
            for (shard, attempt) in met where board.last(of: shard) < attempt {
                board.add(FleetMark(shard, attempt, .claim))
                // It is a sign of an earlier attempt.
                signs[shard] = nil
            }
            return choose(board, signs, now)
        case (.looked, _): return .none
        case (.made, .claiming(let shard, let attempt)):
            met[shard] = attempt
            guard !isInterrupted else { return mark(FleetMark(shard, attempt, .left)) }
            phase = .downloading(shard: shard, attempt: attempt)
            return .begin(shard: shard, attempt: attempt)
        case (.taken, .claiming(let shard, let attempt)):
            met[shard] = attempt
            return look()
        case (.ended(let outcome), .downloading(let shard, let attempt)):
            return ended(outcome, shard, attempt, isSuperseded: false)
        case (.ended(let outcome), .stopping(let shard, let attempt, let isSuperseded)):
            return ended(outcome, shard, attempt, isSuperseded: isSuperseded)
        // Only this worker marks its own attempt: a mark that exists is its own.
        case (.made, .marking), (.taken, .marking): return look()
        case (.rested, .resting): return look()
        default: return .none
        }
    }

    private mutating func look() -> Action {
        guard !isInterrupted else { return .end(.again) }
        phase = .choosing
        return .look
    }

    private mutating func mark(_ mark: FleetMark) -> Action {
        phase = .marking(mark)
        return .make(mark)
    }

    private mutating func ended(
        _ outcome: Outcome, _ shard: Int, _ attempt: Int, isSuperseded: Bool
    ) -> Action {
        switch outcome {
        case .complete: return mark(FleetMark(shard, attempt, .done))
        case .stopped where isSuperseded: return look()
        case .stopped, .temporary:
            tried.insert(shard)
            return mark(FleetMark(shard, attempt, .left))
        case .failed:
            tried.insert(shard)
            return mark(FleetMark(shard, attempt, .failed))
        }
    }

    /// Chooses the next shard.
    private mutating func choose(
        _ board: FleetBoard, _ signs: [Int: Sign], _ now: Double
    ) -> Action {
        if failedBefore == nil { failedBefore = Set(shards.filter { board.hasFailed($0) }) }
        var (isWaiting, isAgain) = (false, false)
        for shard in shards {
            let last = board.last(of: shard)
            switch board.state(of: shard) {
            case .done: continue
            case .waiting: return claim(shard, last + 1)
            case .left:
                guard tried.contains(shard) else { return claim(shard, last + 1) }
                isAgain = true
            case .failed:
                // Starting a worker again asks for another attempt.
                guard failedBefore?.contains(shard) == true, !tried.contains(shard),
                    !replaced.contains(shard)
                else {
                    failed = failed ?? shard
                    continue
                }
                return claim(shard, last + 1)
            case .running(let attempt):
                if isIndexed, !replaced.contains(shard) {
                    replaced.insert(shard)
                    return claim(shard, last + 1)
                }
                // A claim that the list of marks does not show yet has no sign of life.
                guard let sign = signs[shard] else {
                    isWaiting = true
                    continue
                }
                guard !isOver(sign, shard, attempt, now) else { return claim(shard, last + 1) }
                // Without an index, others that are seen to work need no help.
                isWaiting = isWaiting || isIndexed || watches[shard]?.hasMoved != true
            }
        }
        guard !isWaiting else {
            phase = .resting
            return .rest
        }
        if isAgain { return .end(.again) }
        return .end(failed.map { .failed(shard: $0) } ?? .done)
    }

    private mutating func claim(_ shard: Int, _ attempt: Int) -> Action {
        // The own attempts are later than those of others that this worker has replaced.
        replaced.insert(shard)
        watches[shard] = nil
        phase = .claiming(shard: shard, attempt: attempt)
        return .make(FleetMark(shard, attempt, .claim))
    }

    /// Notes a sign of life; returns whether the attempt is over.
    private mutating func isOver(
        _ sign: Sign, _ shard: Int, _ attempt: Int, _ now: Double
    ) -> Bool {
        guard case .beat(let beat) = sign else { return true }
        guard var watch = watches[shard], watch.attempt == attempt else {
            watches[shard] = Watch(attempt: attempt, beat: beat, since: now)
            return false
        }
        if watch.beat != beat {
            watch.beat = beat
            watch.since = now
            watch.hasMoved = true
        }
        watches[shard] = watch
        return now - watch.since >= Self.patience
    }
}
