/// An error of a file operation.
///
/// The error carries facts only; the command words the message.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AssemblyError: Error, Sendable, Hashable {
    /// A file exists at the destination, and `overwrite` was not requested.
    case destinationExists(path: String)
    /// The destination, part or manifest is a folder, device, pipe, socket or symbolic link.
    case notARegularFile(path: String)
    /// The destination's folder cannot be opened.
    case folderUnavailable(path: String, errno: Int32)
    /// The part or the manifest cannot be created or opened.
    case cannotCreate(path: String, errno: Int32)
    /// Another process is downloading to this destination: it has locked the part with flock(2).
    case busy(path: String)
    /// The file at this path is not known to be segget's.
    ///
    /// The file is a part without a manifest, another file with a manifest's name, or another
    /// user's file in a shared folder.
    case foreignPart(path: String)
    /// There is no part to continue; `isThere` means that a file of that name exists without a
    /// manifest.
    case noPart(path: String, isThere: Bool)
    /// Another program removed, replaced or truncated the part during the download.
    ///
    /// The part was not published.
    case partChanged(path: String)
    /// The part is lost: another program removed or moved it, or its folder, during the download.
    ///
    /// No byte of the part is kept.
    case partGone(path: String, PartLoss)
    /// The file at this path, which another program began to download, cannot be adopted.
    case notAdopted(path: String, AdoptionObstacle)
    /// A lock file shows that another process writes to the part, or may do so.
    ///
    /// `host` and `process` identify that process, if the file names it. Nothing shows that the
    /// process has ended.
    case locked(path: String, lock: String, host: String?, process: Int64?)
    /// The file system has fewer free bytes than the file still needs.
    case noSpace(path: String, needed: Int64, free: Int64)
    /// A system call on a file failed.
    case io(operation: String, path: String, errno: Int32)
    /// The finished file does not have the expected digest. It was not published.
    case digestMismatch(expected: Digest, actual: Digest, part: String)
    /// The stream does not have the expected digest. Its last bytes were not delivered.
    case streamDigestMismatch(expected: Digest, actual: Digest, path: String)
    /// The reader of the stream has closed it (EPIPE, ECONNRESET).
    case readerGone(path: String)
}

extension AssemblyError {
    /// Whether another run uses the part, or may use it.
    var isOfLock: Bool {
        switch self {
        case .busy, .locked: true
        default: false
        }
    }
}

/// How a part was lost during the download.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum PartLoss: Error, Sendable, Hashable {
    /// The part or its folder was removed.
    case removed
    /// No file in the folder has the part's name: the part was removed, or moved to another folder.
    case nameGone
    /// The file system was unmounted while it was in use (`umount -l`).
    case unmounted
}

/// The reason why an earlier run's part cannot be continued and the download starts over.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum StartOverReason: Error, Sendable, Hashable {
    /// The caller asked not to resume.
    case notWanted
    /// The manifest exists, but the part does not.
    case partMissing
    /// The manifest has no readable header.
    case manifestUnreadable
    /// The manifest has a format version that this version of segget does not support.
    case manifestVersion(Int)
    /// The part belongs to another URL, and no strong validator shows that the file is the same.
    case urlChanged
    /// The size of the remote file changed, in bytes; `nil` is unknown.
    case sizeChanged(was: Int64?, now: Int64?)
    /// The entity tag changed.
    case etagChanged(was: String?, now: String?)
    /// The modification time of the remote file changed.
    case lastModifiedChanged(was: String?, now: String?)
    /// The content coding of the response changed; `nil` means none.
    case codingChanged(was: String?, now: String?)
    /// The whole-file digest that the server states changed.
    case digestChanged(was: Digest, now: Digest)
    /// A redirect leads to another server than when the part was begun.
    ///
    /// Nothing shows that its file is the same.
    case otherServer
    /// Neither a strong ETag, a strong Last-Modified nor a checksum shows that the file is the
    /// same.
    case noValidator
    /// No validator shows that the file is the same, and a sample of the part differs from the
    /// server's bytes.
    case sampleDiffers(ByteRange)
    /// The server does not serve byte ranges.
    case noRanges
    /// The part was complete, but had a wrong digest.
    case rejected
    /// The remote file changed during the download.
    case changedMidway
    /// A single response was interrupted, and without ranges the remaining bytes cannot be
    /// requested.
    case streamBroken
    /// The mirrors have different data; a single mirror now serves the whole file.
    case mirrorsDiffer
}

/// The reason why a file that another program began to download is not adopted; the file is
/// unchanged.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum AdoptionObstacle: Error, Sendable, Hashable {
    /// The file does not exist.
    case missing
    /// The path is a folder, device, pipe, socket or symbolic link.
    case notARegularFile
    /// The file belongs to another user.
    case otherOwner
    /// The file has other names (hard links), which a change would affect as well.
    case hasOtherNames
    /// Another program has the file open for writing, or has locked it.
    case inUse
    /// The file was changed while it was read.
    case changed
    /// The file contains no downloaded bytes.
    case nothingInIt
    /// The control file of aria2 beside the file cannot be used.
    case controlFile(ControlFileProblem)
    /// aria2's control file records bytes beyond the end of the file. In bytes.
    case shorterThanControlFile(size: Int64, stated: Int64)
    /// The file is longer than the remote file. In bytes.
    case longerThanRemote(size: Int64, remote: Int64)
    /// aria2 was downloading a file of another size. In bytes.
    case otherSize(stated: Int64, remote: Int64)
    /// The server does not state the length of the remote file, or does not serve ranges of it.
    case noRanges
    /// No digest can show that the bytes are of the remote file, and a sample alone is not
    /// accepted.
    case noProof
    /// The file is as long as the remote file: only a digest can show which of its bytes were
    /// downloaded.
    case onlyDigestTells
    /// A sample of the file differs from the server's bytes.
    case sampleDiffers(ByteRange)
    /// The whole file does not have the expected digest; `part` is the path where it is kept, if it
    /// is kept.
    case otherDigest(expected: Digest, actual: Digest, part: String?)
    /// The adopted bytes cannot be continued with the version that the server offers.
    case otherVersion(StartOverReason)
}

/// The reason why a control file of aria2 cannot be used.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum ControlFileProblem: Error, Sendable, Hashable {
    /// The control file has an unknown version.
    case version(Int)
    /// The control file is truncated.
    case truncated
    /// The values in the control file contradict each other.
    case inconsistent
    /// The control file is not a regular file of the same owner, is too long, or cannot be read.
    case unusable
}
