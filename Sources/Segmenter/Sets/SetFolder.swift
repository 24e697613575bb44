import Assembler
import Glibc
public import SegmenterValues

/// A data set in its folder: its plan, and the ledger of what is complete.
///
/// `docs/ledger.md` describes the files in `.segget`. Only one run at a time may have the set open.
/// May be used from any thread; the methods block on the disk, but ``record(_:_:)`` does not.
public final class SetFolder: Sendable {
    /// The plan.
    public let plan: PlanFile
    /// The path of the folder.
    public let path: String
    private let root: Folder
    private let ledger: LedgerFile
    private let state: Monitor<SetRecords>
    private let writer: LedgerWriter
    private let describe: @Sendable (DownloadError) -> SetFailure
    /// The Hugging Face Hub and its token; `nil` for none.
    let hub: HubAccess?
    /// Called with each file that is complete, on the thread that writes the ledger.
    private let noteComplete: @Sendable (Listing.File) -> Void

    /// Opens a set, and creates its folder if it is missing.
    ///
    /// - Parameters:
    ///   - plan: The plan of the set, of which a copy is kept in the folder.
    ///   - folder: The path of the folder.
    ///   - hub: The Hugging Face Hub and its token, for a set of this source; `nil` for none.
    ///   - describe: Returns how a failure is recorded; called on any thread.
    /// - Throws: `SetError`.
    public convenience init(
        _ plan: PlanFile, in folder: String, hub: HubAccess? = nil,
        describe: @escaping @Sendable (DownloadError) -> SetFailure
    ) throws(SetError) {
        let records = HubFolder(folder, plan.source)
        try self.init(plan, in: folder, hub, describe) { records?.note($0) }
    }

    /// Opens the set of blobs that a run downloads for the Hub's cache.
    ///
    /// Each complete file is delivered to the cache.
    ///
    /// - Parameters:
    ///   - run: The run.
    ///   - hub: The Hugging Face Hub and its token.
    ///   - describe: Returns how a failure is recorded; called on any thread.
    /// - Throws: `SetError`.
    package convenience init(
        _ run: HubRun, hub: HubAccess,
        describe: @escaping @Sendable (DownloadError) -> SetFailure
    ) throws(SetError) {
        try self.init(run.plan, in: run.path, hub, describe) { run.deliver($0.path) }
    }

    /// Keeps the list of all files of the commit where `huggingface_hub` looks for it.
    package func note(_ tree: HubTree) { HubFolder(path, plan.source)?.note(tree) }

    private init(
        _ plan: PlanFile, in folder: String, _ hub: HubAccess?,
        _ describe: @escaping @Sendable (DownloadError) -> SetFailure,
        noteComplete: @escaping @Sendable (Listing.File) -> Void
    ) throws(SetError) {
        (self.plan, path, self.hub, self.describe) = (plan, folder, hub, describe)
        self.noteComplete = noteComplete
        let now = Int64(time(nil))
        do throws(AssemblyError) {
            try MadeFolders().make("\(folder)/\(PlanFormat.recordFolder)", .made)
            root = try Folder(folder)
        } catch {
            throw .assembly(error)
        }
        guard let records = root.folder(PlanFormat.recordFolder) else {
            let name = root.path(of: PlanFormat.recordFolder)
            throw .assembly(.folderUnavailable(path: name, errno: errno))
        }
        do throws(LedgerFile.Failure) {
            ledger = try LedgerFile(writing: plan.set, in: records, now: now)
        } catch {
            throw SetError(error, folder: folder)
        }
        do throws(AssemblyError) {
            let found = try SetRecords(ledger, plan, in: root)
            if found.isWorthARewrite {
                let kept = found.kept
                try ledger.rewrite(now: now) { kept.contains($0) }
                state = Monitor(try SetRecords(ledger, plan, in: root))
            } else {
                state = Monitor(found)
            }
            try plan.copy(to: plan.set + ".plan", in: records)
        } catch {
            ledger.release()
            throw .assembly(error)
        }
        writer = LedgerWriter(ledger)
    }

    /// Whether a folder, or the nearest existing one above it, ignores case in names.
    ///
    /// A plan is opened accordingly. The test creates and removes an empty file.
    public static func foldsCase(_ folder: String) -> Bool { BatchNames.foldsCase(folder) }

    /// How far the set is.
    public var figures: SetFigures { state.withLock { $0.figures(of: plan) } }

    /// Decides for each file whether it is complete.
    ///
    /// Files that are on the disk as recorded are not read. Others are compared by their digests.
    ///
    /// - Parameters:
    ///   - rechecks: Whether the bytes of all complete files are read.
    ///   - isCancelled: Called repeatedly; returns whether to stop.
    /// - Returns: What is to be done.
    /// - Throws: `SetError`.
    public func examine(
        rechecks: Bool = false, isCancelled: () -> Bool = { false }
    ) throws(SetError) -> SetWork {
        var work = SetWork()
        let hasFiles = !root.isEmpty(but: PlanFormat.recordFolder)
        for index in 0..<plan.count {
            let state = state.withLock { $0.states[index] }
            if state == .complete, !rechecks {
                work.complete += 1
                continue
            }
            // In an empty folder, nothing can be complete.
            guard state != .none || hasFiles else {
                work.files.append(UInt32(index))
                continue
            }
            guard !isCancelled() else {
                work.isCancelled = true
                break
            }
            let file = try file(at: index)
            switch look(at: file, index, rechecks, isCancelled) {
            case .complete: work.complete += 1
            case .replace:
                work.files.append(UInt32(index))
                work.replaced.insert(UInt32(index))
            case .keep: work.foreign.append(file.path)
            case .download, .read: work.files.append(UInt32(index))
            }
        }
        (work.extras, work.asOf) = state.withLock { ($0.extras.keys.sorted(), $0.asOf) }
        return work
    }

    /// Returns the file at an index of the plan.
    ///
    /// - Throws: `SetError.plan`.
    func file(at index: Int) throws(SetError) -> Listing.File {
        do throws(PlanError) { return try plan.file(at: index) } catch {
            throw .plan(error, path: plan.path)
        }
    }

    /// Decides about a file that is not simply complete; reads it if needed.
    private func look(
        at file: Listing.File, _ index: Int, _ rechecks: Bool, _ isCancelled: () -> Bool
    ) -> SetDecision {
        guard (try? root.status(of: file.path))?.isRegular == true,
            let there = try? StandingFile.open(folder: path, name: file.path)
        else { return .download }
        let place = state.withLock { $0.places[index] }
        guard let record = place.flatMap({ ledger.record(at: $0) }), record.event == .complete
        else { return adopt(there, file, index, isCancelled) }
        let decision = SetDecision(
            record, file, attributes: there.facts?.header.identity, exists: true,
            isIntact: record.isIntact(there.status), rechecks: rechecks)
        guard case .read(let digest, let otherwise) = decision else {
            if decision == .complete {
                note(
                    file, index, there.status, record.digests ?? [], record.proof,
                    found: record.found)
            }
            return decision
        }
        guard let found = there.digest(like: digest, isCancelled: isCancelled) else {
            return .download
        }
        guard found.digest == digest else { return otherwise == .replace ? .replace : .keep }
        var digests = record.digests ?? []
        if !digests.contains(digest) { digests.append(digest) }
        note(
            file, index, there.status, digests, digest.algorithm.rawValue, found: record.found)
        return .complete
    }

    /// Decides about a file without a record: whether its content is that of the planned version.
    ///
    /// Without a digest, the attributes that segget stored when it was complete show that.
    private func adopt(
        _ there: StandingFile, _ file: Listing.File, _ index: Int, _ isCancelled: () -> Bool
    ) -> SetDecision {
        if let digest = file.strongestDigest {
            guard file.size ?? there.status.size == there.status.size,
                let found = there.digest(like: digest, isCancelled: isCancelled),
                found.digest == digest
            else { return .download }
            note(
                file, index, there.status, [digest, Digest(crc32: found.crc32)],
                digest.algorithm.rawValue, found: there.facts == nil ? true : nil)
            return .complete
        }
        guard let pin = file.pin, let facts = there.facts, facts.size == pin.size,
            facts.header.isFor(fullURL: file.address),
            pin.difference(of: facts.header.identity) == nil,
            let checked = there.check(isCancelled: isCancelled)
        else { return .download }
        let digests = checked.verified + [Digest(crc32: checked.crc32)]
        note(file, index, there.status, digests, "attributes", found: nil)
        return .complete
    }

    /// Records a file that was complete already.
    private func note(
        _ file: Listing.File, _ index: Int, _ status: FileStatus, _ digests: [Digest],
        _ proof: String?, found: Bool?
    ) {
        var record = LedgerRecord(path: file.path, event: .complete, at: Int64(time(nil)))
        record.version = PlanFormat.hex(file.version)
        (record.digests, record.proof, record.found) = (digests, proof, found)
        record.take(status)
        state.withLock { $0.complete(index, size: status.size) }
        writer.add { [record, noteComplete] in
            noteComplete(file)
            return record
        }
    }

    /// Records the result of a download; returns immediately.
    ///
    /// - Parameters:
    ///   - index: The index of the file in the plan.
    ///   - result: The result.
    public func record(_ index: UInt32, _ result: Result<DownloadedFile, DownloadError>) {
        let number = Int(index)
        switch result {
        case .failure(let error):
            guard error.reason != .cancelled else { return }
            state.withLock { $0.fail(index) }
            writer.add { [plan, describe] in
                guard let file = try? plan.file(at: number) else { return nil }
                let failure = describe(error)
                var record = LedgerRecord(path: file.path, event: .failed, at: Int64(time(nil)))
                (record.kind, record.code) = (failure.kind, failure.code)
                (record.message, record.hint) = (failure.message, failure.hint)
                return record
            }
        case .success(let done):
            // A file that was skipped was not looked at.
            guard done.unchanged != .skipped else { return }
            state.withLock { $0.complete(number, size: done.size) }
            writer.add { [plan, root, noteComplete] () throws(AssemblyError) in
                guard let file = try? plan.file(at: number),
                    let status = try root.status(of: file.path), status.size == done.size
                else { return nil }
                var record = LedgerRecord(path: file.path, event: .complete, at: Int64(time(nil)))
                record.version = PlanFormat.hex(plan.version(at: number))
                record.digests = done.verified + (done.crc32.map { [Digest(crc32: $0)] } ?? [])
                record.proof = file.proof(verified: done.verified)
                record.found = done.unchanged == nil ? nil : true
                record.take(status)
                noteComplete(file)
                return record
            }
        }
    }

    /// Removes the files that the set wrote and its plan no longer lists.
    ///
    /// A file that was changed since, and one behind a symbolic link, stays. The caller has checked
    /// that all other files of the set are complete.
    ///
    /// - Parameters:
    ///   - work: What ``examine(rechecks:isCancelled:)`` returned.
    ///   - force: Whether more than half of the files may be removed.
    /// - Returns: The paths of removed files, and of those that stay.
    /// - Throws: `tooManyExtras`, before anything is removed; `assembly`.
    public func removeExtras(
        _ work: SetWork, force: Bool
    ) throws(SetError) -> (removed: [String], kept: [String]) {
        let all = work.extras.count + plan.count
        guard force || 2 * work.extras.count <= all else {
            throw .tooManyExtras(work.extras.count, of: all)
        }
        var result = (removed: [String](), kept: [String]())
        do throws(AssemblyError) {
            for path in work.extras {
                guard let place = state.withLock({ $0.extras[path] }),
                    let record = ledger.record(at: place),
                    try root.remove(path, if: record.isOwn)
                else {
                    result.kept.append(path)
                    continue
                }
                result.removed.append(path)
                let gone = LedgerRecord(path: path, event: .removed, at: Int64(time(nil)))
                writer.add { gone }
            }
        } catch {
            throw .assembly(error)
        }
        return result
    }

    /// Writes all records durably, and lets other runs have the set.
    ///
    /// - Returns: The error that kept records from being written; the next run then reads the files.
    @discardableResult
    public func close() -> AssemblyError? {
        let problem = writer.finish()
        ledger.release()
        return problem
    }
}

extension Listing.File {
    /// The name of the proof that a downloaded file is the planned version.
    fileprivate func proof(verified: [Digest]) -> String {
        if let digest = Self.strongest(verified) { return digest.algorithm.rawValue }
        guard let pin else { return "nothing" }
        if pin.etag != nil { return "etag" }
        return pin.lastModified == nil ? "size" : "last-modified"
    }
}
