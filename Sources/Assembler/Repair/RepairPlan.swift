// Repair: what of a finished file is intact, and making a part of that, which an ordinary download then
// completes. It knows the kept manifest; it never changes the file itself, and fetches nothing.

/// What of a finished file can be kept, and turning that into a part that an ordinary download
/// completes.
///
/// The file itself is only read: it is replaced, whole and verified, when the part is published.
package struct RepairPlan: Sendable {
    /// What stands at the names of a file, its part and its manifest.
    package enum Finding: Sendable {
        /// No manifest says what the content should be.
        case noManifest(isFileThere: Bool)
        /// There is a part with its manifest, of a repair or a download that was stopped.
        case part(Manifest)
        /// The file is as its kept manifest says.
        case intact(FinishedFacts, StandingFile)
        /// Some of it is not.
        case damaged(RepairPlan)
    }

    /// What the kept manifest says.
    package let facts: FinishedFacts
    /// Extents that are to be fetched again, in ascending order.
    package let damaged: [Extent]
    private let file: StandingFile
    private let folder: Folder
    private let names: PartNames

    /// Looks at what is there, and checks the file against its kept manifest.
    ///
    /// Blocks on the disk for as long as reading the file takes.
    ///
    /// - Parameters:
    ///   - path: Folder of the file.
    ///   - name: Name of the file in it.
    ///   - isCancelled: Asked again and again while the data is checked.
    /// - Returns: What was found; `nil` after cancelling.
    /// - Throws: `folderUnavailable`, `notARegularFile`, `cannotCreate`, `io`.
    package static func survey(
        folder path: String, name: String, isCancelled: () -> Bool
    ) throws(AssemblyError) -> Finding? {
        let (folder, names) = (try Folder(path), PartNames(name))
        let file = try StandingFile.open(folder: path, name: name)
        guard case .success(let manifest)? = try Manifest.read(names.manifest, in: folder)
        else { return .noManifest(isFileThere: file != nil) }
        guard let facts = FinishedFacts(manifest) else {
            let part = try folder.status(of: names.part)
            return part == nil ? .noManifest(isFileThere: file != nil) : .part(manifest)
        }
        guard let file else { return .noManifest(isFileThere: false) }
        let check = ContentCheck.run(
            file.descriptor, size: file.status.size, extents: facts.extents,
            algorithms: Set(facts.digests.map(\.algorithm))
        ) { _ in isCancelled() }
        guard let check else { return nil }
        guard let lost = Self.lost(of: facts, size: file.status.size, check) else {
            return .intact(facts, file)
        }
        return .damaged(
            RepairPlan(facts: facts, damaged: lost, file: file, folder: folder, names: names))
    }

    /// Makes the part of what is intact, with a manifest that says exactly that.
    ///
    /// Until the manifest is replaced, as the last step, the file counts as finished and its
    /// manifest as kept: whatever stops this in between changes nothing.
    ///
    /// - Throws: `busy`, `notARegularFile`, `cannotCreate`, `io`.
    package func prepare() throws(AssemblyError) {
        try JournalRewrite.checkPlace(of: names, in: folder)
        var part = try PartialFile(folder: folder, name: names.part)
        if (part.initialSize ?? 0) > 0 {
            try folder.remove(names.part)
            part.unlock()
            part = try PartialFile(folder: folder, name: names.part)
        }
        let lost = Set(damaged)
        let intact = facts.extents.filter { !lost.contains($0) }
        do throws(AssemblyError) {
            var covered = RangeSet()
            for extent in intact { covered.insert(extent.range) }
            let copy = FileCopy(
                source: file.descriptor, sourcePath: file.path, target: part.descriptor,
                targetPath: part.path)
            for range in covered.ranges { _ = try copy(range) }
            // Before the manifest that vouches for it: once that has replaced the kept one, nothing
            // else shows what of the file is intact.
            try part.sync()
            try folder.sync()
            var header = facts.header
            header.size = facts.size
            header.require(facts.digests)
            _ = try Journal(
                folder: folder, names: names, header: header,
                records: JournalRewrite.records(for: intact))
        } catch {
            try? folder.remove(names.part)
            throw error
        }
    }

    /// Undoes `prepare`, as far as it is about the manifest and the part.
    ///
    /// - Throws: `cannotCreate`, `io`.
    package func restore() throws(AssemblyError) {
        try facts.writeManifest(names, in: folder)
        try folder.remove(names.part)
    }
}
