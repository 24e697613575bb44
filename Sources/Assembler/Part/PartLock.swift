import Glibc

/// The exclusive right of one run to write to a part.
///
/// The lock is flock(2) on the open part, which the kernel releases even if the process crashes. On
/// file systems without flock(2), it is a file `NAME.segget-lock` that identifies the process.
/// Every run checks for that file: flock(2) may work for one process, and not for another one on
/// another mount or machine.
package final class PartLock: Sendable {
    /// The result of an attempt to take the lock.
    enum Outcome {
        case taken(PartLock)
        /// Another run holds the lock by flock(2).
        case busy
        /// A lock file shows that another run holds the lock, or may hold it.
        case held(path: String, LockHolder?)
        /// The lock cannot be taken; gives the failed call and its `errno`.
        case failed(operation: String, path: String, errno: Int32)
    }

    /// A lock file: its folder, its name, and the process that it names.
    private struct LockFile: Sendable {
        let folder: Folder
        let name: String
        let holder: LockHolder
    }

    private let descriptor: Int32
    private let file: Monitor<LockFile?>

    private init(_ descriptor: Int32, _ file: LockFile?) {
        self.descriptor = descriptor
        self.file = Monitor(file)
    }

    deinit { removeFile() }

    /// Takes the lock unless another run holds it.
    ///
    /// - Parameters:
    ///   - descriptor: The open part; must stay open as long as the lock is needed.
    ///   - names: The names of the download's files.
    ///   - folder: The folder of the part.
    /// - Returns: The result.
    static func take(
        _ descriptor: Int32, _ names: PartNames, in folder: Folder
    ) -> Outcome {
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else {
            // Only a process without flock(2) creates a lock file, so usually none exists.
            guard !folder.cannotHave(names.lock) else {
                return .taken(PartLock(descriptor, nil))
            }
            let outcome = takeFile(descriptor, names, in: folder, keeps: false)
            if case .taken = outcome {} else { flock(descriptor, LOCK_UN) }
            return outcome
        }
        switch errno {
        case EWOULDBLOCK: return .busy
        case let code where isUnsupported(errno: code):
            return takeFile(descriptor, names, in: folder, keeps: true)
        case let code:
            return .failed(operation: "flock", path: folder.path(of: names.part), errno: code)
        }
    }

    /// Releases the lock.
    func release() {
        removeFile()
        flock(descriptor, LOCK_UN)
    }

    /// Returns whether a lock file shows that a run uses a part, or may use it; does not take the
    /// lock.
    static func isHeld(_ names: PartNames, in folder: Folder) -> Bool {
        guard case .some(let found) = holder(names.lock, in: folder) else { return false }
        return decide(found, LockHolder.current()) != .takeOver
    }

    // MARK: Lock files

    /// Checks that no other process has a lock file, and removes a stale one.
    ///
    /// With `keeps`, it also creates a lock file, because no other lock is available.
    private static func takeFile(
        _ descriptor: Int32, _ names: PartNames, in folder: Folder, keeps: Bool
    ) -> Outcome {
        let own = LockHolder.current()
        for _ in 0..<16 {
            if keeps {
                switch create(names.lock, own, in: folder) {
                case 0:
                    return .taken(
                        PartLock(
                            descriptor, LockFile(folder: folder, name: names.lock, holder: own)))
                case EEXIST: break
                case let code:
                    return .failed(
                        operation: "open", path: folder.path(of: names.lock), errno: code)
                }
            }
            guard case .some(let found) = holder(names.lock, in: folder) else {
                if keeps { continue }
                return .taken(PartLock(descriptor, nil))
            }
            if case .held(let holder) = decide(found, own) {
                return .held(path: folder.path(of: names.lock), holder)
            }
            if let outcome = removeStale(names, own, in: folder) { return outcome }
        }
        return .held(path: folder.path(of: names.lock), nil)
    }

    /// Removes the lock file of a process that no longer exists.
    ///
    /// A second lock file ensures that only one process removes it at a time. The stale file is
    /// read again while the second file exists. No process can therefore remove a lock that another
    /// one has just taken.
    ///
    /// - Returns: `nil` if the caller should try again.
    private static func removeStale(
        _ names: PartNames, _ own: LockHolder, in folder: Folder
    ) -> Outcome? {
        let guarding = names.lockRemoval
        switch create(guarding, own, in: folder) {
        case 0: break
        case EEXIST:
            guard case .some(let found) = holder(guarding, in: folder) else { return nil }
            return .held(path: folder.path(of: guarding), found)
        case let code:
            return .failed(operation: "open", path: folder.path(of: guarding), errno: code)
        }
        defer { try? folder.remove(guarding) }
        guard case .some(let found) = holder(names.lock, in: folder),
            decide(found, own) == .takeOver
        else { return nil }
        do throws(AssemblyError) {
            try folder.remove(names.lock)
            return nil
        } catch {
            return .held(path: folder.path(of: names.lock), found)
        }
    }

    private static func decide(_ found: LockHolder?, _ own: LockHolder) -> LockDecision {
        LockDecision(found: found, own: own, life: LockHolder.life)
    }

    /// Creates a lock file that does not exist yet.
    ///
    /// - Returns: 0, or `errno`. After an error, no file remains.
    private static func create(
        _ name: String, _ holder: LockHolder, in folder: Folder
    ) -> Int32 {
        guard let file = folder.open(name, O_WRONLY | O_CREAT | O_EXCL) else { return errno }
        let code = writeFully(file, Array(holder.text.utf8))
        close(file)
        if code != 0 { try? folder.remove(name) }
        return code
    }

    /// Reads a lock file: `.some(nil)` if it does not name its process, `nil` if there is no file.
    package static func holder(_ name: String, in folder: Folder) -> LockHolder?? {
        guard let file = folder.open(name, O_RDONLY) else {
            return [ENOENT, ENAMETOOLONG].contains(errno) ? nil : .some(nil)
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = bytes.withUnsafeMutableBytes { readFully(file, into: $0, at: 0) }
        guard let count, count < bytes.count else { return .some(nil) }
        return .some(LockHolder(String(decoding: bytes[..<count], as: UTF8.self)))
    }

    private func removeFile() {
        file.withLock { file in
            guard let made = file else { return }
            file = nil
            // Another program may have removed the file, and another run may have created a new
            // one.
            if case .some(made.holder) = Self.holder(made.name, in: made.folder) {
                try? made.folder.remove(made.name)
            }
        }
    }
}

extension PartLock.Outcome {
    /// Returns the lock if it was taken.
    ///
    /// - Parameter path: The path of the part, for messages.
    /// - Returns: The lock.
    /// - Throws: `busy`, `locked`, `io`.
    func get(_ path: String) throws(AssemblyError) -> PartLock {
        switch self {
        case .taken(let lock): return lock
        case .busy: throw .busy(path: path)
        case .held(let file, let holder):
            throw .locked(
                path: path, lock: file, host: holder?.host, process: holder.map { Int64($0.pid) })
        case .failed(let operation, let path, let code):
            throw .io(operation: operation, path: path, errno: code)
        }
    }
}
