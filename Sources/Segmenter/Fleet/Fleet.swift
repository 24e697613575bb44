import Assembler
import Glibc
public import SegmenterValues

/// A plan that is divided into shards, in a folder that several machines share.
///
/// `docs/fleet.md` describes the folder. No method locks, and none replaces or removes a file that
/// another process has made. May be used from any thread; the methods block on the disk.
public final class Fleet: Sendable {
    /// The path of the folder.
    public let path: String
    /// The plan.
    public let plan: PlanFile
    /// The number of shards.
    public var shards: Int { head.shards }
    /// The most connections to a host, over all workers; `nil` for the usual bound.
    public var connections: Int? { head.connections }
    /// The most requests to a host, over all workers; `nil` for no bound.
    public var requests: RequestRate? { head.requests.flatMap { RequestRate($0) } }
    /// Whether files of other users are accepted.
    let isShared: Bool
    private let head: FleetFormat.Head
    private let division: FleetDivision
    private let seed: UInt32
    private let root: Folder
    private let marks: Folder
    private let process = LockHolder.current()

    /// The most shards that a fleet may have.
    public static let mostShards = 10_000
    /// The most unpinned paths that an error carries.
    private static let mostPaths = 10

    /// Options of a new fleet.
    public struct Options: Sendable, Hashable {
        /// The wanted number of shards.
        public var shards: Int
        /// Whether files may be downloaded that nothing pins to one version.
        public var allowsUnpinned = false
        /// The most connections to a host, over all workers; `nil` for the usual bound.
        public var connections: Int?
        /// The most requests to a host, over all workers; `nil` for no bound.
        public var requests: RequestRate?

        /// Creates options.
        public init(shards: Int) { self.shards = shards }
    }

    // MARK: Creating

    /// Creates a fleet.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - path: The path of the folder, which must not exist, or be empty.
    ///   - options: The options.
    /// - Returns: The fleet.
    /// - Throws: `FleetError`. Nothing of the folder remains then.
    public static func create(
        _ plan: PlanFile, at path: String, _ options: Options
    ) throws(FleetError) -> Fleet {
        let files = try files(of: plan, options)
        guard !files.isEmpty else { throw .empty }
        let division = FleetDivision(files, into: min(options.shards, mostShards))
        guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
            throw .assembly(.cannotCreate(path: path, errno: errno))
        }
        do throws(FleetError) {
            try fill(path, plan, division, options)
        } catch {
            if case .exists = error { throw error }
            if let folder = try? Folder(path) {
                for name in folder.entryNames { folder.removeAll(name) }
            }
            rmdir(path)
            throw error
        }
        return try Fleet(path)
    }

    private static func fill(
        _ path: String, _ plan: PlanFile, _ division: FleetDivision, _ options: Options
    ) throws(FleetError) {
        let root: Folder
        do throws(AssemblyError) {
            root = try Folder(path)
            guard root.entryNames.isEmpty else { throw .destinationExists(path: path) }
            for name in [FleetFormat.marks, FleetFormat.work, FleetFormat.hosts] {
                let code = root.makeFolder(name)
                guard code == 0 else {
                    throw .cannotCreate(path: root.path(of: name), errno: code)
                }
            }
            try plan.copy(to: FleetFormat.plan, in: root)
        } catch {
            if case .destinationExists = error { throw .exists(path: path) }
            throw .assembly(error)
        }
        guard let digest = try digest(of: path) else {
            throw .assembly(.cannotCreate(path: root.path(of: FleetFormat.plan), errno: EIO))
        }
        let id = PlanFormat.hex(UInt64.random(in: 0...UInt64.max))
        let head = FleetFormat.Head(
            fleet: FleetFormat.version, id: id, set: plan.set, plan: digest, files: plan.count,
            size: plan.size, shards: division.starts.count, connections: options.connections,
            requests: options.requests?.description)
        let seed = FleetFormat.seed(id: id)
        var bytes = SealedLine.of(head, seed: seed)
        for (number, start) in division.starts.enumerated() {
            let line = FleetFormat.Shard(shard: number, file: start.file, offset: start.offset)
            bytes += SealedLine.of(line, seed: seed)
        }
        do throws(AssemblyError) {
            // Without this file, the folder is not that of a fleet.
            try root.create(FleetFormat.head, bytes)
            try root.sync()
        } catch {
            throw .assembly(error)
        }
    }

    /// Returns what the division has to know of each file.
    private static func files(
        of plan: PlanFile, _ options: Options
    ) throws(FleetError) -> [FleetDivision.File] {
        var files: [FleetDivision.File] = []
        var unpinned: (paths: [String], count: Int) = ([], 0)
        for index in 0..<plan.count {
            let file: Listing.File
            do throws(PlanError) { file = try plan.file(at: index) } catch {
                throw FleetError(error, at: plan.path)
            }
            let isPinned = file.isPinned(by: plan.source)
            if !isPinned {
                unpinned.count += 1
                if unpinned.paths.count < mostPaths { unpinned.paths.append(file.path) }
            }
            files.append(.init(size: file.size, canBeCut: isPinned))
        }
        guard unpinned.count == 0 || options.allowsUnpinned else {
            throw .unpinned(unpinned.paths, count: unpinned.count)
        }
        return files
    }

    // MARK: Opening

    /// Opens a fleet.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - isShared: Whether the folder, and claims in it, may belong to other users.
    ///   - foldsCase: Whether names that differ only in case are the same.
    /// - Throws: `FleetError`.
    public init(
        _ path: String, isShared: Bool = false, foldsCase: Bool = false
    ) throws(FleetError) {
        (self.path, self.isShared) = (path, isShared)
        do throws(AssemblyError) { root = try Folder(path) } catch { throw .assembly(error) }
        if !isShared {
            try Self.check(path) { [root] () throws(AssemblyError) in try root.isOwn }
        }
        guard let marks = root.folder(FleetFormat.marks) else {
            guard errno != ENOENT else { throw .notAFleet(path: path) }
            throw .assembly(
                .folderUnavailable(path: root.path(of: FleetFormat.marks), errno: errno))
        }
        self.marks = marks
        (head, division) = try Self.read(root)
        seed = FleetFormat.seed(id: head.id)
        let planPath = root.path(of: FleetFormat.plan)
        do throws(PlanError) { plan = try PlanFile(planPath, foldsCase: foldsCase) } catch {
            throw FleetError(error, at: planPath)
        }
        guard try Self.digest(of: path) == head.plan else { throw .otherPlan(path: planPath) }
        guard head.files == plan.count else {
            throw .damaged(path: root.path(of: FleetFormat.head))
        }
        for start in division.starts where start.offset > 0 {
            let file = try file(.init(file: start.file))
            guard start.offset < file.size ?? 0 else {
                throw .damaged(path: root.path(of: FleetFormat.head))
            }
        }
    }

    /// Refuses what belongs to another user.
    private static func check(
        _ path: String, _ isOwn: () throws(AssemblyError) -> Bool
    ) throws(FleetError) {
        do throws(AssemblyError) {
            if try isOwn() { return }
        } catch {
            throw .assembly(error)
        }
        throw .otherUser(path: path)
    }

    /// Returns the SHA-256 of the plan in a folder; `nil` if there is none.
    private static func digest(of path: String) throws(FleetError) -> Digest? {
        do throws(AssemblyError) {
            let none = Digest(.sha256, Array(repeating: 0, count: 32))
            let copy = try StandingFile.open(folder: path, name: FleetFormat.plan)
            return none.flatMap { copy?.digest(like: $0) { false }?.digest }
        } catch {
            throw .assembly(error)
        }
    }

    private static func read(
        _ root: Folder
    ) throws(FleetError) -> (FleetFormat.Head, FleetDivision) {
        let path = root.path(of: FleetFormat.head)
        guard let bytes = root.read(FleetFormat.head, most: 64 << 20) else {
            throw errno == ENOENT
                ? .notAFleet(path: root.path)
                : .assembly(.io(operation: "read", path: path, errno: errno))
        }
        do throws(FleetFormat.ReadError) { return try FleetFormat.read(bytes) } catch {
            switch error {
            case .other: throw .notAFleet(path: root.path)
            case .laterVersion(let version): throw .laterVersion(version, path: path)
            case .damaged: throw .damaged(path: path)
            }
        }
    }

    /// Returns the items of a shard: files of the plan, and ranges of them.
    func items(of shard: Int) throws(FleetError) -> [FleetDivision.Item] {
        do throws(PlanError) {
            return try division.items(of: shard) { (index) throws(PlanError) in
                try plan.file(at: index).size
            }
        } catch {
            throw FleetError(error, at: plan.path)
        }
    }

    /// Returns the file or range of a file that an item means, as a file of a set.
    func file(_ item: FleetDivision.Item) throws(FleetError) -> Listing.File {
        do throws(PlanError) {
            var file = try plan.file(at: item.file)
            guard let range = item.range, let size = file.size else { return file }
            file.window = RemoteWindow(range, of: size)
            (file.size, file.digests) = (range.count, [])
            return file
        } catch {
            throw FleetError(error, at: plan.path)
        }
    }

    // MARK: Marks

    /// The result of making a mark.
    enum Made: Sendable, Hashable {
        case made
        /// Somebody else has made it.
        case taken
    }

    /// Looks at all marks.
    ///
    /// - Throws: `FleetError`.
    func board() throws(FleetError) -> FleetBoard {
        // A new descriptor: some file servers show its owner an old list otherwise.
        guard let folder = root.folder(FleetFormat.marks) else {
            throw .assembly(.folderUnavailable(path: marks.path, errno: errno))
        }
        return FleetBoard(folder.entryNames.lazy.compactMap { FleetMark(name: $0) })
    }

    /// Makes a mark, unless it exists.
    ///
    /// If a file server reports an error although it has made the mark, the content of the mark shows
    /// that it is the own one.
    ///
    /// - Parameters:
    ///   - mark: The mark.
    ///   - describe: Adds to its content.
    /// - Returns: Whether this process has made it.
    /// - Throws: `FleetError`.
    func make(
        _ mark: FleetMark, _ describe: (inout FleetClaim) -> Void = { _ in }
    ) throws(FleetError) -> Made {
        let token = PlanFormat.hex(UInt64.random(in: 0...UInt64.max))
        let scheduler = FleetElement.own
        var claim = FleetClaim(
            token: token, process: process.text, element: scheduler?.name,
            restart: scheduler?.restart, segget: seggetVersion, at: Int64(time(nil)))
        describe(&claim)
        let bytes = SealedLine.of(claim, seed: seed)
        do throws(AssemblyError) {
            try marks.createWhole(mark.name, bytes, temporary: ".new-\(token)")
            return .made
        } catch {
            if let there = self.claim(mark), there.token == token { return .made }
            if case .destinationExists = error { return .taken }
            throw .assembly(error)
        }
    }

    /// Returns the content of a mark; `nil` if it cannot be read.
    func claim(_ mark: FleetMark) -> FleetClaim? {
        marks.read(mark.name, most: 1 << 20).flatMap {
            FleetFormat.decode(FleetClaim.self, $0, seed: seed)
        }
    }

    /// Returns what `void` marks say; those that cannot be read say nothing.
    func content(of voids: [FleetMark]) -> FleetVoids {
        voids.reduce(into: FleetVoids()) { content, mark in
            content.add(claim(mark)?.paths ?? [], of: mark.attempt)
        }
    }

    /// Returns the path of a mark, for messages.
    func path(of mark: FleetMark) -> String { marks.path(of: mark.name) }

    /// Refuses a mark of another user, unless the fleet is shared.
    ///
    /// - Throws: `otherUser`, `assembly`.
    func check(_ mark: FleetMark) throws(FleetError) {
        guard !isShared else { return }
        try Self.check(path(of: mark)) { () throws(AssemblyError) in
            try marks.status(of: mark.name)?.isOwn ?? true
        }
    }

    /// Returns the signs of life of the running attempts.
    ///
    /// - Parameters:
    ///   - board: The marks.
    ///   - shards: The shards to look at.
    /// - Returns: The sign of each shard whose attempt is running.
    /// - Throws: `otherUser`.
    func signs(
        _ board: FleetBoard, _ shards: [Int]
    ) throws(FleetError) -> [Int: FleetWorker.Sign] {
        var signs: [Int: FleetWorker.Sign] = [:]
        for shard in shards {
            guard case .running(let attempt) = board.state(of: shard) else { continue }
            try check(FleetMark(shard, attempt, .claim))
            signs[shard] =
                isOver(FleetMark(shard, attempt, .claim))
                ? .over : .beat(beatLength(shard, attempt))
        }
        return signs
    }

    /// Whether the process that made a claim no longer exists, or the scheduler has replaced it.
    private func isOver(_ mark: FleetMark) -> Bool {
        guard let claim = claim(mark) else { return false }
        if let own = FleetElement.own, claim.element == own.name,
            own.restart > claim.restart ?? 0
        {
            return true
        }
        let found = LockHolder(claim.process)
        return found != nil
            && LockDecision(found: found, own: process, life: LockHolder.life) == .takeOver
    }

    // MARK: Attempts

    /// Returns the path of the folder of an attempt.
    func folder(_ shard: Int, _ attempt: Int) -> String {
        "\(path)/\(FleetFormat.work)/\(shard).\(attempt)"
    }

    /// Returns the path of the folder for the files of an attempt.
    func files(_ shard: Int, _ attempt: Int) -> String { "\(folder(shard, attempt))/files" }

    /// Records the progress of an attempt; failures only make the attempt look idle.
    func beat(_ shard: Int, _ attempt: Int, _ beat: FleetBeat) {
        guard let folder = try? Folder(folder(shard, attempt)) else { return }
        folder.append("beat", SealedLine.of(beat, seed: seed))
    }

    private func beatLength(_ shard: Int, _ attempt: Int) -> Int64 {
        Folder.openedSize(at: "\(folder(shard, attempt))/beat") ?? 0
    }

    /// Returns the last progress that an attempt has recorded; `nil` if there is none.
    func lastBeat(_ shard: Int, _ attempt: Int) -> FleetBeat? {
        let path = "\(folder(shard, attempt))/beat"
        guard let bytes = Folder.readEnd(at: path, most: 4096) else { return nil }
        return bytes.split(separator: UInt8(ascii: "\n")).reversed().lazy.compactMap {
            FleetFormat.decode(FleetBeat.self, Array($0), seed: self.seed)
        }.first
    }
}

/// The element of an array job that has started this process.
struct FleetElement: Sendable, Hashable {
    /// A name that is the same for each start of the element.
    var name: String
    /// How often the scheduler has started it again.
    var restart: Int

    /// The element of this process; `nil` without a scheduler that names one.
    static let own: FleetElement? = {
        func value(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        if let job = value("SLURM_ARRAY_JOB_ID"), let task = value("SLURM_ARRAY_TASK_ID") {
            return FleetElement(
                name: "slurm \(job)_\(task)",
                restart: value("SLURM_RESTART_COUNT").flatMap { Int($0) } ?? 0)
        }
        return nil
    }()
}

extension Listing.File {
    /// Whether the file is pinned to one version: by a digest, a strong entity tag, or the source.
    func isPinned(by source: Listing.Source) -> Bool {
        guard size != nil else { return false }
        return !digests.isEmpty || source.pin != nil || etag?.hasPrefix("\"") == true
    }
}
