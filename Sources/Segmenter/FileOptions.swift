public import Assembler

/// What becomes of the file on the disk, before and after its data arrives.
public struct FileOptions: Sendable {
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

    /// Makes the default options.
    public init() {}
}
