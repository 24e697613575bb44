package import Assembler
import Glibc
package import SegmenterValues

/// Files of one commit in the Hub's cache: which are there, which are missing, and their links.
///
/// May be used from any thread; the methods block on the disk.
package final class HubSnapshot: Sendable {
    /// The state of the files in the cache.
    package struct Contents: Sendable {
        /// The number of complete files, and their bytes.
        package var complete = 0
        package var bytesComplete: Int64 = 0
        /// The number of complete files that were not read, because the caller trusts the cache.
        package var unchecked = 0
        /// The names of blobs whose content is wrong; they stay.
        package var wrong: [String] = []
        /// The names of missing blobs.
        package var missing: [String] = []
        /// Whether reading was cancelled, so that the rest is not known.
        package var isCancelled = false

        /// Whether all files are there and right.
        package var isComplete: Bool { missing.isEmpty && wrong.isEmpty && !isCancelled }

        /// Adds the contents that were missing before.
        package mutating func add(_ later: Contents) {
            complete += later.complete
            bytesComplete += later.bytesComplete
            unchecked += later.unchecked
            wrong += later.wrong
            missing = later.missing
            isCancelled = isCancelled || later.isCancelled
        }
    }

    struct Blob: Sendable {
        var file: Listing.File
        /// The paths in the repository that have this content.
        var paths: [String]
    }

    /// The path of what was asked for: the snapshot, or a file or folder in it.
    package let path: String
    /// The path of the snapshot.
    package let folder: String
    /// The number of different files.
    package var count: Int { order.count }
    /// The bytes of the different files.
    package let size: Int64
    /// The name of the set of all files of the repository.
    package let set: String
    /// Whether the cache can be written.
    package let isWritable: Bool
    let cache: HubCache
    private let address: HubAddress
    private let source: Listing.Source
    private let tree: HubTree?
    private let commit: String
    private let blobs: [String: Blob]
    /// The names of the blobs, in the order of the listing.
    package let order: [String]
    let ledger: LedgerFile?

    /// Opens the cache.
    ///
    /// - Parameters:
    ///   - listing: The files of one commit.
    ///   - tree: The list of all files of the commit; `nil` if it is not known.
    ///   - address: The address on the Hub.
    ///   - root: The path of the cache.
    ///   - writes: Whether the cache is created if it is missing, and written.
    /// - Throws: `SetError`.
    package init(
        _ listing: Listing, _ tree: HubTree?, of address: HubAddress, in root: String,
        writes: Bool = true
    ) throws(SetError) {
        (self.address, self.tree, cache) = (address, tree, HubCache(root, address))
        commit = listing.source.pin ?? ""
        var all = address
        (all.path, all.revision, all.quantization) = ("", "main", nil)
        source = Listing.Source(.hub, address: all.text, pin: commit)
        let set = Listing(source, files: []).set
        self.set = set
        let inside = address.path.isEmpty ? "" : "/\(address.path)"
        folder = "\(cache.path)/\(HubCache.snapshots)/\(commit)"
        path = folder + inside
        var (blobs, order) = ([String: Blob](), [String]())
        var size: Int64 = 0
        for file in listing.files {
            guard let name = file.strongestDigest?.hex else { continue }
            if blobs[name] == nil {
                order.append(name)
                size += file.size ?? 0
            }
            blobs[name, default: Blob(file: file, paths: [])].paths.append(file.path)
        }
        (self.blobs, self.order, self.size) = (blobs, order, size)
        let isMade: Bool
        do throws(AssemblyError) {
            if writes { try cache.make() }
            isMade =
                writes && access("\(cache.path)/\(HubCache.own)", W_OK) == 0
        } catch {
            // The files of a cache that cannot be written can be used.
            guard access(cache.path, F_OK) == 0 else { throw .assembly(error) }
            isMade = false
        }
        isWritable = isMade
        let own = try? Folder("\(cache.path)/\(HubCache.own)")
        do throws(LedgerFile.Failure) {
            ledger =
                try isMade
                ? own.map { (folder) throws(LedgerFile.Failure) in
                    try LedgerFile(sharing: set, in: folder, now: Int64(time(nil)))
                }
                : own.flatMap { (folder) throws(LedgerFile.Failure) in
                    try LedgerFile(reading: set, in: folder)
                }
        } catch {
            throw SetError(error, folder: cache.path)
        }
    }

    /// Lists files of a commit in the cache, without a request.
    ///
    /// - Parameters:
    ///   - address: The address on the Hub.
    ///   - access: The Hub.
    ///   - root: The path of the cache.
    /// - Returns: The listing; `nil` if the cache does not say which files there are.
    /// - Throws: `HubError`.
    package static func listing(
        of address: HubAddress, from access: HubAccess, in root: String
    ) throws(HubError) -> Listing? {
        let cache = HubCache(root, address)
        guard let commit = cache.commit(of: address.revision) else { return nil }
        let lister = HubLister(address: address, access: access) {
            (url) async throws(HubError) in throw .unusable(url: url.redacted, .notJSON)
        }
        if let tree = cache.tree(of: commit) { return try lister.listing(of: tree, commit: commit) }
        // The link of a single file has its digest.
        let place = FileTarget(
            path: "\(cache.path)/\(HubCache.snapshots)/\(commit)/\(address.path)")
        guard !address.path.isEmpty, !address.isFolder, let folder = try? Folder(place.folder),
            let text = folder.linkText(of: place.name),
            let there = Folder.size(at: place.path)
        else { return nil }
        let name = FileTarget(path: text).name
        let kind = name.utf8.count == 64 ? "sha-256" : "git-sha1"
        guard let digest = try? Digest(parsing: "\(kind):\(name)") else { return nil }
        let source = Listing.Source(.hub, address: address.text, pin: commit)
        return Listing(
            source,
            files: [
                Listing.File(
                    path: address.path, address: address.page(at: access.endpoint), size: there,
                    digests: [digest])
            ])
    }

    // MARK: What is there

    /// Looks which files are in the cache.
    ///
    /// Blobs that segget verified before are not read if size, time and inode are as recorded.
    ///
    /// - Parameters:
    ///   - names: The names of the blobs; `nil` for all.
    ///   - rechecks: Whether all of them are read.
    ///   - trusts: Whether other blobs are not read either.
    ///   - isCancelled: Called repeatedly; returns whether to stop.
    /// - Returns: The contents.
    /// - Throws: `SetError`.
    package func examine(
        _ names: [String]? = nil, rechecks: Bool = false, trusts: Bool = false,
        isCancelled: () -> Bool = { false }
    ) throws(SetError) -> Contents {
        var contents = Contents()
        do throws(AssemblyError) {
            var marks: [String: LedgerMark] = [:]
            try ledger?.forEachMark { mark, _ in marks[mark.path] = mark }
            for name in names ?? order where !contents.isCancelled {
                contents.isCancelled = isCancelled()
                guard !contents.isCancelled else { break }
                try look(at: name, marks[name], rechecks, trusts, isCancelled, &contents)
            }
        } catch {
            throw .assembly(error)
        }
        return contents
    }

    private func look(
        at name: String, _ mark: LedgerMark?, _ rechecks: Bool, _ trusts: Bool,
        _ isCancelled: () -> Bool, _ contents: inout Contents
    ) throws(AssemblyError) {
        guard let blob = blobs[name], let digest = blob.file.strongestDigest else { return }
        guard let there = try cache.open(name) else {
            contents.missing.append(name)
            return
        }
        var isRight = there.status.size == blob.file.size
        if isRight, rechecks || mark?.isIntact(there.status) != true {
            if trusts, !rechecks {
                contents.unchecked += 1
            } else {
                let found = there.digest(like: digest, isCancelled: isCancelled)
                contents.isCancelled = isCancelled()
                guard !contents.isCancelled else { return }
                isRight = found?.digest == digest
                if isRight { try record(name, there.status, isFound: true) }
            }
        }
        guard isRight else {
            // A record of the right content no longer counts.
            if mark?.event == .complete, isWritable {
                let gone = LedgerRecord(path: name, event: .removed, at: Int64(time(nil)))
                try ledger?.append([gone])
            }
            contents.wrong.append(name)
            return
        }
        contents.complete += 1
        contents.bytesComplete += there.status.size
    }

    /// Records that a blob was verified.
    fileprivate func record(
        _ name: String, _ status: FileStatus, isFound: Bool
    ) throws(AssemblyError) {
        guard isWritable, let digest = blobs[name]?.file.strongestDigest else { return }
        var record = LedgerRecord(path: name, event: .complete, at: Int64(time(nil)))
        (record.digests, record.proof) = ([digest], digest.algorithm.rawValue)
        record.found = isFound ? true : nil
        record.take(status)
        try ledger?.append([record])
    }

    /// Returns contents as those of a set.
    package func report(of contents: Contents) -> (figures: SetFigures, work: SetWork) {
        let figures = SetFigures(
            files: count, complete: contents.complete, bytesComplete: contents.bytesComplete,
            bytes: size)
        var work = SetWork()
        work.files = Array(0..<UInt32(contents.missing.count))
        (work.complete, work.isCancelled) = (contents.complete, contents.isCancelled)
        return (figures, work)
    }

    // MARK: What is missing

    /// Claims the missing blobs that no other run is downloading.
    ///
    /// - Parameters:
    ///   - missing: The names of the missing blobs.
    ///   - copiesLeftovers: Whether what `huggingface_hub` has left of a blob is copied.
    /// - Returns: The run that downloads them; `nil` if others are downloading all of them.
    /// - Throws: `SetError`.
    package func claim(
        _ missing: [String], copiesLeftovers: Bool = true
    ) throws(SetError) -> HubRun? {
        do throws(AssemblyError) {
            let runs = HubRuns(folder: try Folder("\(cache.path)/\(HubCache.own)"))
            guard let own = try runs.claim(missing) else { return nil }
            // A run that was killed may have completed files that it had not delivered.
            let earlier = HubRun(self, try plan(of: own.blobs), runs, own)
            try earlier.deliverAll()
            let run = HubRun(self, try plan(of: self.missing(of: own.blobs)), runs, own)
            if copiesLeftovers { try run.copyLeftovers() }
            return run
        } catch {
            throw .assembly(error)
        }
    }

    /// Makes the plan of blobs; the paths of its files are their names.
    private func plan(of names: [String]) throws(AssemblyError) -> PlanFile {
        let files = names.compactMap { name in
            blobs[name].map { blob in
                var file = blob.file
                file.path = name
                return file
            }
        }
        do throws(PlanError) { return try PlanFile(Listing(source, files: files)) } catch {
            // The names are digests, so that only the plan's memory can be lacking.
            throw .cannotCreate(path: cache.path, errno: ENOMEM)
        }
    }

    /// Looks for the processes that are downloading missing blobs.
    ///
    /// - Parameter missing: The names of the missing blobs.
    /// - Returns: Whether a blob is downloaded by none of them; and one of the processes.
    package func others(
        downloading missing: [String]
    ) -> (isAnyFree: Bool, holder: LockHolder?) {
        guard let folder = try? Folder("\(cache.path)/\(HubCache.own)") else { return (true, nil) }
        let runs = HubRuns(folder: folder)
        let (isAnyFree, names) = runs.waits(for: missing)
        return (isAnyFree, names.first.flatMap { runs.holder(of: $0) })
    }

    /// Returns the missing ones of several blobs, without reading them.
    package func missing(of names: [String]) -> [String] {
        names.filter { (try? cache.open($0)) == nil }
    }

    // MARK: Names

    /// Returns the path of a blob.
    package func blobPath(_ name: String) -> String { "\(blobFolder)/\(name)" }

    /// Returns the path of a missing blob, if it has something else, such as a link out of the cache.
    package func foreign(_ blob: String) -> String? {
        guard let folder = try? Folder(blobFolder), !folder.isFree(blob) else { return nil }
        return folder.path(of: blob)
    }

    /// Returns the path in the snapshot that has a blob.
    package func path(of blob: String) -> String? {
        blobs[blob]?.paths.first.map { "\(cache.path)/\(HubCache.snapshots)/\(commit)/\($0)" }
    }

    /// Returns the paths in the repository that have a blob.
    package func paths(of blob: String) -> [String] { blobs[blob]?.paths ?? [] }

    /// Links the paths of the snapshot to their blobs, as far as these are there and right.
    ///
    /// If all are, the reference of the revision is written, and parts that are no longer needed are
    /// removed.
    ///
    /// - Parameter contents: The contents.
    /// - Returns: The paths that have something else, which stays.
    /// - Throws: `SetError`.
    package func link(_ contents: Contents) throws(SetError) -> [String] {
        guard isWritable, !contents.isCancelled else { return [] }
        let without = Set(contents.missing + contents.wrong)
        var foreign: [String] = []
        let made = MadeFolders()
        do throws(AssemblyError) {
            for name in order {
                guard !without.contains(name) else { continue }
                for path in paths(of: name)
                where !(try cache.link(path, to: name, in: commit, made)) {
                    foreign.append("\(cache.path)/\(HubCache.snapshots)/\(commit)/\(path)")
                }
            }
            if let tree { cache.note(tree, of: commit) }
            if contents.isComplete, foreign.isEmpty {
                HubRuns(folder: try Folder("\(cache.path)/\(HubCache.own)")).removeLeftovers {
                    (try? cache.open($0)) != nil
                }
                try cache.note(commit, as: address.revision)
            }
            try ledger?.synchronize()
        } catch {
            throw .assembly(error)
        }
        return foreign
    }

    /// The folder of blobs.
    fileprivate var blobFolder: String { "\(cache.path)/\(HubCache.blobs)" }

    /// Whether a blob has its planned content.
    fileprivate func isRight(_ name: String) throws(AssemblyError) -> Bool {
        guard let there = try cache.open(name), let digest = blobs[name]?.file.strongestDigest,
            there.digest(like: digest, isCancelled: { false })?.digest == digest
        else { return false }
        try record(name, there.status, isFound: true)
        return true
    }
}

/// The download of missing blobs in a folder of their own.
///
/// May be used from any thread; the methods block on the disk.
package final class HubRun: Sendable {
    /// The plan; the paths of its files are the names of blobs.
    package let plan: PlanFile
    /// The path of the folder.
    package let path: String
    private let snapshot: HubSnapshot
    private let runs: HubRuns
    private let own: HubRuns.Own
    private let problem = Monitor<SetError?>(nil)
    private let foundWrong = Monitor(false)
    private let copies = Monitor<Set<String>>([])
    /// The time without a change after which a file of `huggingface_hub` is copied, in nanoseconds.
    private static let rest: Int64 = 60_000_000_000

    fileprivate init(
        _ snapshot: HubSnapshot, _ plan: PlanFile, _ runs: HubRuns, _ own: HubRuns.Own
    ) {
        (self.snapshot, self.plan, self.runs, self.own) = (snapshot, plan, runs, own)
        path = runs.folder.path(of: own.name)
    }

    /// Gives a complete and verified file its place among the blobs.
    func deliver(_ name: String) {
        do throws(AssemblyError) {
            let (here, blobs) = (try Folder(path), try Folder(snapshot.blobFolder))
            let way: Bool
            do throws(AssemblyError) {
                way = try here.moveWithoutReplacing(name, to: name, in: blobs)
            } catch {
                guard case .destinationExists = error else { throw error }
                // Another process has written it; a wrong one stays.
                guard try snapshot.isRight(name) else { return foundWrong.withLock { $0 = true } }
                return try here.remove(name)
            }
            guard way else {
                throw .io(operation: "rename", path: blobs.path(of: name), errno: EXDEV)
            }
            if let status = try blobs.status(of: name) {
                try snapshot.record(name, status, isFound: false)
            }
        } catch {
            problem.withLock { $0 = $0 ?? .assembly(error) }
        }
    }

    /// Delivers what an earlier run has completed in this folder; removes what is not right.
    fileprivate func deliverAll() throws(AssemblyError) {
        let here = try Folder(path)
        for index in 0..<plan.count {
            guard let file = try? plan.file(at: index), let digest = file.strongestDigest,
                let there = try StandingFile.open(folder: path, name: file.path)
            else { continue }
            if there.digest(like: digest, isCancelled: { false })?.digest == digest {
                deliver(file.path)
            } else {
                try here.remove(file.path)
            }
        }
        if case .assembly(let error)? = problem.withLock({ $0 }) { throw error }
    }

    /// The blobs whose first bytes were copied from files that `huggingface_hub` has left.
    package var copied: Set<String> { copies.withLock { $0 } }

    /// Copies what `huggingface_hub` has left of blobs, for the download to continue.
    ///
    /// A file that was changed in the last minute, or is open for writing, is left out.
    fileprivate func copyLeftovers() throws(AssemblyError) {
        let (here, blobs) = (try Folder(path), try Folder(snapshot.blobFolder))
        var found: [String: [String]] = [:]
        for name in blobs.entryNames where name.hasSuffix(".incomplete") {
            found[String(name.prefix { $0 != "." }), default: []].append(name)
        }
        guard !found.isEmpty, let now = blobs.serverTime else { return }
        for index in 0..<plan.count {
            guard let file = try? plan.file(at: index), let names = found[file.path],
                here.isFree(PartNames(file.path).part), here.isFree(file.path)
            else { continue }
            var longest: (size: Int64, name: String)?
            for name in names {
                guard let status = try blobs.status(of: name), status.isRegular,
                    status.size > longest?.size ?? 0, status.size <= file.size ?? 0,
                    now - status.modifiedTotal >= Self.rest, !blobs.isBeingWritten(name)
                else { continue }
                longest = (status.size, name)
            }
            guard let longest else { continue }
            if blobs.copy(longest.name, to: here, as: file.path) {
                copies.withLock { _ = $0.insert(file.path) }
            } else {
                try here.remove(file.path)
            }
        }
    }

    /// Ends the run: its folder is removed, or left to the next run.
    ///
    /// - Parameter isComplete: Whether all files were delivered.
    /// - Throws: The first error of a delivery.
    package func end(isComplete: Bool) throws(SetError) {
        var problem = problem.withLock { $0 }
        // Until the names are durable, a delivered file may still be in the folder of the run.
        do throws(AssemblyError) { try Folder(snapshot.blobFolder).sync() } catch {
            problem = problem ?? .assembly(error)
        }
        runs.end(own, isComplete: isComplete && problem == nil && !foundWrong.withLock { $0 })
        if let problem { throw problem }
    }
}
