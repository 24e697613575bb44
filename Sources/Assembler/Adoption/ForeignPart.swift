import CLinux
import Glibc

/// Another program's incomplete download of a remote file, open and never written to.
package final class ForeignPart: Sendable {
    /// The path as the user specified it, for messages.
    package let path: String
    /// The ranges of the remote file that the file seems to contain, before any comparison.
    package let ranges: RangeSet
    /// Whether the file is as long as the remote file and has no control file.
    ///
    /// Other programs may allocate the full length before they download.
    package let isOfFullLength: Bool
    let descriptor: Int32
    /// The folder of the file.
    let folder: Folder
    /// The name of the file in the folder.
    let name: String
    private let stamp: Stamp

    /// The length of the file in bytes.
    var size: Int64 { stamp.size }
    /// The identity of the file.
    var identity: FileIdentity { stamp.identity }

    /// Opens a file and determines which ranges it contains.
    ///
    /// Reads the data only if the file has holes or its full length; blocks.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - remote: The length of the remote file in bytes.
    ///   - isCancelled: Called repeatedly while the data is read.
    /// - Returns: The file; `nil` after cancellation.
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

    /// Returns whether the bytes in the file equal a server's sample.
    package func agrees(with sample: Extent) -> Bool { isIntact(sample, in: descriptor) }

    /// Checks that the file is unchanged since it was opened and still has its name.
    ///
    /// - Throws: `notAdopted`, `cannotCreate`, `io`.
    func checkUnchanged() throws(AssemblyError) {
        guard try Stamp(of: descriptor, path) == stamp,
            try folder.status(of: name)?.identity == identity
        else { throw .notAdopted(path: path, .changed) }
    }

    /// Locks the file in the same way as a part, so that only one process can adopt it.
    ///
    /// - Throws: `notAdopted`.
    func lock() throws(AssemblyError) {
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else {
            throw .notAdopted(path: path, .inUse)
        }
    }

    /// Releases the lock.
    func unlock() { _ = flock(descriptor, LOCK_UN) }

    /// Makes all bytes of the file durable, including those of the other program.
    ///
    /// - Throws: `io`.
    func sync() throws(AssemblyError) {
        guard fsync(descriptor) == 0 || isUnsupported(errno: errno) else {
            throw .io(operation: "fsync", path: path, errno: errno)
        }
    }

    // MARK: aria2's control file

    /// Returns the length of the remote file according to aria2's control file beside `target`.
    ///
    /// Blocks.
    ///
    /// - Returns: The length in bytes; `nil` if no readable control file exists.
    package static func controlledSize(of target: FileTarget) -> Int64? {
        guard let folder = try? Folder(target.folder),
            let descriptor = folder.open(target.name + Aria2ControlFile.suffix, O_RDONLY)
        else { return nil }
        defer { close(descriptor) }
        return try? contents(of: descriptor, target.path).total
    }

    /// Checks that no other program uses a file that is to be replaced; blocks.
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

    /// Removes the control file beside a complete file, if aria2 wrote it.
    ///
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func removeControlFile(of target: FileTarget) throws(AssemblyError) {
        let (folder, name) = (try Folder(target.folder), target.name + Aria2ControlFile.suffix)
        guard let descriptor = folder.open(name, O_RDONLY) else { return }
        defer { close(descriptor) }
        guard (try? contents(of: descriptor, folder.path(of: name))) != nil else { return }
        try folder.remove(name)
    }

    /// Returns aria2's control file beside a file; `nil` if there is none.
    private static func controlFile(
        of target: FileTarget, in folder: Folder, remote: Int64
    ) throws(AssemblyError) -> Aria2ControlFile? {
        let name = target.name + Aria2ControlFile.suffix
        func refusal(_ problem: ControlFileProblem) -> AssemblyError {
            .notAdopted(path: target.path, .controlFile(problem))
        }
        guard let descriptor = folder.open(name, O_RDONLY) else {
            // No file can exist under a name that is too long.
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

    /// Removes aria2's control file, which is obsolete after the adoption.
    ///
    /// - Throws: `io`.
    func removeControlFile() throws(AssemblyError) {
        try folder.remove(name + Aria2ControlFile.suffix)
    }
}

/// The stat(2) values of a file; equal stamps mean that the file did not change.
private struct Stamp: Hashable {
    let identity: FileIdentity
    /// The length in bytes.
    let size: Int64
    let isRegular: Bool
    let owner: uid_t
    /// The number of hard links.
    let names: UInt
    /// The seconds and nanoseconds of the last content change and the last status change.
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

    /// Returns the reason why the open file must not be adopted.
    ///
    /// - Returns: The reason; `nil` if the file is regular, has one name, belongs to the user, and
    ///   no process writes to it.
    func obstacle(_ descriptor: Int32) -> AdoptionObstacle? {
        guard isRegular else { return .notARegularFile }
        guard owner == geteuid() else { return .otherOwner }
        guard names == 1 else { return .hasOtherNames }
        return segget_is_being_written(descriptor) == 0 ? nil : .inUse
    }
}
