import Glibc

/// The part of an earlier run, opened read-only before it is continued.
///
/// The part is neither locked nor changed. Its generation shows later whether it is still the same.
package final class EarlierPart: Sendable {
    /// The generation in the part's manifest.
    package let generation: String
    /// The extents in the part's manifest.
    package let extents: [Extent]
    private let descriptor: Int32

    /// Opens the part for `request`; returns `nil` if no part can be continued.
    ///
    /// - Throws: `folderUnavailable`, `notARegularFile`, `cannotCreate`, `io`.
    package init?(_ request: Assembly.Request) throws(AssemblyError) {
        let folder = try Folder(request.folder)
        let names = PartNames(request.name)
        guard case .success(let manifest)? = try Manifest.read(names.manifest, in: folder),
            let file = folder.open(names.part, O_RDONLY)
        else { return nil }
        generation = manifest.header.generation
        extents = manifest.extents.extents
        descriptor = file
    }

    deinit { close(descriptor) }

    /// Returns the extents that overlap `places` and no longer match their checksum.
    ///
    /// Reads each overlapping extent completely.
    package func damaged(in places: [ByteRange]) -> [ByteRange] {
        extents.filter { extent in
            places.contains { !$0.intersection(extent.range).isEmpty }
                && !isIntact(extent, in: descriptor)
        }.map(\.range)
    }

    /// Returns whether the bytes in the part equal a server's sample.
    package func agrees(with sample: Extent) -> Bool { isIntact(sample, in: descriptor) }
}
