import CLinux
import Glibc

/// The method by which a file was renamed.
package enum NamingWay: Sendable, Hashable {
    /// renameat2(2) with `RENAME_NOREPLACE`.
    case renamed
    /// link(2) and unlink(2), which do not replace a file either.
    case linked
    /// A check that the name is free, followed by rename(2).
    ///
    /// The rename replaces a file that another program creates between the two calls.
    case checked
}

/// The calls that can rename without replacing in a folder, as tested with an empty file.
///
/// Pure.
enum NamingCalls: Sendable, Hashable {
    /// renameat2(2) with `RENAME_NOREPLACE` works.
    case rename
    /// renameat2(2) with `RENAME_NOREPLACE` does not work, but link(2) does.
    case link
    /// Neither call works.
    case neither
    /// The test itself failed, for example because the disk is broken or full.
    case unknown

    /// Derives the result from the `errno` of both calls, 0 for success.
    init(rename: Int32, link: Int32) {
        switch (rename, link) {
        case (0, _): self = .rename
        case (let code, 0) where Self.isRefusal(code): self = .link
        case (let first, let second) where Self.isRefusal(first) && Self.isRefusal(second):
            self = .neither
        default: self = .unknown
        }
    }

    /// Returns whether a call may have failed because the folder does not support it.
    ///
    /// Some file systems return EIO for flags that they do not know.
    static func isRefusal(_ code: Int32) -> Bool { isUnsupported(errno: code) || code == EIO }
}

extension Folder {
    /// Renames a file within the folder, and fails if `new` exists.
    ///
    /// - Returns: The method that was used.
    /// - Throws: `destinationExists`, `io`.
    @discardableResult
    func renameWithoutReplacing(_ old: String, to new: String) throws(AssemblyError) -> NamingWay {
        guard let way = try give(old, theName: new, in: self) else {
            throw .io(operation: "rename", path: path(of: new), errno: EXDEV)
        }
        return way
    }

    /// Moves a file to another folder, and fails if `new` exists there.
    ///
    /// - Returns: `true` if the file was moved, `false` if the folders are on different file systems.
    /// - Throws: `destinationExists`, `io`.
    func moveWithoutReplacing(
        _ old: String, to new: String, in target: Folder
    ) throws(AssemblyError) -> Bool {
        try give(old, theName: new, in: target) != nil
    }

    /// Renames a file with renameat2(2), or with link(2) and unlink(2).
    ///
    /// Between link(2) and unlink(2) the file has both names. If a test with an empty file shows
    /// that neither call works in the folder, this method checks the name and uses rename(2).
    ///
    /// - Returns: The method that was used; `nil` if the folders are on different file systems.
    private func give(
        _ old: String, theName new: String, in target: Folder
    ) throws(AssemblyError) -> NamingWay? {
        let code = withBoth(target) {
            segget_move_noreplace($0, old, $1, new) == 0 ? 0 : errno
        }
        if code == 0 { return .renamed }
        if code == EXDEV { return nil }
        guard NamingCalls.isRefusal(code) else { throw target.failure(code, new) }
        // These codes do not depend on the file. EPERM and EIO may, and a test with an empty file
        // shows whether they do.
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

    /// Links a file to its new name and removes the old one.
    ///
    /// - Returns: 0 on success, else the `errno` of link(2).
    private func link(_ old: String, to new: String, in target: Folder) throws(AssemblyError)
        -> Int32
    {
        let code = withBoth(target) { linkat($0, old, $1, new, 0) == 0 ? 0 : errno }
        guard code == 0 else {
            if code == EEXIST { throw .destinationExists(path: target.path(of: new)) }
            return code
        }
        // Otherwise the file might have neither name after a power failure.
        try target.sync()
        try remove(old)
        return 0
    }

    /// Tests with a temporary empty file which calls can rename without replacing.
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
