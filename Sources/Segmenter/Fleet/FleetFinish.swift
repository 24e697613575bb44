import Assembler
import Glibc
public import SegmenterValues

/// Puts the files of a fleet together, verifies them and gives them their names.
///
/// The methods block on the disk; any thread may use it.
public struct FleetFinish: Sendable {
    /// The result of one finishing.
    public struct Result: Sendable {
        /// The path of the finished files: of the folder, or of what was asked for in the Hub's cache.
        public let path: String
        /// The number of files that are in place.
        public var complete = 0
        /// Their bytes.
        public var bytes: Int64 = 0
        /// The files whose shards are not complete.
        public var missing: [Listing.File] = []
        /// The files whose content is wrong, with the shards that have to download them again.
        public var wrong: [(path: String, shard: Int)] = []
        /// The paths that have another file, which stays.
        public var foreign: [String] = []
        /// The first error that kept files from being put together.
        public var problem: FleetError?
        /// The path of the plan of the rest; `nil` if nothing is missing.
        public var rest: String?
        /// Whether the process was asked to end.
        public var isCancelled = false

        init(in path: String) { self.path = path }

        /// Whether all files are in place.
        public var isComplete: Bool {
            missing.isEmpty && wrong.isEmpty && foreign.isEmpty && problem == nil && !isCancelled
        }
    }

    /// A piece of a file that an attempt has completed.
    private struct Piece {
        var shard: Int
        var range: ByteRange?
        var path: String
        var crc32: UInt32?
    }

    /// The pieces of a file that the shards have.
    private struct Found {
        var pieces: [Piece] = []
        /// Whether a shard is not complete, or its records cannot be seen yet.
        var isMissing = false
        /// The shards that are done, although they do not have the file.
        var lost: [Int] = []
    }

    /// The complete files of a shard.
    private struct Records {
        /// The files by their paths.
        var files: [String: FleetRecord]
        /// The paths of earlier attempts that a void names, and that the last one has not downloaded.
        var wrong: Set<String> = []
    }

    private let fleet: Fleet
    private let target: any FleetDestination
    private let attempt: Int
    private let isCancelled: @Sendable () -> Bool

    /// Starts a finishing.
    ///
    /// - Parameters:
    ///   - fleet: The fleet.
    ///   - target: The place of the files.
    ///   - attempt: The number of the finishing, which this process has claimed.
    ///   - isCancelled: Called repeatedly; returns whether to stop.
    init(
        _ fleet: Fleet, to target: any FleetDestination, attempt: Int,
        isCancelled: @escaping @Sendable () -> Bool
    ) {
        (self.fleet, self.target, self.attempt) = (fleet, target, attempt)
        self.isCancelled = isCancelled
    }

    /// Finishes what is complete.
    ///
    /// - Returns: What was found.
    /// - Throws: `FleetError`.
    func callAsFunction() throws(FleetError) -> Result {
        var result = Result(in: target.path)
        let (wanted, foreign) = try target.examine(isCancelled)
        result.complete = fleet.plan.count - wanted.count - foreign.count
        result.foreign = foreign
        result.bytes = target.bytesComplete
        let board = try fleet.board()
        var wrong: [Int: [String]] = [:]
        try forEachFile(board, wanted) { (index, found) throws(FleetError) in
            guard !isCancelled() else { return result.isCancelled = true }
            let file = try fleet.file(.init(file: index))
            do throws(AssemblyError) {
                let placed: Placed
                if !found.lost.isEmpty {
                    placed = .wrong(shards: found.lost)
                } else if found.isMissing {
                    return result.missing.append(file)
                } else {
                    placed = try place(file, index, found.pieces)
                }
                switch placed {
                case .placed:
                    result.complete += 1
                    result.bytes += file.size ?? 0
                case .foreign: result.foreign.append(file.path)
                case .wrong(let shards):
                    for shard in shards {
                        wrong[shard, default: []].append(file.path)
                        result.wrong.append((file.path, shard))
                    }
                }
            } catch {
                result.problem = result.problem ?? .assembly(error)
                result.missing.append(file)
            }
        }
        for (shard, paths) in wrong.sorted(by: { $0.key < $1.key }) {
            guard case .done(let attempt) = board.state(of: shard) else { continue }
            _ = try fleet.make(FleetMark(shard, attempt, .void)) { $0.paths = paths }
        }
        try target.close(isComplete: result.isComplete)
        if !result.isCancelled { result.rest = try writeRest(result) }
        return result
    }

    /// Calls `body` with each wanted file and what the shards have of it, in the order of the plan.
    private func forEachFile(
        _ board: FleetBoard, _ wanted: Set<Int>,
        _ body: (Int, Found) throws(FleetError) -> Void
    ) throws(FleetError) {
        var (last, found) = (-1, Found())
        for shard in 0..<fleet.shards {
            let items = try fleet.items(of: shard).filter { wanted.contains($0.file) }
            guard !items.isEmpty else { continue }
            let records = try records(of: shard, board)
            for item in items {
                if item.file != last {
                    if last >= 0 { try body(last, found) }
                    (last, found) = (item.file, Found())
                }
                let file = try fleet.file(item)
                if let record = records?.files[file.path], record.isOf(file) {
                    found.pieces.append(
                        Piece(
                            shard: shard, range: item.range,
                            path: "\(fleet.files(shard, record.attempt))/\(file.path)",
                            crc32: record.crc32))
                } else if let records, !records.files.isEmpty || records.wrong.contains(file.path) {
                    found.lost.append(shard)
                } else {
                    // Without any record, the ledger of a complete shard may only not be visible yet.
                    found.isMissing = true
                }
            }
        }
        if last >= 0 { try body(last, found) }
    }

    /// Returns the complete files of a shard; `nil` if the shard is not complete.
    private func records(of shard: Int, _ board: FleetBoard) throws(FleetError) -> Records? {
        guard case .done(let attempt) = board.state(of: shard) else { return nil }
        let mark = FleetMark(shard, attempt, .done)
        try fleet.check(mark)
        var records = Records(files: try fleet.records(shard, attempt))
        let wrong = Set(
            board.attempts(at: shard, marked: .void).flatMap {
                fleet.claim(FleetMark(shard, $0, .void))?.paths ?? []
            })
        for source in fleet.claim(mark)?.sources ?? [] {
            for (path, record) in try fleet.records(shard, source)
            where records.files[path] == nil {
                if wrong.contains(path) {
                    records.wrong.insert(path)
                } else {
                    records.files[path] = record
                }
            }
        }
        return records
    }

    private enum Placed {
        case placed
        case foreign
        case wrong(shards: [Int])
    }

    /// Puts a file together, verifies it and gives it its name.
    private func place(
        _ file: Listing.File, _ index: Int, _ pieces: [Piece]
    ) throws(AssemblyError) -> Placed {
        let size = file.size ?? Folder.size(at: pieces[0].path) ?? 0
        let joined = pieces.map { piece in
            JoinedFile.Piece(
                piece.range ?? ByteRange(0, size), path: piece.path, crc32: piece.crc32)
        }
        func shards(of wrong: [JoinedFile.Piece]) -> [Int] {
            pieces.filter { piece in wrong.contains { $0.path == piece.path } }.map(\.shard)
        }
        // No process writes any more to a file that an attempt has completed.
        if pieces.count == 1, pieces[0].range == nil {
            let source = FileTarget(path: pieces[0].path)
            let expected = file.strongestDigest ?? Digest(crc32: 0)
            guard let there = try StandingFile.open(folder: source.folder, name: source.name),
                there.status.size == size,
                let found = there.digest(like: expected, isCancelled: isCancelled),
                pieces[0].crc32 ?? found.crc32 == found.crc32,
                file.strongestDigest.map({ $0 == found.digest }) ?? true
            else { return isCancelled() ? .foreign : .wrong(shards: [pieces[0].shard]) }
            let place = try target.give(
                try Folder(source.folder), source.name, isOwn: false, to: file, index,
                crc32: found.crc32)
            if let place { return place ? .placed : .foreign }
        }
        let folder = try target.workFolder()
        let name = "join-\(attempt)-\(index)"
        try folder.remove(name)
        switch try JoinedFile.make(joined, as: name, in: folder, expected: file.strongestDigest) {
        case .wrongPieces(let wrong): return .wrong(shards: shards(of: wrong))
        case .wrongDigest: return .wrong(shards: pieces.map(\.shard))
        case .right(let crc32):
            defer { try? folder.remove(name) }
            let place = try target.give(folder, name, isOwn: true, to: file, index, crc32: crc32)
            return place == true ? .placed : .foreign
        }
    }

    private func writeRest(_ result: Result) throws(FleetError) -> String? {
        let wrong = Set(result.wrong.map(\.path))
        var files = result.missing
        if !wrong.isEmpty {
            for index in 0..<fleet.plan.count {
                let file = try fleet.file(.init(file: index))
                if wrong.contains(file.path) { files.append(file) }
            }
        }
        guard !files.isEmpty else { return nil }
        let path = "\(fleet.path)/rest-\(attempt).plan"
        do throws(PlanError) {
            try Listing(fleet.plan.source, files: files).writePlan(to: path)
        } catch {
            throw FleetError(error, at: path)
        }
        return path
    }
}

/// The place of the files of a finished fleet.
///
/// The methods block on the disk; one thread uses it.
protocol FleetDestination: Sendable {
    /// The path of the files, for the report.
    var path: String { get }
    /// The bytes of the files that are in place.
    var bytesComplete: Int64 { get }
    /// Returns the indices of the files that are not in place, and the paths that have another file.
    func examine(
        _ isCancelled: @Sendable () -> Bool
    ) throws(FleetError) -> (missing: Set<Int>, foreign: [String])
    /// Returns the folder for files that are put together, on the file system of the destination.
    func workFolder() throws(AssemblyError) -> Folder
    /// Gives a verified file its name, without replacing.
    ///
    /// - Parameters:
    ///   - folder: The folder that has the file.
    ///   - name: Its name there.
    ///   - isOwn: Whether it is moved; otherwise it gets a second name.
    ///   - file: The file.
    ///   - index: Its index in the plan.
    ///   - crc32: The CRC-32 of its content.
    /// - Returns: `false` if another file has the name; `nil` if the file cannot get a second name.
    /// - Throws: `AssemblyError`.
    func give(
        _ folder: Folder, _ name: String, isOwn: Bool, to file: Listing.File, _ index: Int,
        crc32: UInt32
    ) throws(AssemblyError) -> Bool?
    /// Makes all names durable.
    func close(isComplete: Bool) throws(FleetError)
}

/// A folder as the place of the files: the set of the plan, with its ledger.
final class FleetFolder: FleetDestination {
    private static let prefix = "join-"

    let path: String
    private let set: SetFolder
    /// The folders with new names.
    private let changed = Monitor<Set<String>>([])

    init(_ fleet: Fleet, _ path: String, hub: HubAccess?) throws(FleetError) {
        self.path = path
        do throws(SetError) {
            set = try SetFolder(fleet.plan, in: path, hub: hub) { _ in
                SetFailure(kind: "fleet", code: 75, message: "")
            }
        } catch {
            throw FleetError(error)
        }
        // A finishing that was killed may have left them.
        guard let folder = try? workFolder() else { return }
        for name in folder.entryNames where name.hasPrefix(Self.prefix) {
            try? folder.remove(name)
        }
    }

    var bytesComplete: Int64 { self.set.figures.bytesComplete }

    func examine(
        _ isCancelled: @Sendable () -> Bool
    ) throws(FleetError) -> (missing: Set<Int>, foreign: [String]) {
        do throws(SetError) {
            let work = try set.examine(isCancelled: isCancelled)
            return (Set(work.files.map { Int($0) }), work.foreign)
        } catch {
            throw FleetError(error)
        }
    }

    func workFolder() throws(AssemblyError) -> Folder {
        try Folder("\(path)/\(PlanFormat.recordFolder)")
    }

    func give(
        _ folder: Folder, _ name: String, isOwn: Bool, to file: Listing.File, _ index: Int,
        crc32: UInt32
    ) throws(AssemblyError) -> Bool? {
        let place = FileTarget(path: "\(path)/\(file.path)")
        try MadeFolders().make(place.folder, .madeBelow([path]))
        let target = try Folder(place.folder)
        let identity = try folder.status(of: name)?.identity
        do throws(AssemblyError) {
            let isGiven =
                isOwn
                ? try folder.moveWithoutReplacing(name, to: place.name, in: target)
                : try folder.linkWithoutReplacing(name, to: place.name, in: target)
            if !isGiven { return nil }
        } catch {
            // A file server may have done what it reports as failed, and so may an earlier run.
            let there = try target.status(of: place.name)
            guard there != nil, there?.identity == identity || hasSameContent(place, folder, name)
            else {
                if case .destinationExists = error { return false }
                throw error
            }
        }
        changed.withLock { _ = $0.insert(place.folder) }
        let done = DownloadedFile(
            path: place.path, size: file.size ?? Folder.size(at: place.path) ?? 0, crc32: crc32,
            verified: [file.strongestDigest].compactMap(\.self), bytesReceived: 0,
            bytesResumed: file.size ?? 0, duration: .zero)
        set.record(UInt32(index), .success(done))
        return true
    }

    /// Whether the file at the destination has the same bytes.
    private func hasSameContent(_ place: FileTarget, _ folder: Folder, _ name: String) -> Bool {
        guard let any = Digest(.sha256, Array(repeating: 0, count: 32)),
            let one = try? StandingFile.open(folder: folder.path, name: name),
            let other = try? StandingFile.open(folder: place.folder, name: place.name),
            one.status.size == other.status.size,
            let first = one.digest(like: any, isCancelled: { false })
        else { return false }
        return first.digest == other.digest(like: any, isCancelled: { false })?.digest
    }

    func close(isComplete: Bool) throws(FleetError) {
        var problem: AssemblyError?
        for path in changed.withLock({ $0 }) {
            do throws(AssemblyError) { try Folder(path).sync() } catch {
                problem = problem ?? error
            }
        }
        problem = set.close() ?? problem
        if let problem { throw .assembly(problem) }
    }
}
