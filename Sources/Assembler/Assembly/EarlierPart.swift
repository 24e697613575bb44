import Glibc

/// The part that an earlier run left, opened to be looked at before it is continued.
///
/// It is neither locked nor changed: the generation shows whether it is still the same one later.
package final class EarlierPart: Sendable {
    /// The generation of its manifest.
    package let generation: String
    /// What its manifest records.
    package let extents: [Extent]
    private let descriptor: Int32

    /// Opens the part of the file of `request`; `nil` when there is none that can be continued.
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

    /// The extents that hold bytes of `places` and do not have their checksum any more.
    ///
    /// Reads these extents whole.
    package func damaged(in places: [ByteRange]) -> [ByteRange] {
        extents.filter { extent in
            places.contains { !$0.intersection(extent.range).isEmpty }
                && !isIntact(extent, in: descriptor)
        }.map(\.range)
    }

    /// Whether what a server sent is what stands in the part.
    package func agrees(with sample: Extent) -> Bool { isIntact(sample, in: descriptor) }
}
