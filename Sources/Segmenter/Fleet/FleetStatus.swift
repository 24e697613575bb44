import Assembler
import Glibc
import SegmenterValues

/// How far a fleet is, as its folder says.
///
/// Nothing is written.
public struct FleetStatus: Sendable {
    /// The state of a shard.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// No attempt has begun, or the last one was left and can be continued.
        case waiting
        /// An attempt is running, as far as is known.
        case running
        /// All of its files are complete.
        case done
        /// It has failed for good.
        case failed
    }

    /// A shard.
    public struct Shard: Sendable, Hashable {
        /// Its number, from 0.
        public var number: Int
        /// Its state.
        public var state: State
        /// The number of attempts.
        public var attempts: Int
        /// Its bytes, as far as known.
        public var size: Int64
        /// The bytes that are there, parts of files included.
        public var complete: Int64
        /// The number of its files and ranges of files.
        public var files: Int
        /// The number of those that are complete.
        public var filesComplete: Int
        /// The machine of the last attempt; `nil` if there is none.
        public var host: String?
        /// The process of the last attempt; `nil` if there is none.
        public var pid: Int32?
        /// The seconds since the last attempt has recorded its progress, or has begun.
        public var age: Int64?
        /// The received bytes a second, if it is running.
        public var rate: Int64
        /// Why the last attempt has ended, if it did not complete the shard.
        public var cause: SetFailure?
    }

    /// The path of the folder.
    public let path: String
    /// The number of files.
    public let files: Int
    /// Their bytes; `nil` if a size is unknown.
    public let size: Int64?
    /// The shards, in order.
    public let shards: [Shard]

    /// The age in seconds from which on a running attempt says nothing about the present rate.
    private static let stale: Int64 = 90

    /// The number of shards in a state.
    public func count(_ state: State) -> Int { shards.count { $0.state == state } }
    /// The bytes of all shards that are there.
    public var bytesComplete: Int64 { shards.reduce(0) { $0 + $1.complete } }
    /// The received bytes a second of all running attempts.
    public var rate: Int64 { shards.reduce(0) { $0 + $1.rate } }
    /// Whether all shards are complete, or have failed.
    public var isOver: Bool { shards.allSatisfy { [.done, .failed].contains($0.state) } }

    /// Reads the status.
    ///
    /// - Parameter fleet: The fleet.
    /// - Throws: `FleetError`.
    public init(_ fleet: Fleet) throws(FleetError) {
        (path, files, size) = (fleet.path, fleet.plan.count, fleet.plan.size)
        let board = try fleet.board()
        let now = Int64(time(nil))
        var shards: [Shard] = []
        for number in 0..<fleet.shards {
            let items = try fleet.items(of: number)
            let last = board.last(of: number)
            let voids = fleet.content(of: board.voids(of: number))
            var (size, wrongSize) = (Int64(0), Int64(0))
            var wrong: [String] = []
            for item in items {
                let file = try fleet.file(item)
                size += file.size ?? 0
                guard last > 0, voids.last(of: file.path) == last else { continue }
                wrongSize += file.size ?? 0
                wrong.append(file.path)
            }
            var shard = Shard(
                number: number, state: .waiting, attempts: last, size: size, complete: 0,
                files: items.count, filesComplete: 0, rate: 0)
            let claim = last > 0 ? fleet.claim(FleetMark(number, last, .claim)) : nil
            let process = claim.flatMap { LockHolder($0.process) }
            (shard.host, shard.pid) = (process?.host, process?.pid)
            let beat = last > 0 ? fleet.lastBeat(number, last) : nil
            // The clock of the other machine may differ.
            shard.age = (beat?.at ?? claim?.at).map { max(0, now - $0) }
            shard.complete = max(0, min(size, beat?.complete ?? 0) - wrongSize)
            shard.filesComplete = max(0, (beat?.files ?? 0) - wrong.count)
            var ended: FleetMark.Kind?
            switch board.state(of: number) {
            case .waiting: break
            case .running:
                shard.state = .running
                if shard.age ?? .max < Self.stale { shard.rate = beat?.rate ?? 0 }
            case .left: ended = .left
            case .failed: (shard.state, ended) = (.failed, .failed)
            case .done:
                (shard.state, shard.complete) = (.done, size)
                shard.filesComplete = items.count
            }
            if let first = wrong.first, shard.state == .waiting {
                let more = wrong.count > 1 ? " and in \(wrong.count - 1) more" : ""
                shard.cause = SetFailure(
                    kind: "checksum_mismatch", code: 65,
                    message: "the finishing found wrong bytes in `\(first)`\(more)")
            } else if let ended {
                let mark = fleet.claim(FleetMark(number, last, ended))
                shard.cause = mark.flatMap { mark in
                    guard let kind = mark.kind, let message = mark.message else { return nil }
                    return SetFailure(kind: kind, code: mark.code ?? 75, message: message)
                }
            }
            shards.append(shard)
        }
        self.shards = shards
    }
}
