public import Assembler

/// Options for the file on disk, before and after its bytes arrive.
public struct FileOptions: Sendable, Hashable {
    /// The method by which space for the part is reserved.
    public var allocation = FileAllocation.auto
    /// Whether to set the modification time of the finished file to the server's `Last-Modified`.
    public var remoteTime = true
    /// The facts to write into extended attributes of the finished file: origin, version and
    /// digests.
    public var attributes = FileAttributes.none
    /// Whether to keep the manifest beside the finished file, for later checks and repairs.
    public var keepManifest = false
    /// Whether to replace an existing file only if the remote file is newer or has changed.
    ///
    /// A different size or version also counts as a change. Otherwise nothing is downloaded.
    public var timestamping = false
    /// Whether to skip any existing regular file with the name of the destination.
    ///
    /// No request is sent, and the content is not checked. Without a name from the caller, the name
    /// from the URL counts first. Once the server has responded, the name that it suggests counts.
    public var skipsExisting = false
    /// Whether to fail if an HTML page arrives instead of the expected kind of file.
    ///
    /// The name or media type is that of a model, an archive, a package or a disk image. Nothing is
    /// then published. Without this option, ``DownloadedFile/isPage`` reports such a page. Neither
    /// applies if the caller expects a digest.
    public var refusesHTML = false

    /// The file mode creation mask of the finished file (umask(2)); `nil` for that of the process.
    public var umask: UInt32?

    /// Whether the umask of the process determines the permissions of the part and its manifest, too.
    ///
    /// Otherwise only their owner may read them.
    package var opensParts = false

    /// The handling of missing folders in the path of the destination.
    ///
    /// segget creates them when the server has confirmed that the file exists, and removes those
    /// that are empty at the end.
    public var missingFolders = MissingFolders.refused

    /// Options that a newer version stored and that this version does not know.
    var unknown: [String: CodedValue] = [:]

    /// Creates the default options.
    public init() {}
}
