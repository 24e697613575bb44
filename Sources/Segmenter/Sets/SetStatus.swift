import Assembler
import Glibc
public import SegmenterValues

/// How far a data set in a folder is, as its ledger and the file system say.
///
/// Nothing is read but the names, sizes and times of files, and nothing is written or requested.
public struct SetStatus: Sendable {
    /// The state of a file.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The file is on the disk as recorded.
        case complete
        /// The file was complete, and another version is planned, or it was changed since.
        case changed
        /// A part of the file is on the disk.
        case begun
        /// A file is on the disk that the ledger does not know.
        case unrecorded
        /// The last download failed.
        case failed
        /// There is nothing of the file.
        case missing
    }

    /// A failed file.
    public struct Failed: Sendable, Hashable {
        /// The path relative to the folder.
        public var path: String
        /// When it failed, in seconds since 1970.
        public var at: Int64
        /// Why it failed.
        public var failure: SetFailure
    }

    /// The folder.
    public let folder: String
    /// The path of the plan.
    public let plan: String
    /// The name of the set.
    public let set: String
    /// The source of the files.
    public let source: Listing.Source
    /// The number of files, and their bytes as far as known, by state.
    public let counts: [State: (files: Int, bytes: Int64)]
    /// The bytes of all files; `nil` if a size is unknown.
    public let size: Int64?
    /// The files whose last download failed, in the order of the plan.
    public let failed: [Failed]
    /// The paths of files that the set wrote and its plan no longer lists.
    public let extras: [String]
    /// The run that began last: its machine, process ID and time in seconds since 1970.
    public let lastRun: (host: String, pid: Int32, at: Int64)?
    /// Whether that run still works.
    public let isInUse: Bool
    /// The time since when the state of complete files without planned versions is known, in
    /// seconds since 1970; `nil` if there are none.
    public let asOf: Int64?

    /// The number of files.
    public var files: Int { counts.values.reduce(0) { $0 + $1.files } }
    /// Whether all files are complete.
    public var isComplete: Bool { counts.keys.allSatisfy { $0 == .complete } }
}

extension SetStatus {
    /// Returns the status of all sets in a folder.
    ///
    /// - Parameter folder: The folder that has `.segget`.
    /// - Returns: At least one set.
    /// - Throws: `SetError`.
    public static func all(in folder: String) throws(SetError) -> [SetStatus] {
        let records = "\(folder)/\(PlanFormat.recordFolder)"
        let suffix = ".plan"
        let names = ((try? Folder(records))?.fileNames() ?? []).filter { $0.hasSuffix(suffix) }
        guard !names.isEmpty else { throw .noSet(folder: folder) }
        var all: [SetStatus] = []
        for name in names.sorted() {
            let path = "\(records)/\(name)"
            let plan: PlanFile
            do throws(PlanError) { plan = try PlanFile(path) } catch {
                throw .plan(error, path: path)
            }
            all.append(try SetStatus(plan, in: folder))
        }
        return all
    }

    /// Reads the status of a set.
    ///
    /// - Parameters:
    ///   - plan: The plan.
    ///   - folder: The folder of the set.
    /// - Throws: `SetError`.
    public init(_ plan: PlanFile, in folder: String) throws(SetError) {
        let root: Folder
        do throws(AssemblyError) { root = try Folder(folder) } catch {
            throw .assembly(error)
        }
        let (ledger, records) = try SetRecords.read(plan, in: root)
        var counts: [State: (files: Int, bytes: Int64)] = [:]
        var failed: [Failed] = []
        for index in 0..<plan.count {
            let state: State
            var bytes = records.size(of: index)
            if records.states[index] == .complete {
                state = .complete
            } else {
                let file: Listing.File
                do throws(PlanError) { file = try plan.file(at: index) } catch {
                    throw .plan(error, path: plan.path)
                }
                let isThere = (try? root.status(of: file.path))?.isRegular == true
                let part = try? root.status(of: PartNames(file.path).part)
                let failure = records.failures[UInt32(index)].flatMap { ledger?.record(at: $0) }
                if let failure, let cause = SetFailure(failure) {
                    failed.append(Failed(path: file.path, at: failure.at, failure: cause))
                }
                bytes = file.size ?? 0
                if isThere {
                    state = records.states[index] == .none ? .unrecorded : .changed
                } else if failure != nil {
                    state = .failed
                } else {
                    state = part?.isRegular == true ? .begun : .missing
                }
            }
            counts[state, default: (0, 0)].files += 1
            counts[state, default: (0, 0)].bytes += bytes
        }
        (self.folder, self.plan, set) = (folder, plan.path, plan.set)
        (source, size, self.counts, self.failed) = (plan.source, plan.size, counts, failed)
        (extras, asOf) = (records.extras.keys.sorted(), records.asOf)
        lastRun = ledger?.lastRun.map { ($0.host, $0.pid, $0.at) }
        isInUse = ledger?.isLocked ?? false
    }
}
