import Glibc

/// The right to write to a part, which one run has at a time.
///
/// It is flock(2)'s, on the open part, of which the kernel lets go however the process ends. Where a file system has
/// no such locks, it is a file `NAME.segget-lock` that names its process. That file counts for everybody: one process
/// may have flock(2) where another one, in another mount or on another machine, has not.
package final class PartLock: Sendable {
    /// What became of asking for a lock.
    enum Outcome {
        case taken(PartLock)
        /// Another run has it, as flock(2) says.
        case busy
        /// Another run has it, or may have it, as a lock file says.
        case held(path: String, LockHolder?)
        /// It cannot be had: the call that failed, and its `errno`.
        case failed(operation: String, path: String, errno: Int32)
    }

    /// The folder, the name and the text of a lock file.
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

    /// Takes the lock if nobody has it.
    ///
    /// - Parameters:
    ///   - descriptor: The part, open; it must stay open for as long as the lock is wanted.
    ///   - names: The names of the file.
    ///   - folder: Where they stand.
    /// - Returns: The outcome.
    static func take(
        _ descriptor: Int32, _ names: PartNames, in folder: Folder
    ) -> Outcome {
        guard flock(descriptor, LOCK_EX | LOCK_NB) != 0 else {
            // Nobody who has flock(2) makes one.
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

    /// Lets go of the lock.
    func release() {
        removeFile()
        flock(descriptor, LOCK_UN)
    }

    /// Whether a lock file says that a run works, or may work, on a file; only looks.
    static func isHeld(_ names: PartNames, in folder: Folder) -> Bool {
        guard case .some(let found) = read(names.lock, in: folder) else { return false }
        return decide(found, LockHolder.current()) != .takeOver
    }

    // MARK: The file

    /// Makes the lock file, in the place of one whose process has gone; or, unless it `keeps` it because there is no
    /// other lock, makes sure only that nobody has it.
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
            guard case .some(let found) = read(names.lock, in: folder) else {
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

    /// Removes the lock file of a process that has gone.
    ///
    /// Of several that find it, one does so at a time: a second file keeps the others away, and what is removed was
    /// read while that was there. So nobody removes the lock that another one has just taken.
    ///
    /// - Returns: `nil` when it is to be tried again.
    private static func removeStale(
        _ names: PartNames, _ own: LockHolder, in folder: Folder
    ) -> Outcome? {
        let guarding = names.lockRemoval
        switch create(guarding, own, in: folder) {
        case 0: break
        case EEXIST:
            guard case .some(let found) = read(guarding, in: folder) else { return nil }
            return .held(path: folder.path(of: guarding), found)
        case let code:
            return .failed(operation: "open", path: folder.path(of: guarding), errno: code)
        }
        defer { try? folder.remove(guarding) }
        guard case .some(let found) = read(names.lock, in: folder),
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

    /// Makes a lock file that is not there.
    ///
    /// - Returns: 0, or `errno`; nothing is left then.
    private static func create(
        _ name: String, _ holder: LockHolder, in folder: Folder
    ) -> Int32 {
        guard let file = folder.open(name, O_WRONLY | O_CREAT | O_EXCL) else { return errno }
        let code = writeFully(file, Array(holder.text.utf8))
        close(file)
        if code != 0 { try? folder.remove(name) }
        return code
    }

    /// Who made a lock file: `.some(nil)` for one that does not say so, `nil` when there is none.
    private static func read(_ name: String, in folder: Folder) -> LockHolder?? {
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
            // Somebody may have removed it, and another run may have made it anew.
            if case .some(made.holder) = Self.read(made.name, in: made.folder) {
                try? made.folder.remove(made.name)
            }
        }
    }
}

extension PartLock.Outcome {
    /// The lock.
    ///
    /// - Parameter path: Path of the part, for messages.
    /// - Returns: The lock, where it was taken.
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
