import CLinux
import Glibc

/// A file in which another program has begun to bring a remote one: open, to be looked at and never written.
package final class ForeignPart: Sendable {
    /// Its path as it was given, for messages.
    package let path: String
    /// The bytes of the remote file that are in it, as far as can be seen before they are compared.
    package let ranges: RangeSet
    /// Whether it is as long as the remote file, and no control file says what of that is there: other
    /// programs provide for all of the space before they begin.
    package let isOfFullLength: Bool
    let descriptor: Int32
    /// The folder that it stands in.
    let folder: Folder
    /// Its name in the folder.
    let name: String
    private let stamp: Stamp

    /// Its length in bytes.
    var size: Int64 { stamp.size }
    /// Which file it is.
    var identity: FileIdentity { stamp.identity }

    /// Opens a file, and finds out what is there.
    ///
    /// Reads it only where it has holes or its full length; blocks.
    ///
    /// - Parameters:
    ///   - path: Its path.
    ///   - remote: Length of the remote file in bytes.
    ///   - isCancelled: Asked again and again while the data is read.
    /// - Returns: The file; `nil` after cancelling.
    /// - Throws: `notAdopted`, `folderUnavailable`, `cannotCreate`, `io`.
    package static func open(
        _ path: String, remote: Int64, isCancelled: () -> Bool
    ) throws(AssemblyError) -> ForeignPart? {
        let target = FileTarget(path: path)
        let folder = try Folder(target.folder)
        guard let descriptor = folder.open(target.name, O_RDONLY) else {
            switch errno {
            case ENOENT: throw .notAdopted(path: path, .missing)
            case ELOOP, ENXIO: throw .notAdopted(path: path, .notARegularFile)
            default: throw .cannotCreate(path: path, errno: errno)
            }
        }
        do throws(AssemblyError) {
            let stamp = try Stamp(of: descriptor, path)
            if let obstacle = stamp.obstacle(descriptor) {
                throw .notAdopted(path: path, obstacle)
            }
            let control = try controlFile(of: target, in: folder, remote: remote)
            guard stamp.size <= remote else {
                throw .notAdopted(
                    path: path, .longerThanRemote(size: stamp.size, remote: remote))
            }
            if let end = control?.done.ranges.last?.end, end > stamp.size {
                throw .notAdopted(
                    path: path, .shorterThanControlFile(size: stamp.size, stated: end))
            }
            let isOfFullLength = control == nil && stamp.size == remote
            let data = WrittenRanges(descriptor: descriptor, size: stamp.size)
            let ranges =
                control.map { data.within($0.done) }
                ?? data.found(isOfFullLength: isOfFullLength, isCancelled)
            guard let ranges else {
                close(descriptor)
                return nil
            }
            guard !ranges.isEmpty else { throw .notAdopted(path: path, .nothingInIt) }
            return ForeignPart(
                path, ranges, isOfFullLength: isOfFullLength, descriptor, folder, target.name,
                stamp)
        } catch {
            close(descriptor)
            throw error
        }
    }

    private init(
        _ path: String, _ ranges: RangeSet, isOfFullLength: Bool, _ descriptor: Int32,
        _ folder: Folder, _ name: String, _ stamp: Stamp
    ) {
        (self.path, self.ranges, self.isOfFullLength) = (path, ranges, isOfFullLength)
        (self.descriptor, self.folder, self.name) = (descriptor, folder, name)
        self.stamp = stamp
    }

    deinit { close(descriptor) }

    /// Whether what a server sent is what stands in the file.
    package func agrees(with sample: Extent) -> Bool { isIntact(sample, in: descriptor) }

    /// Makes sure that it is still what it was when it was opened, and has its name still.
    ///
    /// - Throws: `notAdopted`, `cannotCreate`, `io`.
    func checkUnchanged() throws(AssemblyError) {
        guard try Stamp(of: descriptor, path) == stamp,
            try folder.status(of: name)?.identity == identity
        else { throw .notAdopted(path: path, .changed) }
    }

    /// Takes the lock that a part of ours has, so that of two processes one takes it over.
    ///
    /// - Throws: `notAdopted`.
    func lock() throws(AssemblyError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw .notAdopted(path: path, .inUse)
        }
    }

    /// Lets go of that lock.
    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Makes its bytes durable, whoever wrote them.
    ///
    /// - Throws: `io`.
    func sync() throws(AssemblyError) {
        guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .io(operation: "fsync", path: path, errno: errno)
        }
    }

    // MARK: aria2's control file

    /// How long aria2 took a remote file for whose control file stands beside a file.
    ///
    /// Blocks.
    ///
    /// - Returns: The length in bytes; `nil` where there is no control file that can be read.
    package static func controlledSize(of target: FileTarget) -> Int64? {
        guard let folder = try? Folder(target.folder),
            let descriptor = folder.open(target.name + Aria2ControlFile.suffix, O_RDONLY)
        else { return nil }
        defer { close(descriptor) }
        return try? contents(of: descriptor, target.path).total
    }

    /// Makes sure that no other program works on a file that is to be replaced; blocks.
    ///
    /// - Throws: `notAdopted`, `folderUnavailable`.
    package static func checkUnused(_ target: FileTarget) throws(AssemblyError) {
        let folder = try Folder(target.folder)
        guard let descriptor = folder.open(target.name, O_RDONLY) else { return }
        defer { close(descriptor) }
        guard segget_is_being_written(descriptor) == 0 else {
            throw .notAdopted(path: target.path, .inUse)
        }
    }

    /// Removes the control file that stands beside a file which is complete now, if that is one of aria2's.
    ///
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func removeControlFile(of target: FileTarget) throws(AssemblyError) {
        let (folder, name) = (try Folder(target.folder), target.name + Aria2ControlFile.suffix)
        guard let descriptor = folder.open(name, O_RDONLY) else { return }
        defer { close(descriptor) }
        guard (try? contents(of: descriptor, folder.path(of: name))) != nil else { return }
        try folder.remove(name)
    }

    /// What aria2 wrote down beside a file; `nil` when there is nothing.
    private static func controlFile(
        of target: FileTarget, in folder: Folder, remote: Int64
    ) throws(AssemblyError) -> Aria2ControlFile? {
        let name = target.name + Aria2ControlFile.suffix
        func refusal(_ problem: ControlFileProblem) -> AssemblyError {
            .notAdopted(path: target.path, .controlFile(problem))
        }
        guard let descriptor = folder.open(name, O_RDONLY) else {
            // A name that is too long is no file's.
            if errno == ENOENT || errno == ENAMETOOLONG { return nil }
            throw refusal(.unusable)
        }
        defer { close(descriptor) }
        let file: Aria2ControlFile
        do throws(ControlFileProblem) {
            file = try contents(of: descriptor, folder.path(of: name))
        } catch {
            throw refusal(error)
        }
        guard file.total == remote else {
            throw .notAdopted(path: target.path, .otherSize(stated: file.total, remote: remote))
        }
        return file
    }

    /// Reads an open control file.
    private static func contents(
        of descriptor: Int32, _ path: String
    ) throws(ControlFileProblem) -> Aria2ControlFile {
        guard let stamp = try? Stamp(of: descriptor, path), stamp.isRegular,
            stamp.owner == geteuid(), stamp.size <= Int64(Aria2ControlFile.longest)
        else { throw .unusable }
        var bytes = [UInt8](repeating: 0, count: Int(stamp.size))
        let count = bytes.withUnsafeMutableBytes { readFully(descriptor, into: $0, at: 0) }
        guard let count else { throw .unusable }
        return try Aria2ControlFile(reading: Array(bytes.prefix(count)))
    }

    /// Removes aria2's control file, which describes nothing any more.
    ///
    /// - Throws: `io`.
    func removeControlFile() throws(AssemblyError) {
        try folder.remove(name + Aria2ControlFile.suffix)
    }
}

/// What stat(2) says of a file that is not to change: two that are equal are of one file that did not.
private struct Stamp: Hashable {
    let identity: FileIdentity
    /// In bytes.
    let size: Int64
    let isRegular: Bool
    let owner: uid_t
    /// Number of its names.
    let names: UInt
    /// When its content and when its status was last changed: seconds and nanoseconds.
    private let times: [Int]

    init(of descriptor: Int32, _ path: String) throws(AssemblyError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw .io(operation: "fstat", path: path, errno: errno)
        }
        let facts = FileStatus(status)
        (identity, size) = (facts.identity, facts.size)
        (isRegular, owner, names) = (facts.isRegular, facts.owner, UInt(status.st_nlink))
        times = [
            status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec,
            status.st_ctim.tv_nsec,
        ]
    }

    /// Why the open file is left alone; `nil` when it is ours, and nobody writes to it.
    func obstacle(_ descriptor: Int32) -> AdoptionObstacle? {
        guard isRegular else { return .notARegularFile }
        guard owner == geteuid() else { return .otherOwner }
        guard names == 1 else { return .hasOtherNames }
        return segget_is_being_written(descriptor) == 0 ? nil : .inUse
    }
}
