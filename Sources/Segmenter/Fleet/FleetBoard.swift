/// A mark in the folder of a fleet: an empty or small file that exactly one process has created.
///
/// Its name says all that the others must know to decide. Pure.
struct FleetMark: Sendable, Hashable {
    /// The state of an attempt at a shard that a mark records.
    enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The attempt has begun; the creator owns it.
        case claim
        /// The attempt has ended; another one may continue it at once.
        case left
        /// The attempt has failed, and another one would fail, too.
        case failed
        /// All files of the shard are complete.
        case done
        /// The content of files of the attempt was found to be wrong later.
        case void
    }

    /// The number of the shard, from 0; ``finish`` for the finishing.
    var shard: Int
    /// The number of the attempt, from 1.
    var attempt: Int
    var kind: Kind

    /// The number of the finishing, in place of that of a shard.
    static let finish = -1

    init(_ shard: Int, _ attempt: Int, _ kind: Kind) {
        (self.shard, self.attempt, self.kind) = (shard, attempt, kind)
    }

    /// The name of the file.
    var name: String { "\(shard == Self.finish ? "finish" : "\(shard)").\(attempt).\(kind)" }

    /// Parses the name of a file; `nil` if it is not that of a mark.
    init?(name: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let kind = Kind(rawValue: String(parts[2])),
            let attempt = Int(digits: parts[1]), attempt > 0,
            let shard = parts[0] == "finish" ? Self.finish : Int(digits: parts[0])
        else { return nil }
        self.init(shard, attempt, kind)
    }
}

extension Int {
    /// Parses decimal digits; `nil` for anything else.
    fileprivate init?(digits: Substring) {
        guard let number = Int64(digits: digits) else { return nil }
        self.init(exactly: number)
    }
}

/// The marks of a fleet, as one process sees them.
///
/// Another machine may see marks later than they were made, never earlier, and marks are not removed.
/// Pure.
struct FleetBoard: Sendable, Hashable {
    /// The state of a shard.
    enum State: Sendable, Hashable {
        /// No attempt has begun.
        case waiting
        /// This attempt has begun, and no mark says that it ended.
        case running(Int)
        /// This attempt has ended; another one may continue it.
        case left(Int)
        /// This attempt has failed.
        case failed(Int)
        /// This attempt has completed it.
        case done(Int)
    }

    /// The marks of the attempts at each shard.
    private var marks: [Int: [Int: Set<FleetMark.Kind>]] = [:]

    init(_ marks: some Sequence<FleetMark> = []) {
        for mark in marks { add(mark) }
    }

    mutating func add(_ mark: FleetMark) {
        marks[mark.shard, default: [:]][mark.attempt, default: []].insert(mark.kind)
    }

    /// Returns the kinds of marks of an attempt.
    func kinds(_ shard: Int, _ attempt: Int) -> Set<FleetMark.Kind> {
        marks[shard]?[attempt] ?? []
    }

    /// Whether the last attempt at a shard has failed.
    func hasFailed(_ shard: Int) -> Bool {
        if case .failed = state(of: shard) { true } else { false }
    }

    /// Whether an attempt at a shard is running.
    func isRunning(_ shard: Int) -> Bool {
        if case .running = state(of: shard) { true } else { false }
    }

    /// Whether a shard is complete.
    func isDone(_ shard: Int) -> Bool {
        if case .done = state(of: shard) { true } else { false }
    }

    /// Returns the number of the last attempt at a shard; 0 if there is none.
    func last(of shard: Int) -> Int { marks[shard]?.keys.max() ?? 0 }

    /// Returns the state of a shard.
    func state(of shard: Int) -> State {
        let attempts = marks[shard] ?? [:]
        // Any complete attempt is right. The first one is the same for everybody.
        let done = attempts.filter { $0.value.contains(.done) && !$0.value.contains(.void) }
        if let first = done.keys.min() { return .done(first) }
        guard let last = attempts.keys.max(), let kinds = attempts[last] else { return .waiting }
        if kinds.contains(.void) || kinds.contains(.left) { return .left(last) }
        return kinds.contains(.failed) ? .failed(last) : .running(last)
    }

    /// Returns the earlier attempts at a shard whose complete files an attempt uses, latest first.
    ///
    /// The files of a failed attempt are not used: its server may have had another version.
    func sources(of shard: Int, before attempt: Int) -> [Int] {
        (marks[shard] ?? [:]).filter { $0.key < attempt && !$0.value.contains(.failed) }
            .keys.sorted(by: >)
    }

    /// Returns the `void` marks of a shard.
    func voids(of shard: Int) -> [FleetMark] {
        attempts(at: shard, marked: .void).map { FleetMark(shard, $0, .void) }
    }

    /// Returns the attempts at a shard that have a mark of a kind, latest first.
    func attempts(at shard: Int, marked kind: FleetMark.Kind) -> [Int] {
        (marks[shard] ?? [:]).filter { $0.value.contains(kind) }.keys.sorted(by: >)
    }
}
