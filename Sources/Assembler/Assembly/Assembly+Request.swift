extension Assembly {
    /// The parameters of an assembly: the destination, the remote file, and the options.
    package struct Request: Sendable {
        /// Folder of the destination.
        package var folder: String
        /// Name of the destination in the folder.
        package var name: String
        /// The complete URL; the manifest stores only a salted hash of it.
        package var fullURL: String
        /// The URL without credentials and query.
        package var url: String
        /// The identity of the file that the server offers.
        package var identity: RemoteIdentity
        /// Whether the server serves ranges.
        package var servesRanges: Bool
        /// The digest that the caller expects.
        package var checksum: Digest?
        /// The digests that the server advertises.
        package var advertised: [Digest] = []
        /// Digests that the manifest records, so that a later run compares them too.
        package var required: [Digest] = []
        /// Whether an earlier run's part is continued.
        package var resume = true
        /// The generation of the part whose sample was compared with the server's file.
        package var sampled: String?
        /// Whether an earlier attempt of this run kept bytes in a part, which must still exist.
        package var hasPart = false
        /// Whether existing files at the destination, part and manifest names may be replaced.
        package var overwrite = false
        /// The reason why the caller does not allow an earlier part to be continued.
        package var startOver: StartOverReason?
        /// The modification time of the finished file, in seconds since 1970.
        package var modified: Int64?
        /// The file mode creation mask for the finished file; `nil` uses the process's mask.
        package var umask: UInt32?
        /// Whether the umask of the process determines the permissions of the part, too.
        package var opensPart = false
        /// Whether the URL is a new link to the part's file, regardless of the part's original URL.
        package var isNewLink = false
        /// Whether the manifest of a part continued under a new link records that link as its URL.
        package var takesNewLink = false
        /// The target of a redirect; `nil` if the URL's own server offers the file.
        package var landing: LandingPlace?
        /// The complete original URL, if a new link is requested instead of it.
        package var givenURL: String?
        /// The effect of further URLs of the same file on the part.
        package var mirroring = Mirroring()
        /// How space for the part is allocated.
        package var allocation = FileAllocation.auto
        /// Which facts about the file are written to its extended attributes.
        package var attributes = FileAttributes.none
        /// Whether attributes are also written if the replaced file has such attributes.
        package var keepsAttributes = false
        /// Whether the manifest remains beside the finished file.
        package var keepManifest = false
        /// The disk priority of the threads that read received bytes to verify them.
        package var checkPriority = DiskPriority.normal
        /// Whether a regular file at the destination may be replaced.
        ///
        /// Unlike `overwrite`, this does not apply to the names of the part and the manifest.
        package var replacesDestination = false

        /// The expected digests from the caller, the server and `required`; may contain duplicates.
        package var expected: [Digest] { [checksum].compactMap { $0 } + advertised + required }

        /// Whether a regular file at the destination may be replaced.
        var mayReplace: Bool { overwrite || replacesDestination }

        package init(
            folder: String, name: String, fullURL: String, url: String, identity: RemoteIdentity,
            servesRanges: Bool
        ) {
            self.folder = folder
            self.name = name
            self.fullURL = fullURL
            self.url = url
            self.identity = identity
            self.servesRanges = servesRanges
        }
    }
}
