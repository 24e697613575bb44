import Assembler
public import SegmenterValues

/// The reason why a fleet cannot be used.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum FleetError: Error, Sendable, Hashable {
    /// The path of the new fleet is taken.
    case exists(path: String)
    /// The folder is not that of a fleet.
    case notAFleet(path: String)
    /// The fleet has a format version that this version of segget does not know.
    case laterVersion(Int, path: String)
    /// A file of the fleet does not match its checksum.
    case damaged(path: String)
    /// The plan in the folder is not the one that the fleet was created for.
    case otherPlan(path: String)
    /// The folder, or a claim in it, belongs to another user.
    case otherUser(path: String)
    /// Nothing pins these files to one version; carries the first paths, and the number.
    case unpinned([String], count: Int)
    /// The plan has no files.
    case empty
    /// Another process finishes the fleet.
    case inUse(path: String, host: String?, pid: Int32?)
    /// The plan cannot be used.
    case plan(PlanError, path: String)
    /// The folder of the finished set cannot be used.
    case set(SetError)
    /// A system call failed.
    case assembly(AssemblyError)
}

extension FleetError {
    /// Creates the error of a plan of a fleet; calls of the disk that failed may succeed later.
    init(_ error: PlanError, at path: String) {
        switch error.kind {
        case .unreadable(let code):
            self = .assembly(.io(operation: "read", path: path, errno: code))
        case .unwritable(let code):
            self = .assembly(.io(operation: "write", path: path, errno: code))
        default: self = .plan(error, path: path)
        }
    }

    /// Creates the error of a set of a fleet.
    init(_ error: SetError) {
        if case .plan(let error, let path) = error {
            self.init(error, at: path)
        } else {
            self = .set(error)
        }
    }
}
