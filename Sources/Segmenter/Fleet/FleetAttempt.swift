import Assembler
import Glibc
import SegmenterValues

/// One attempt of this process at a shard: its own folder, and what it takes from earlier attempts.
///
/// May be used from any thread; the methods block on the disk.
final class FleetAttempt: Sendable {
    let shard: Int
    let attempt: Int
    /// The earlier attempts whose complete files count, latest first.
    let sources: [Int]
    /// The number and bytes of files that earlier attempts have completed.
    let earlier: (files: Int, bytes: Int64)
    /// The bytes of all files of the shard, as far as known.
    let size: Int64
    /// The set of the files that are missing; `nil` if there are none.
    let set: SetFolder?
    /// The bytes of the missing files that are ranges, by their paths.
    let ranges: [String: ByteRange]

    /// Creates the folder of the attempt.
    ///
    /// - Parameters:
    ///   - shard: The number of the shard.
    ///   - attempt: The number of the attempt, which this process has claimed.
    ///   - fleet: The fleet.
    ///   - hub: The Hugging Face Hub and its token; `nil` for none.
    ///   - describe: Returns how a failure is recorded.
    /// - Throws: `FleetError`.
    init(
        _ shard: Int, _ attempt: Int, of fleet: Fleet, hub: HubAccess?,
        describe: @escaping @Sendable (DownloadError) -> SetFailure
    ) throws(FleetError) {
        (self.shard, self.attempt) = (shard, attempt)
        let board = try fleet.board()
        sources = board.sources(of: shard, before: attempt)
        let voids = fleet.content(of: board.voids(of: shard))
        var done = FleetShardFiles(without: voids)
        for source in sources {
            try fleet.check(FleetMark(shard, source, .claim))
            done.add(try fleet.records(shard, source), of: source)
        }
        var missing: [Listing.File] = []
        var (files, bytes, size) = (0, Int64(0), Int64(0))
        for item in try fleet.items(of: shard) {
            let file = try fleet.file(item)
            size += file.size ?? 0
            if done.complete[file.path]?.isOf(file) == true {
                files += 1
                bytes += file.size ?? 0
            } else {
                missing.append(file)
            }
        }
        (earlier, self.size) = ((files, bytes), size)
        let folder = fleet.files(shard, attempt)
        ranges = missing.reduce(into: [:]) { $0["\(folder)/\($1.path)"] = $1.window?.range }
        guard !missing.isEmpty else {
            set = nil
            return
        }
        do throws(AssemblyError) {
            try MadeFolders().make(folder, .made)
            for source in sources {
                let isOver = board.kinds(shard, source).contains(.left)
                try Self.takeParts(
                    of: missing.filter { voids.last(of: $0.path) < source },
                    from: fleet.files(shard, source), to: folder, isOver: isOver)
            }
        } catch {
            throw .assembly(error)
        }
        let listing = Listing(fleet.plan.source, files: missing)
        let plan: PlanFile
        do throws(PlanError) { plan = try PlanFile(listing) } catch {
            throw FleetError(error, at: fleet.plan.path)
        }
        do throws(SetError) {
            set = try SetFolder(plan, in: folder, hub: hub, describe: describe)
        } catch {
            throw FleetError(error)
        }
        // Another user may finish the fleet.
        if let records = try? Folder("\(folder)/\(PlanFormat.recordFolder)") {
            for name in records.entryNames where name.hasSuffix(".ledger") {
                records.open(toOthers: name)
            }
        }
    }

    /// Takes the parts that an earlier attempt has left.
    ///
    /// They are moved if it has said that it is over, else copied, because it may still write.
    private static func takeParts(
        of files: [Listing.File], from source: String, to target: String, isOver: Bool
    ) throws(AssemblyError) {
        var folders: [String: Set<String>] = [:]
        for file in files {
            let place = FileTarget(path: "\(source)/\(file.path)")
            if folders[place.folder] == nil {
                folders[place.folder] = Set((try? Folder(place.folder))?.entryNames ?? [])
            }
            let names = PartNames(place.name)
            guard let there = folders[place.folder], there.contains(names.manifest),
                there.contains(names.part), let from = try? Folder(place.folder)
            else { continue }
            let new = FileTarget(path: "\(target)/\(file.path)").folder
            try MadeFolders().make(new, .madeBelow([target]))
            try Folder(new).takePart(names, from: from, isOver: isOver)
        }
    }
}

/// A file that an attempt has completed, as its ledger says.
struct FleetRecord: Sendable, Hashable {
    var attempt: Int
    var size: Int64
    /// The hash of the planned version.
    var version: String?
    /// The CRC-32 of the content; `nil` if it was not recorded.
    var crc32: UInt32?

    /// Whether the record is of the version that a file is planned to have.
    func isOf(_ file: Listing.File) -> Bool {
        version == PlanFormat.hex(file.version) && (file.size ?? size) == size
    }
}

extension Fleet {
    /// Returns the files that an attempt has completed, by their paths.
    ///
    /// The files themselves are not looked at.
    ///
    /// - Throws: `FleetError`.
    func records(_ shard: Int, _ attempt: Int) throws(FleetError) -> [String: FleetRecord] {
        let path = "\(files(shard, attempt))/\(PlanFormat.recordFolder)"
        guard let folder = try? Folder(path), let set = LedgerFile.onlySet(in: folder) else {
            return [:]
        }
        var records: [String: FleetRecord] = [:]
        do throws(LedgerFile.Failure) {
            guard let ledger = try LedgerFile(reading: set, in: folder) else {
                return [:]
            }
            do throws(AssemblyError) {
                try ledger.forEachRecord { record in
                    guard record.event == .complete, let size = record.size else { return }
                    records[record.path] = FleetRecord(
                        attempt: attempt, size: size, version: record.version,
                        crc32: record.digests?.first { $0.algorithm == .crc32 }?.crc32)
                }
            } catch {
                throw LedgerFile.Failure.assembly(error)
            }
        } catch {
            throw FleetError(SetError(error, folder: path))
        }
        return records
    }
}
