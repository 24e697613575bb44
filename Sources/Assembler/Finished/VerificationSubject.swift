import Glibc

/// The file that is checked: the finished one, or its part.
final class VerificationSubject {
    /// Name of the finished file.
    let name: String
    /// Path of what is read, for messages.
    let path: String
    /// Whether it is the part that is read.
    let isPart: Bool
    /// Open for reading.
    let descriptor: Int32
    /// What stat(2) said when it was opened.
    let status: FileStatus
    /// What an earlier run wrote down of the finished file; `nil` for a part.
    let facts: FinishedFacts?
    /// Where `facts` stood.
    let factsSource: FileVerification.Source
    /// The manifest of the part; `nil` for a finished file.
    let manifest: Manifest?
    /// Whether a lock file says that a run works on it.
    private let isLocked: Bool

    /// Opens the file at `path`, else its part.
    ///
    /// - Throws: `noFile`, `assembly`.
    init(_ path: String) throws(FileVerification.Failure) {
        do throws(AssemblyError) {
            let place = FileTarget(path: path)
            let folder = try Folder(place.folder)
            let given = place.name
            let suffix = PartNames.partSuffix
            let stem = given.hasSuffix(suffix) ? String(given.dropLast(suffix.count)) : given
            // A part that is given by its own name, unless it is a finished file of that name.
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

    /// Whether somebody holds the lock of the file: a lock file says so, or the kernel's table, because asking by
    /// locking might make a download fail that begins at this moment.
    var isInUse: Bool {
        if isLocked { return true }
        let inode = status.identity.inode
        return firstLine(of: "/proc/locks") { line -> Bool? in
            let words = line.split(separator: " ")
            // `1: FLOCK ADVISORY WRITE 123 fe:00:1234 0 EOF`
            guard words.count >= 6, words[1] == "FLOCK",
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == inode
            else { return nil }
            return true
        } ?? false
    }
}
