import Assembler
import SegmenterValues

/// Decides what a finishing does next.
///
/// It reads what the shards have recorded, has each file verified or put together, and published.
/// The shards of wrong files get `void` marks. Pure.
struct FleetFinisher: Sendable {
    /// The result of an action.
    enum Event: Sendable {
        /// The wanted files of the shard, and ranges of files, in the order of the plan.
        case items([Item])
        /// The content of the marks: the earlier attempts whose files count, latest first, and the files
        /// that voids name.
        case marks(sources: [Int], FleetVoids)
        /// The complete files that an attempt has recorded, by their paths.
        case records([String: FleetRecord])
        /// The content was compared with the recorded CRC-32 and the digest.
        case checked(Check)
        /// The verified content was to get the name of the file.
        case published(Published)
        /// The mark is there.
        case made
        /// The process was asked to end.
        case interrupted
        /// The file cannot be read or written now.
        case failed
    }

    /// The next step.
    enum Action: Sendable, Hashable {
        /// Returns the items of a shard.
        case items(shard: Int)
        /// Reads the `done` mark of an attempt, and the `void` marks of its shard.
        case marks(FleetMark, voids: [FleetMark])
        /// Reads the ledger of an attempt.
        case records(shard: Int, attempt: Int)
        /// Reads a whole file, where an attempt has put it.
        case verify(file: Int, Piece)
        /// Copies the pieces to a new file, and reads that.
        case join(file: Int, [Piece])
        /// Gives the verified content its name: that of a whole file, or of the new file.
        case publish(file: Int, Piece?, crc32: UInt32)
        /// Makes the mark, with the paths of wrong files.
        case void(FleetMark, paths: [String])
        case end
    }

    /// A file of a shard, or a range of one.
    struct Item: Sendable, Hashable {
        /// The index of the file in the plan.
        var index: Int
        /// The file, or the range as a file of a set.
        var file: Listing.File
        /// The bytes of the file; `nil` for all of them.
        var range: ByteRange?
    }

    /// A file or range that an attempt has completed.
    struct Piece: Sendable, Hashable {
        var shard: Int
        var attempt: Int
        /// The path in the set of the attempt.
        var path: String
        var range: ByteRange?
        /// The recorded CRC-32; `nil` if none was recorded.
        var crc32: UInt32?
    }

    /// Whether and how the content of a file is wrong.
    enum Check: Sendable, Hashable {
        case right(crc32: UInt32)
        /// The pieces with these positions are not as recorded.
        case wrongPieces([Int])
        /// All pieces are as recorded, but the file does not have the digest of the plan.
        case wrongDigest
    }

    /// How publishing has ended.
    enum Published: Sendable, Hashable {
        case done
        /// Another file has the name.
        case isForeign
        /// The file is not where it can get a second name.
        case needsCopy
    }

    /// A file that was found to be wrong.
    struct Wrong: Sendable, Hashable {
        /// The index of the file in the plan, and its path there.
        var file: Int
        var path: String
        /// The shard that has to download it again.
        var shard: Int
    }

    /// The indices of files whose shards are not complete, or that cannot be read or written now.
    private(set) var missing: [Int] = []
    /// The files that are wrong.
    private(set) var wrong: [Wrong] = []
    /// The indices of files whose names have other content.
    private(set) var foreign: [Int] = []
    /// Whether the process was asked to end.
    private(set) var isInterrupted = false

    /// A file, as far as the shards have it.
    private struct Found {
        var file: Int
        var path: String
        var pieces: [Piece] = []
        /// Whether a shard is not complete, or its records cannot be seen yet.
        var isMissing = false
        /// The shards that are done, although they do not have the file.
        var lost: [Int] = []
    }

    private enum Phase {
        case listing
        case opening([Item], attempt: Int)
        case reading([Item], FleetShardFiles, attempts: [Int])
        case checking(isJoined: Bool)
        case publishing(isJoined: Bool)
        case voiding
    }

    private let shards: Int
    private var board: FleetBoard
    /// The indices of the files that are to be published.
    private(set) var wanted: Set<Int>
    private var phase = Phase.listing
    /// The shard that is read, or the next one.
    private var shard = 0
    /// The files that are not in their place yet; the next shard may have more of the last one.
    private var found: ArraySlice<Found> = []
    /// The marks that are to be made.
    private var voids: [(mark: FleetMark, paths: [String])] = []

    /// Begins a finishing, which first does ``first``.
    ///
    /// - Parameters:
    ///   - board: The marks.
    ///   - wanted: The indices of the files that are not in their place.
    ///   - shards: The number of shards.
    init(_ board: FleetBoard, wanted: Set<Int>, shards: Int) {
        (self.board, self.wanted, self.shards) = (board, wanted, shards)
    }

    /// The action with which a finishing begins.
    static let first = Action.items(shard: 0)

    /// Takes the result of the last action, or an interruption instead of it.
    ///
    /// - Returns: What to do now.
    mutating func take(_ event: Event) -> Action {
        switch (event, phase) {
        case (.interrupted, .voiding):
            isInterrupted = true
            return void()
        case (.interrupted, _):
            isInterrupted = true
            return prepareVoids()
        case (.items(let items), .listing):
            guard !items.isEmpty else { return leaveShard() }
            guard case .done(let attempt) = board.state(of: shard) else { return add(items, nil) }
            phase = .opening(items, attempt: attempt)
            return .marks(FleetMark(shard, attempt, .done), voids: board.voids(of: shard))
        case (.marks(let sources, let voids), .opening(let items, let attempt)):
            let files = FleetShardFiles(own: attempt, without: voids)
            phase = .reading(items, files, attempts: [attempt] + sources)
            return .records(shard: shard, attempt: attempt)
        case (.records(let records), .reading(let items, var files, let attempts)):
            files.add(records, of: attempts[0])
            let rest = Array(attempts.dropFirst())
            guard let next = rest.first else { return add(items, files) }
            phase = .reading(items, files, attempts: rest)
            return .records(shard: shard, attempt: next)
        case (.checked(let check), .checking(let isJoined)): return checked(check, isJoined)
        case (.published(let result), .publishing(let isJoined)):
            return published(result, isJoined)
        case (.failed, .checking), (.failed, .publishing):
            missing.append(found.removeFirst().file)
            return place()
        case (.made, .voiding):
            board.add(voids.removeFirst().mark)
            return void()
        default: return .end
        }
    }

    // MARK: Reading

    private mutating func leaveShard() -> Action {
        shard += 1
        return place()
    }

    /// Adds what the shard has of each file; `files` is `nil` if it is not complete.
    private mutating func add(_ items: [Item], _ files: FleetShardFiles?) -> Action {
        for item in items {
            let path = item.file.path
            if found.last?.file != item.index { found.append(Found(file: item.index, path: path)) }
            let last = found.endIndex - 1
            if let record = files?.complete[path], record.isOf(item.file) {
                found[last].pieces.append(
                    Piece(
                        shard: shard, attempt: record.attempt, path: path, range: item.range,
                        crc32: record.crc32))
            } else if let files, !files.complete.isEmpty || files.wrong.contains(path) {
                found[last].lost.append(shard)
            } else {
                // Without any record, the ledger of a complete shard may only not be visible yet.
                found[last].isMissing = true
            }
        }
        return leaveShard()
    }

    // MARK: Publishing

    /// Continues with the next file whose pieces are all known.
    private mutating func place() -> Action {
        while let file = found.first, found.count > 1 || shard == shards {
            guard file.lost.isEmpty, !file.isMissing else {
                if file.lost.isEmpty { missing.append(file.file) }
                drop(wrongIn: file.lost)
                continue
            }
            let isWhole = file.pieces.count == 1 && file.pieces[0].range == nil
            phase = .checking(isJoined: !isWhole)
            return isWhole
                ? .verify(file: file.file, file.pieces[0]) : .join(file: file.file, file.pieces)
        }
        phase = .listing
        return shard < shards ? .items(shard: shard) : prepareVoids()
    }

    private mutating func checked(_ check: Check, _ isJoined: Bool) -> Action {
        let file = found[found.startIndex]
        switch check {
        case .right(let crc32):
            phase = .publishing(isJoined: isJoined)
            return .publish(file: file.file, isJoined ? nil : file.pieces[0], crc32: crc32)
        case .wrongPieces(let positions): drop(wrongIn: positions.map { file.pieces[$0].shard })
        case .wrongDigest: drop(wrongIn: file.pieces.map(\.shard))
        }
        return place()
    }

    private mutating func published(_ result: Published, _ isJoined: Bool) -> Action {
        switch result {
        case .needsCopy where !isJoined:
            phase = .checking(isJoined: true)
            let file = found[found.startIndex]
            return .join(file: file.file, file.pieces)
        case .done: found.removeFirst()
        case .isForeign, .needsCopy: foreign.append(found.removeFirst().file)
        }
        return place()
    }

    /// Notes that the first file is wrong in these shards.
    private mutating func drop(wrongIn shards: [Int]) {
        let file = found.removeFirst()
        wrong += shards.map { Wrong(file: file.file, path: file.path, shard: $0) }
    }

    // MARK: Wrong files

    private mutating func prepareVoids() -> Action {
        phase = .voiding
        found = []
        for (shard, files) in Dictionary(grouping: wrong, by: \.shard) {
            guard case .done(let attempt) = board.state(of: shard) else { continue }
            voids.append((FleetMark(shard, attempt, .void), files.map(\.path)))
        }
        voids.sort { $0.mark.shard < $1.mark.shard }
        return void()
    }

    private mutating func void() -> Action {
        if let next = voids.first { return .void(next.mark, paths: next.paths) }
        // Another attempt may have completed the same shards.
        let open = wrong.filter { !board.isDone($0.shard) }
        wanted = Set(wrong.map(\.file)).subtracting(open.map(\.file))
        guard !isInterrupted, !wanted.isEmpty else { return .end }
        wrong.removeAll { wanted.contains($0.file) }
        shard = 0
        return place()
    }
}

/// The complete files of a shard, collected from the records of its attempts.
///
/// Pure.
struct FleetShardFiles: Sendable {
    /// The files by their paths.
    private(set) var complete: [String: FleetRecord] = [:]
    /// The paths that only attempts have recorded whose files were found to be wrong.
    private(set) var wrong: Set<String> = []
    /// The attempt whose own files are not found to be wrong yet; `nil` for none.
    private let own: Int?
    private let voided: FleetVoids

    /// Begins without files.
    ///
    /// - Parameters:
    ///   - own: The attempt whose files count in any case; `nil` for none.
    ///   - voided: The files that were found to be wrong.
    init(own: Int? = nil, without voided: FleetVoids) { (self.own, self.voided) = (own, voided) }

    /// Adds the records of an attempt, unless an attempt before has the same file.
    mutating func add(_ records: [String: FleetRecord], of attempt: Int) {
        for (path, record) in records where complete[path] == nil {
            if attempt == own || voided.last(of: path) < attempt {
                complete[path] = record
                wrong.remove(path)
            } else {
                wrong.insert(path)
            }
        }
    }
}

/// The files of a shard that finishings have found to be wrong.
///
/// A `void` mark of an attempt names files that this attempt has, itself or from an earlier one. What
/// a later attempt has downloaded is another file. Pure.
struct FleetVoids: Sendable, Hashable {
    private var attempts: [String: Int] = [:]

    /// Adds the files that the `void` mark of an attempt names.
    mutating func add(_ paths: [String], of attempt: Int) {
        for path in paths { attempts[path] = max(attempts[path] ?? 0, attempt) }
    }

    /// Returns the last attempt that has, or has used, a wrong file with this path; 0 for none.
    func last(of path: String) -> Int { attempts[path] ?? 0 }
}
