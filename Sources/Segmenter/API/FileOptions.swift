public import Assembler

/// What becomes of the file on the disk, before and after its data arrives.
public struct FileOptions: Sendable, Hashable {
    /// How the space of the part is provided for.
    public var allocation = FileAllocation.auto
    /// Give the finished file the server's `Last-Modified` as its time.
    public var remoteTime = true
    /// What of origin, version and digests is written into the finished file's extended attributes.
    public var attributes = FileAttributes.none
    /// Leave the manifest beside the finished file, so that it can be checked and repaired.
    public var keepManifest = false
    /// Replace a file that stands at the destination when the remote one is newer or has another
    /// size or version, and fetch nothing when it is not.
    public var timestamping = false
    /// Leave any regular file that has the name of the destination, without asking the server about it and
    /// without checking its content.
    ///
    /// Without a name of the caller's it is the URL's that counts, and once the server was asked, the name that
    /// it suggests.
    public var skipsExisting = false
    /// Fail where an HTML page arrived although the name or the media type promises a model, an archive, a package
    /// or a disk image; nothing is published then.
    ///
    /// Otherwise ``DownloadedFile/isPage`` says so. Neither with a digest of the caller's.
    public var refusesHTML = false

    /// File mode creation mask that the finished file's mode follows (umask(2)); `nil` for the process's.
    public var umask: UInt32?

    /// What becomes of folders that are missing on the way to the destination.
    ///
    /// They are made when the server has answered that there is a file, and removed again if nothing is
    /// left in them in the end.
    public var missingFolders = MissingFolders.refused

    /// What a newer version stored beside these.
    var unknown: [String: CodedValue] = [:]

    /// Makes the default options.
    public init() {}
}
