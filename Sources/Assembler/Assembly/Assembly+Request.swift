extension Assembly {
    /// What a download wants of its file.
    package struct Request: Sendable {
        /// Folder of the destination.
        package var folder: String
        /// Name of the destination in the folder.
        package var name: String
        /// The URL in full; only a salted hash of it is written down.
        package var fullURL: String
        /// The URL without credentials and query.
        package var url: String
        /// What the server offers.
        package var identity: RemoteIdentity
        /// Whether the server serves ranges.
        package var servesRanges: Bool
        /// The digest that the caller expects.
        package var checksum: Digest?
        /// The digests that the server advertises.
        package var advertised: [Digest] = []
        /// Digests that are written down, so that a later run compares them too.
        package var required: [Digest] = []
        /// Whether an earlier run's part is continued.
        package var resume = true
        /// The generation of a part of which a sample was compared with the server's file.
        package var sampled: String?
        /// Whether this run has brought a part that has to be there still.
        package var hasPart = false
        /// Whether what stands at the destination may be replaced.
        package var overwrite = false
        /// Why an earlier part must not be continued, decided elsewhere.
        package var startOver: StartOverReason?
        /// Time for the finished file, in seconds since 1970.
        package var modified: Int64?
        /// File mode creation mask that the finished file's mode follows; `nil` for the process's.
        package var umask: UInt32?
        /// Whether the URL is a new link to the file of a part, whatever URL has begun that.
        package var isNewLink = false
        /// Whether a part that is continued under a new link belongs to that from now on.
        package var takesNewLink = false
        /// Where a redirect has led; `nil` where the URL's own server offers the file.
        package var landing: LandingPlace?
        /// The URL that was given, in full, where a new link is asked in its place.
        package var givenURL: String?
        /// What further URLs of the same file mean for the part.
        package var mirroring = Mirroring()
        /// How the part's space is provided for.
        package var allocation = FileAllocation.auto
        /// Whether what is known of the file is written into its extended attributes.
        package var attributes = FileAttributes.none
        /// Whether that is also done when the file that is replaced has such attributes.
        package var keepsAttributes = false
        /// Whether the manifest stays beside the finished file.
        package var keepManifest = false
        /// How the disk serves those who read back what has arrived, to check it.
        package var checkPriority = DiskPriority.normal
        /// Whether a regular file at the destination may be replaced, for another reason than
        /// `overwrite`, which is about the part's and the manifest's names too.
        package var replacesDestination = false

        /// The digests that the file is to have, as far as the caller and the server state them;
        /// some may be there twice.
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
