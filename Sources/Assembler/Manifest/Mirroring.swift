/// What it means for a part that its file has several URLs.
package struct Mirroring: Sendable {
    /// Further full URLs of the same file.
    package var otherURLs: [String] = []
    /// Whether bytes of servers may be mixed that only the caller's checksum holds together.
    ///
    /// The manifest then states no validators: a later run without the checksum must not take any
    /// server's word for all of the bytes.
    package var isHeldByChecksum = false
    /// The bytes of an earlier attempt that may be kept; `nil` for all.
    package var keeps: RangeSet?

    package init() {}

    /// The identity to write down for `identity`.
    func recorded(_ identity: RemoteIdentity) -> RemoteIdentity {
        isHeldByChecksum ? RemoteIdentity(size: identity.size) : identity
    }

    /// The manifest to go on with: without what must not be kept, nor said any more.
    func continued(_ manifest: Manifest) -> Manifest {
        var manifest = isHeldByChecksum ? manifest.heldByChecksum : manifest
        guard let keeps else { return manifest }
        // They were promised of bytes that are thrown away.
        manifest.header.requiredDigests = nil
        let kept = manifest.extents.extents.filter { keeps.contains($0.range) }
        manifest.extents = kept.reduce(into: ExtentMap()) { $0.add($1) }
        return manifest
    }
}
