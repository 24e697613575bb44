import Glibc

/// The file to verify: the finished file, or its part.
final class VerificationSubject {
    /// The name of the finished file.
    let name: String
    /// The path of the file that is read, for messages.
    let path: String
    /// Whether the file that is read is the part, not the finished file.
    let isPart: Bool
    /// The file descriptor, open for reading.
    let descriptor: Int32
    /// The result of stat(2) at opening.
    let status: FileStatus
    /// The facts that an earlier run stored about the finished file; `nil` for a part.
    let facts: FinishedFacts?
    /// The source of `facts`.
    let factsSource: FileVerification.Source
    /// The manifest of the part; `nil` for a finished file.
    let manifest: Manifest?
    /// Whether a lock file shows that a run uses the part.
    private let isLocked: Bool

    /// Opens the file at `path`, or its part if the file does not exist.
    ///
    /// - Throws: `noFile`, `assembly`.
    init(_ path: String) throws(FileVerification.Failure) {
        do throws(AssemblyError) {
            let place = FileTarget(path: path)
            let folder = try Folder(place.folder)
            let given = place.name
            let suffix = PartNames.partSuffix
            let stem = given.hasSuffix(suffix) ? String(given.dropLast(suffix.count)) : given
            // The path names a part, unless it is a finished file whose name ends in `.part`.
            let isGivenPart =
                stem != given && !stem.isEmpty
                && (try? folder.status(of: PartNames(given).manifest)) == nil
                && (try? folder.status(of: PartNames(stem).manifest)) != nil
            name = isGivenPart ? stem : given
            var isPart = isGivenPart
            if !isPart, try folder.status(of: name) == nil { isPart = true }
            self.isPart = isPart
            let target = isPart ? PartNames(name).part : name
            self.path = folder.path(of: target)
            guard try folder.status(of: target) != nil else {
                throw AssemblyError.cannotCreate(path: path, errno: ENOENT)
            }
            guard let descriptor = folder.open(target, O_RDONLY) else {
                if errno == ELOOP { throw AssemblyError.notARegularFile(path: self.path) }
                throw AssemblyError.io(operation: "open", path: self.path, errno: errno)
            }
            guard let status = FileStatus(of: descriptor), status.isRegular else {
                close(descriptor)
                throw AssemblyError.notARegularFile(path: self.path)
            }
            self.descriptor = descriptor
            self.status = status
            let manifest = try? Manifest.read(PartNames(name).manifest, in: folder)?.get()
            let kept = manifest.flatMap { FinishedFacts($0) }
            self.manifest = isPart ? manifest : nil
            isLocked = isPart && PartLock.isHeld(PartNames(name), in: folder)
            facts = isPart ? nil : kept ?? FinishedFacts(attributesOf: descriptor)
            factsSource = kept == nil ? .attributes : .manifest
        } catch {
            throw error == .cannotCreate(path: path, errno: ENOENT)
                ? .noFile(path: path) : .assembly(error)
        }
    }

    deinit { close(descriptor) }

    /// Whether a process holds the lock of the file, by a lock file or by flock(2).
    ///
    /// For flock(2), `/proc/locks` is read. An attempt to lock could make a download fail that
    /// starts at the same time.
    var isInUse: Bool {
        if isLocked { return true }
        let inode = status.identity.inode
        return firstLine(of: "/proc/locks") { line -> Bool? in
            let words = line.split(separator: " ")
            // Example: `1: FLOCK ADVISORY WRITE 123 fe:00:1234 0 EOF`
            guard words.count >= 6, words[1] == "FLOCK",
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode
            else { return nil }
            return true
        } ?? false
    }
}
