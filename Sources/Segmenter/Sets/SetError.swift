public import Assembler
public import SegmenterValues

/// The reason why the folder of a data set cannot be used.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum SetError: Error, Sendable, Hashable {
    /// Another run works on the set.
    ///
    /// Carries its machine and process ID; `nil` if unknown.
    case inUse(folder: String, host: String?, pid: Int32?)
    /// The file at this path is not the ledger of the set.
    case foreignLedger(path: String)
    /// The ledger has a format version that this version of segget does not know.
    case laterVersion(Int, path: String)
    /// The folder has no set.
    case noSet(folder: String)
    /// The plan of the set cannot be used.
    case plan(PlanError, path: String)
    /// Removing the files that the source no longer lists would remove more than half of the set.
    ///
    /// Carries the number of these files, and that of all files of the set on the disk.
    case tooManyExtras(Int, of: Int)
    /// A system call failed.
    case assembly(AssemblyError)

    init(_ failure: LedgerFile.Failure, folder: String) {
        self =
            switch failure {
            case .inUse(let run): .inUse(folder: folder, host: run?.host, pid: run?.pid)
            case .foreign(let path): .foreignLedger(path: path)
            case .laterVersion(let version, let path): .laterVersion(version, path: path)
            case .assembly(let error): .assembly(error)
            }
    }
}

/// How a failed file is recorded.
public struct SetFailure: Sendable, Hashable {
    /// The kind of failure, a name for programs.
    public var kind: String
    /// The exit code of a run that fails so.
    public var code: Int32
    /// The message, without credentials and queries.
    public var message: String
    /// The next step for the user.
    public var hint: String?

    /// Creates a failure from its record; fails for a record of something else.
    init?(_ record: LedgerRecord?) {
        guard let record, let kind = record.kind, let code = record.code else { return nil }
        self.init(kind: kind, code: code, message: record.message ?? "", hint: record.hint)
    }

    /// Creates a failure.
    public init(kind: String, code: Int32, message: String, hint: String? = nil) {
        (self.kind, self.code, self.message, self.hint) = (kind, code, message, hint)
    }
}

/// How far a set is.
public struct SetFigures: Sendable, Hashable {
    /// The number of files in the plan.
    public var files = 0
    /// The number of complete files.
    public var complete = 0
    /// The bytes of the complete files.
    public var bytesComplete: Int64 = 0
    /// The bytes of all files; `nil` if a size is unknown.
    public var bytes: Int64?
    /// The number of files whose last download failed.
    public var failed = 0

    package init(
        files: Int = 0, complete: Int = 0, bytesComplete: Int64 = 0, bytes: Int64? = nil,
        failed: Int = 0
    ) {
        (self.files, self.complete, self.bytesComplete) = (files, complete, bytesComplete)
        (self.bytes, self.failed) = (bytes, failed)
    }
}
