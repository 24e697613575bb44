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
