import CLinux
import Glibc

/// How a file got its name.
package enum NamingWay: Sendable, Hashable {
    /// By a rename that replaces nothing: renameat2(2).
    case renamed
    /// By link(2) and unlink(2), which replace nothing either.
    case linked
    /// By a check that the name is free and a plain rename, which replaces a file that another program creates
    /// between the two.
    case checked
}

/// What an empty file of segget's own has shown about a folder: which calls give a name without replacing.
///
/// Pure.
enum NamingCalls: Sendable, Hashable {
    /// renameat2(2) with `RENAME_NOREPLACE` works.
    case rename
    /// It does not, and link(2) works.
    case link
    /// Neither works.
    case neither
    /// The trial itself failed, as on a broken or full disk.
    case unknown

    /// Judges by the `errno` of both calls, 0 for success.
    init(rename: Int32, link: Int32) {
        switch (rename, link) {
        case (0, _): self = .rename
        case (let code, 0) where Self.isRefusal(code): self = .link
        case (let first, let second) where Self.isRefusal(first) && Self.isRefusal(second):
            self = .neither
        default: self = .unknown
        }
    }

    /// Whether a call may have failed because it does not work in the folder.
    ///
    /// Some file systems return EIO for flags that they do not know.
    static func isRefusal(_ code: Int32) -> Bool { isUnsupported(errno: code) || code == EIO }
}

extension Folder {
    /// Renames within the folder, and fails when something stands at `new`.
    ///
    /// - Returns: How it was done.
    /// - Throws: `destinationExists`, `io`.
    @discardableResult
    func renameWithoutReplacing(_ old: String, to new: String) throws(AssemblyError) -> NamingWay {
        guard let way = try give(old, theName: new, in: self) else {
            throw .io(operation: "rename", path: path(of: new), errno: EXDEV)
        }
        return way
    }

    /// Renames into another folder, and fails when something stands there.
    ///
    /// - Returns: Whether it was done: not across file systems.
    /// - Throws: `destinationExists`, `io`.
    func moveWithoutReplacing(
        _ old: String, to new: String, in target: Folder
    ) throws(AssemblyError) -> Bool {
        try give(old, theName: new, in: target) != nil
    }

    /// Gives a file a name: by renameat2(2), else by link(2) and unlink(2), between which both names are the file's.
    ///
    /// Where an empty file shows that neither works in the folder: by a check and a plain rename.
    ///
    /// - Returns: How it was done; `nil` across file systems.
    private func give(
        _ old: String, theName new: String, in target: Folder
    ) throws(AssemblyError) -> NamingWay? {
        let code = withBoth(target) {
            segget_move_noreplace($0, old, $1, new) == 0 ? 0 : errno
        }
        if code == 0 { return .renamed }
        if code == EXDEV { return nil }
        guard NamingCalls.isRefusal(code) else { throw target.failure(code, new) }
        // These say nothing about the file. EPERM and EIO may: an empty one shows whether they do.
        let isPlain = [EINVAL, ENOSYS, EOPNOTSUPP].contains(code)
        if isPlain, try link(old, to: new, in: target) == 0 { return .linked }
        switch target.namingCalls() {
        case .rename, .unknown: throw target.failure(code, new)
        case .link:
            let code = try link(old, to: new, in: target)
            guard code == 0 else { throw target.failure(code, new) }
            return .linked
        case .neither:
            guard try target.status(of: new) == nil else {
                throw .destinationExists(path: target.path(of: new))
            }
            let code = withBoth(target) { renameat($0, old, $1, new) == 0 ? 0 : errno }
            guard code == 0 else { throw target.failure(code, new) }
            return .checked
        }
    }

    /// Gives a file a second name and takes the first one away.
    ///
    /// - Returns: The `errno` of link(2), 0 when it was done.
    private func link(_ old: String, to new: String, in target: Folder) throws(AssemblyError)
        -> Int32
    {
        let code = withBoth(target) { linkat($0, old, $1, new, 0) == 0 ? 0 : errno }
        guard code == 0 else {
            if code == EEXIST { throw .destinationExists(path: target.path(of: new)) }
            return code
        }
        // Or a power cut might leave neither name.
        try target.sync()
        try remove(old)
        return 0
    }

    /// Tries with an empty file which calls give a name without replacing; removes it again.
    func namingCalls() -> NamingCalls {
        let old = ".segget-" + String(UInt64.random(in: 0...UInt64.max), radix: 16)
        let new = old + "~"
        guard let file = open(old, O_WRONLY | O_CREAT | O_EXCL) else { return .unknown }
        close(file)
        return withDescriptor { here in
            defer {
                unlinkat(here, old, 0)
                unlinkat(here, new, 0)
            }
            if segget_rename_noreplace(here, old, new) == 0 {
                return NamingCalls(rename: 0, link: 0)
            }
            let code = errno
            return NamingCalls(
                rename: code, link: linkat(here, old, here, new, 0) == 0 ? 0 : errno)
        }
    }

    private func withBoth<Result>(
        _ target: Folder, _ body: (_ here: Int32, _ there: Int32) -> Result
    ) -> Result {
        withDescriptor { here in target.withDescriptor { body(here, $0) } }
    }

    private func failure(_ code: Int32, _ name: String) -> AssemblyError {
        code == EEXIST
            ? .destinationExists(path: path(of: name))
            : .io(operation: "rename", path: path(of: name), errno: code)
    }
}
