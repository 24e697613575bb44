/// What went wrong with a file on the disk.
///
/// Carries facts; wording is the command's business.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AssemblyError: Error, Sendable, Hashable {
    /// Something stands at the destination and `overwrite` was not asked for.
    case destinationExists(path: String)
    /// The destination, the part or the manifest is a folder, device, pipe, socket or symbolic link.
    case notARegularFile(path: String)
    /// The destination's folder cannot be opened.
    case folderUnavailable(path: String, errno: Int32)
    /// The part or the manifest cannot be created or opened.
    case cannotCreate(path: String, errno: Int32)
    /// Another process is downloading to this destination.
    case busy(path: String)
    /// A part stands there without a manifest, or something else in the place of a manifest: it is
    /// not known to be segget's.
    case foreignPart(path: String)
    /// There is no part to be continued; `isThere`: there is a file of that name, without a manifest.
    case noPart(path: String, isThere: Bool)
    /// Somebody else has removed, replaced or shortened the part while it was written. It was not
    /// published.
    case partChanged(path: String)
    /// The part is lost: somebody else removed or moved it, or its folder, while it was written. No byte of it is
    /// kept.
    case partGone(path: String, PartLoss)
    /// The file at this path, which another program has begun, is not gone on with.
    case notAdopted(path: String, AdoptionObstacle)
    /// A lock file says that another process writes to the part, or may do so: `host` and `process` name it, as
    /// far as the file does. Nothing shows that it has ended.
    case locked(path: String, lock: String, host: String?, process: Int64?)
    /// Fewer bytes are free than the file still needs.
    case noSpace(path: String, needed: Int64, free: Int64)
    /// A system call on a file failed.
    case io(operation: String, path: String, errno: Int32)
    /// The finished file has another digest than expected. It was not published.
    case digestMismatch(expected: Digest, actual: Digest, part: String)
    /// The stream has another digest than expected. Its end was held back.
    case streamDigestMismatch(expected: Digest, actual: Digest, path: String)
    /// Whoever read the stream has closed it (EPIPE).
    case readerGone(path: String)
}

extension AssemblyError {
    /// Whether another run works with the part, or may do so.
    var isOfLock: Bool {
        switch self {
        case .busy, .locked: true
        default: false
        }
    }
}

/// How a part was lost while it was written.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum PartLoss: Error, Sendable, Hashable {
    /// The part or its folder was removed.
    case removed
    /// Nothing has the part's name in its folder: it was removed, or moved elsewhere.
    case nameGone
    /// Its file system was unmounted while it was in use (`umount -l`).
    case unmounted
}

/// Why an earlier run's part cannot be continued, so that the download starts over.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum StartOverReason: Error, Sendable, Hashable {
    /// The caller asked not to resume.
    case notWanted
    /// The manifest stands there, but the part is gone.
    case partMissing
    /// The manifest has no readable header.
    case manifestUnreadable
    /// The manifest is of a format version that this segget does not read.
    case manifestVersion(Int)
    /// The part belongs to another URL, and no strong validator proves that it is the same file.
    case urlChanged
    /// The size of the remote file changed; `nil` is unknown. In bytes.
    case sizeChanged(was: Int64?, now: Int64?)
    /// The entity tag changed.
    case etagChanged(was: String?, now: String?)
    /// The time of the last change changed.
    case lastModifiedChanged(was: String?, now: String?)
    /// The content coding changed: the bytes are encoded in another way, or not any more; `nil` is none.
    case codingChanged(was: String?, now: String?)
    /// The digest that the server states of the whole file changed.
    case digestChanged(was: Digest, now: Digest)
    /// A redirect leads to another server than when the part was begun, and nothing proves that its file is
    /// the same.
    case otherServer
    /// Neither a strong ETag, a usable Last-Modified nor a checksum proves that it is the same file.
    case noValidator
    /// Nothing proves that it is the same file, and a sample of the part is not what the server
    /// sends there.
    case sampleDiffers(ByteRange)
    /// The server does not serve byte ranges.
    case noRanges
    /// The part was complete, and its digest was wrong.
    case rejected
    /// The remote file changed while it was being fetched.
    case changedMidway
    /// A single stream broke off, and without ranges its rest cannot be fetched.
    case streamBroken
    /// Mirrors have different data: one of them brings the whole file.
    case mirrorsDiffer
}

/// Why a file that another program has begun is not gone on with; it is left as it was.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AdoptionObstacle: Error, Sendable, Hashable {
    /// There is no such file.
    case missing
    /// It is a folder, device, pipe, socket or symbolic link.
    case notARegularFile
    /// It belongs to another user.
    case otherOwner
    /// It has further names (hard links): what is done to it would be done to those too.
    case hasOtherNames
    /// Another program has it open for writing, or has locked it.
    case inUse
    /// It was changed while it was read.
    case changed
    /// Nothing of the file is in it.
    case nothingInIt
    /// The control file that aria2 left beside it cannot be used.
    case controlFile(ControlFileProblem)
    /// aria2's control file says that bytes are there behind the end of the file. In bytes.
    case shorterThanControlFile(size: Int64, stated: Int64)
    /// It is longer than the remote file. In bytes.
    case longerThanRemote(size: Int64, remote: Int64)
    /// aria2 was fetching a file of another size. In bytes.
    case otherSize(stated: Int64, remote: Int64)
    /// The server does not say how long the remote file is, or does not serve ranges of it.
    case noRanges
    /// No digest says whether it belongs to the remote file, and a sample alone is not to.
    case noProof
    /// It is as long as the remote file, so that nothing but a digest shows what of it is there.
    case onlyDigestTells
    /// The server sends other bytes there.
    case sampleDiffers(ByteRange)
    /// The whole file has another digest than expected; `part` is where it is kept, if it is.
    case otherDigest(expected: Digest, actual: Digest, part: String?)
    /// What was taken over cannot be continued with what the server offers now.
    case otherVersion(StartOverReason)
}

/// Why a control file of aria2 is not read.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ControlFileProblem: Error, Sendable, Hashable {
    /// It is of a version that is not known.
    case version(Int)
    /// It ends too early.
    case truncated
    /// What it says contradicts itself.
    case inconsistent
    /// It is no regular file of the same owner, too long, or cannot be read.
    case unusable
}
