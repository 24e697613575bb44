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
        result.bytes = target.bytesComplete
        var finisher = FleetFinisher(try fleet.board(), wanted: wanted, shards: fleet.shards)
        var action = FleetFinisher.first
        while action != .end {
            guard finisher.isInterrupted || !isCancelled() else {
                action = finisher.take(.interrupted)
                continue
            }
            action = finisher.take(try perform(action, finisher.wanted, &result))
        }
        result.foreign = foreign
        for index in finisher.foreign { result.foreign.append(try file(index).path) }
        result.wrong = finisher.wrong.map { ($0.path, $0.shard) }
        for index in finisher.missing { result.missing.append(try file(index)) }
        result.isCancelled = finisher.isInterrupted
        try target.close(isComplete: result.isComplete)
        if !result.isCancelled {
            var rest = result.missing
            // A file is wrong once, whatever the number of its ranges.
            for index in Set(finisher.wrong.map(\.file)).sorted() { rest.append(try file(index)) }
            result.rest = try writeRest(rest)
        }
        return result
    }

    private func file(_ index: Int) throws(FleetError) -> Listing.File {
        try fleet.file(.init(file: index))
    }

    /// Carries out an action.
    private func perform(
        _ action: FleetFinisher.Action, _ wanted: Set<Int>, _ result: inout Result
    ) throws(FleetError) -> FleetFinisher.Event {
        switch action {
        case .items(let shard):
            var items: [FleetFinisher.Item] = []
            for item in try fleet.items(of: shard) where wanted.contains(item.file) {
                items.append(.init(index: item.file, file: try fleet.file(item), range: item.range))
            }
            return .items(items)
        case .marks(let done, let voids):
            try fleet.check(done)
            return .marks(sources: fleet.claim(done)?.sources ?? [], fleet.content(of: voids))
        case .records(let shard, let attempt): return .records(try fleet.records(shard, attempt))
        case .void(let mark, let paths):
            _ = try fleet.make(mark) { $0.paths = paths }
            return .made
        case .verify(let index, let piece):
            let file = try file(index)
            return unlessFailed(&result) { (_) throws(AssemblyError) in try verify(file, piece) }
        case .join(let index, let pieces):
            let file = try file(index)
            return unlessFailed(&result) { (_) throws(AssemblyError) in
                try join(file, index, pieces)
            }
        case .publish(let index, let piece, let crc32):
            let file = try file(index)
            return unlessFailed(&result) { (result) throws(AssemblyError) in
                let published = try publish(file, index, piece, crc32)
                if published == .done {
                    result.complete += 1
                    result.bytes += file.size ?? 0
                }
                return .published(published)
            }
        case .end: return .interrupted
        }
    }

    /// Works on a file; the first error is kept for the report.
    private func unlessFailed(
        _ result: inout Result,
        _ body: (inout Result) throws(AssemblyError) -> FleetFinisher.Event
    ) -> FleetFinisher.Event {
        do throws(AssemblyError) { return try body(&result) } catch {
            result.problem = result.problem ?? .assembly(error)
            return .failed
        }
    }

    // MARK: A file

    private func path(of piece: FleetFinisher.Piece) -> String {
        "\(fleet.files(piece.shard, piece.attempt))/\(piece.path)"
    }

    /// Reads a whole file; no process writes to one that an attempt has completed.
    private func verify(
        _ file: Listing.File, _ piece: FleetFinisher.Piece
    ) throws(AssemblyError) -> FleetFinisher.Event {
        let source = FileTarget(path: path(of: piece))
        let expected = file.strongestDigest ?? Digest(crc32: 0)
        guard let there = try StandingFile.open(folder: source.folder, name: source.name),
            there.status.size == file.size ?? there.status.size,
            let found = there.digest(like: expected, isCancelled: isCancelled),
            piece.crc32 ?? found.crc32 == found.crc32,
            file.strongestDigest.map({ $0 == found.digest }) ?? true
        else { return isCancelled() ? .interrupted : .checked(.wrongPieces([0])) }
        return .checked(.right(crc32: found.crc32))
    }

    private func join(
        _ file: Listing.File, _ index: Int, _ pieces: [FleetFinisher.Piece]
    ) throws(AssemblyError) -> FleetFinisher.Event {
        let joined = pieces.map { piece in
            let path = path(of: piece)
            let size = piece.range == nil ? file.size ?? Folder.size(at: path) ?? 0 : 0
            return JoinedFile.Piece(
                piece.range ?? ByteRange(0, size), path: path, crc32: piece.crc32)
        }
        let folder = try target.workFolder()
        let name = joinedName(index)
        try folder.remove(name)
        switch try JoinedFile.make(joined, as: name, in: folder, expected: file.strongestDigest) {
        case .right(let crc32): return .checked(.right(crc32: crc32))
        case .wrongPieces(let wrong):
            return .checked(.wrongPieces(joined.indices.filter { wrong.contains(joined[$0]) }))
        case .wrongDigest: return .checked(.wrongDigest)
        }
    }

    private func joinedName(_ index: Int) -> String { "join-\(attempt)-\(index)" }

    /// Gives verified content its name: that of a whole file, or of the new file.
    private func publish(
        _ file: Listing.File, _ index: Int, _ piece: FleetFinisher.Piece?, _ crc32: UInt32
    ) throws(AssemblyError) -> FleetFinisher.Published {
        guard let piece else {
            let (folder, name) = (try target.workFolder(), joinedName(index))
            defer { try? folder.remove(name) }
            return try target.give(folder, name, isOwn: true, to: file, index, crc32: crc32)
        }
        let source = FileTarget(path: path(of: piece))
        return try target.give(
            try Folder(source.folder), source.name, isOwn: false, to: file, index, crc32: crc32)
    }

    private func writeRest(_ files: [Listing.File]) throws(FleetError) -> String? {
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
    /// - Returns: Whether it has the name.
    /// - Throws: `AssemblyError`.
    func give(
        _ folder: Folder, _ name: String, isOwn: Bool, to file: Listing.File, _ index: Int,
        crc32: UInt32
    ) throws(AssemblyError) -> FleetFinisher.Published
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
    ) throws(AssemblyError) -> FleetFinisher.Published {
        let place = FileTarget(path: "\(path)/\(file.path)")
        try MadeFolders().make(place.folder, .madeBelow([path]))
        let target = try Folder(place.folder)
        let identity = try folder.status(of: name)?.identity
        do throws(AssemblyError) {
            let isGiven =
                isOwn
                ? try folder.moveWithoutReplacing(name, to: place.name, in: target)
                : try folder.linkWithoutReplacing(name, to: place.name, in: target)
            if !isGiven { return .needsCopy }
        } catch {
            // A file server may have done what it reports as failed, and so may an earlier run.
            let there = try target.status(of: place.name)
            guard there != nil, there?.identity == identity || hasSameContent(place, folder, name)
            else {
                if case .destinationExists = error { return .isForeign }
                throw error
            }
        }
        changed.withLock { _ = $0.insert(place.folder) }
        let done = DownloadedFile(
            path: place.path, size: file.size ?? Folder.size(at: place.path) ?? 0, crc32: crc32,
            verified: [file.strongestDigest].compactMap(\.self), bytesReceived: 0,
            bytesResumed: file.size ?? 0, duration: .zero)
        set.record(UInt32(index), .success(done))
        return .done
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
