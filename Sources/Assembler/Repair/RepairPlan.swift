// Repair: the intact bytes of a finished file, and a part made of them, which an ordinary download
// completes. This folder reads the kept manifest. It never changes the finished file, and downloads
// nothing.

/// The plan to repair a finished file: its intact extents become a part, which an ordinary download
/// completes.
///
/// The file is only read. When the part is published, it replaces the file as a whole.
package struct RepairPlan: Sendable {
    /// The state of a file, its part and its manifest.
    package enum Finding: Sendable {
        /// No manifest describes the expected content.
        case noManifest(isFileThere: Bool)
        /// A part and its manifest exist, from a stopped repair or download.
        case part(Manifest)
        /// The file matches its kept manifest.
        case intact(FinishedFacts, StandingFile)
        /// The file is damaged.
        case damaged(RepairPlan)
    }

    /// The facts in the kept manifest.
    package let facts: FinishedFacts
    /// The extents that must be downloaded again, in ascending order.
    package let damaged: [Extent]
    private let file: StandingFile
    private let folder: Folder
    private let names: PartNames

    /// Looks for the file, its part and its manifest, and checks the file against its kept
    /// manifest.
    ///
    /// Blocks on the disk until the whole file is read.
    ///
    /// - Parameters:
    ///   - path: The folder of the file.
    ///   - name: The name of the file in the folder.
    ///   - isCancelled: Called repeatedly while the data is checked; returns whether to stop.
    /// - Returns: The finding; `nil` after cancellation.
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

    /// Creates a part with the intact extents, and its manifest.
    ///
    /// The manifest is replaced last. If this is interrupted before that, the file still counts as
    /// finished and its kept manifest is unchanged.
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
            // Make the part durable before the new manifest replaces the kept one, which is the
            // only record of the intact bytes.
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

    /// Undoes `prepare`: restores the kept manifest and removes the part.
    ///
    /// - Throws: `cannotCreate`, `io`.
    package func restore() throws(AssemblyError) {
        try facts.writeManifest(names, in: folder)
        try folder.remove(names.part)
    }
}
