/// The effect of several URLs for one file on its part.
package struct Mirroring: Sendable {
    /// Further full URLs of the same file.
    package var otherURLs: [String] = []
    /// Whether the part may contain bytes of different servers that only the caller's checksum
    /// verifies.
    ///
    /// The manifest then has no validators. A later run without the checksum must not accept the
    /// bytes because one server's validator matches.
    package var isHeldByChecksum = false
    /// The bytes of an earlier attempt that may be kept; `nil` means all.
    package var keeps: RangeSet?

    package init() {}

    /// Returns the identity to record in the manifest instead of `identity`.
    func recorded(_ identity: RemoteIdentity) -> RemoteIdentity {
        isHeldByChecksum ? RemoteIdentity(size: identity.size) : identity
    }

    /// Returns the manifest with which the download continues: without discarded extents and
    /// without validators that no longer apply.
    func continued(_ manifest: Manifest) -> Manifest {
        var manifest = isHeldByChecksum ? manifest.heldByChecksum : manifest
        guard let keeps else { return manifest }
        // The digests were stated for bytes that are discarded.
        manifest.header.requiredDigests = nil
        let kept = manifest.extents.extents.filter { keeps.contains($0.range) }
        manifest.extents = kept.reduce(into: ExtentMap()) { $0.add($1) }
        return manifest
    }
}
