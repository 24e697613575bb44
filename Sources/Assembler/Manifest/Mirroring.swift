/// What it means for a part that its file has several URLs.
package struct Mirroring: Sendable {
    /// Further full URLs of the same file.
    package var otherURLs: [String] = []
    /// Whether bytes of servers may be mixed that only the caller's checksum holds together.
    ///
    /// The manifest then tells no validators: a later run without the checksum must not take any
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

// MARK: - Comparing a mirror's bytes

extension Assembly {
    /// Whether what a sampler took is what stands on the disk.
    ///
    /// Reads as many bytes as were taken.
    package func agrees(with sampler: ExtentWriter) -> Bool {
        guard let extent = sampler.takeUnrecorded() else { return false }
        return isIntact(extent, in: file.descriptor)
    }
}

// MARK: - Wrong digests that are not final

extension Assembly {
    /// Has the manifest vouch for `ranges` only, at once: what else is there has the wrong digest, and
    /// no later run may take it for right.
    func retreat(to ranges: RangeSet, from actual: Digest) {
        stopThreads()
        do throws(AssemblyError) {
            _ = try Journal(
                folder: folder, name: Journal.name(for: request.name), header: journal.header,
                records: JournalRewrite.records(for: kept(in: ranges)))
        } catch {
            reject(actual)
        }
    }

    /// What arrived of `ranges`, as extents of its own where it had been merged with others.
    private func kept(in ranges: RangeSet) -> [Extent] {
        recorded.extents.flatMap { extent -> [Extent] in
            let parts = ranges.ranges.map { $0.intersection(extent.range) }.filter { !$0.isEmpty }
            if parts == [extent.range] { return [extent] }
            // A CRC-32 is computed anew only for bytes that are proven to be what arrived.
            guard !parts.isEmpty, isIntact(extent, in: file.descriptor) else { return [] }
            return parts.compactMap { part in
                crc32(of: part, in: file.descriptor).map { Extent(part, crc: $0) }
            }
        }
    }
}
