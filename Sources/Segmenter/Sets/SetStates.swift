import Assembler
import Glibc
import SegmenterValues

/// The recorded state of the files of a set, read while another run may have the set open.
package struct SetStates: Sendable {
    /// For each file of the plan, whether it is complete, and on the disk as recorded.
    package var isComplete: [Bool]
    /// The last failures, by the index of the file in the plan.
    package var failures: [Int: SetFailure] = [:]

    /// Reads the records in the folder of a set; without a ledger, no file is complete.
    ///
    /// - Parameters:
    ///   - plan: The plan of the set.
    ///   - path: The path of the folder.
    /// - Throws: `SetError`.
    package init(_ plan: PlanFile, in path: String) throws(SetError) {
        isComplete = Array(repeating: false, count: plan.count)
        guard let root = try? Folder(path) else { return }
        let (ledger, records) = try SetRecords.read(plan, in: root)
        isComplete = records.states.map { $0 == .complete }
        for (index, place) in records.failures {
            guard let failure = SetFailure(ledger?.record(at: place)) else { continue }
            failures[Int(index)] = failure
        }
    }
}

extension SetFolder {
    /// Removes what the downloads of a set have left in its folder.
    ///
    /// Parts of the plan's files are removed. With `files`, the files that the set wrote and that are
    /// unchanged are removed, too, then the records, and folders that are empty. All other files
    /// stay.
    ///
    /// - Parameters:
    ///   - plan: The plan of the set.
    ///   - path: The path of the folder.
    ///   - files: Whether complete files are removed.
    ///   - isCancelled: Called repeatedly; returns whether to stop.
    /// - Returns: `false` if it was cancelled.
    /// - Throws: `SetError`.
    package static func remove(
        _ plan: PlanFile, from path: String, files: Bool, isCancelled: () -> Bool
    ) throws(SetError) -> Bool {
        guard let root = try? Folder(path), let folder = root.folder(PlanFormat.recordFolder)
        else { return true }
        let ledger: LedgerFile
        do throws(LedgerFile.Failure) {
            ledger = try LedgerFile(writing: plan.set, in: folder, now: Int64(time(nil)))
        } catch {
            throw SetError(error, folder: path)
        }
        defer { ledger.release() }
        do throws(AssemblyError) {
            for index in 0..<plan.count {
                guard !isCancelled() else { return false }
                guard let file = try? plan.file(at: index) else { continue }
                try removePart(of: file, in: path)
            }
            guard files else { return true }
            let records = try SetRecords(ledger, plan, in: root)
            for place in records.places.compactMap(\.self) + records.extras.values {
                guard !isCancelled() else { return false }
                guard let record = ledger.record(at: place) else { continue }
                _ = try root.remove(record.path, if: record.isOwn)
            }
            for name in ["ledger", "plan"] { try folder.remove("\(plan.set).\(name)") }
        } catch {
            throw .assembly(error)
        }
        root.removeFolder(PlanFormat.recordFolder)
        // Fails if a file is left.
        rmdir(path)
        return true
    }

    private static func removePart(
        of file: Listing.File, in folder: String
    ) throws(AssemblyError) {
        let target = FileTarget(path: "\(folder)/\(file.path)")
        let names = PartNames(target.name)
        guard let parent = try? Folder(target.folder),
            !parent.isFree(names.part) || !parent.isFree(names.manifest)
        else { return }
        let owner = PartOwner(urls: [file.address] + file.mirrors, generation: nil)
        _ = try Assembly.discard(at: target, owner: owner, known: nil)
    }
}
