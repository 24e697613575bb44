// Publish: how a verified part gets its final name, and how that is finished after a crash. This
// folder determines the order of renames and synchronizations. It never decides whether a part may
// be published.

import Glibc

/// Gives a verified file its final name, and finishes that after a crash.
package enum Publishing {
    /// Gives a verified, durable part its final name, and removes or keeps its manifest.
    ///
    /// After a crash at any point, the next run can finish publishing or resume.
    ///
    /// - Parameters:
    ///   - file: The part.
    ///   - journal: The manifest of the part.
    ///   - facts: The facts about the part's content.
    ///   - expected: The digests that were verified.
    ///   - overwrite: Whether to replace a regular file at the destination.
    ///   - keepsManifest: Whether to keep the manifest beside the finished file.
    /// - Returns: How the file got its name.
    /// - Throws: `destinationExists`, `notARegularFile`, `partGone`, `partChanged`, `cannotCreate`,
    ///   `io`.
    static func publish(
        _ file: PartialFile, _ journal: Journal, _ facts: FinishedFacts, expected: [Digest],
        overwrite: Bool, keepsManifest: Bool
    ) throws(AssemblyError) -> NamingWay {
        let names = journal.names
        let before = journal.length
        let way: NamingWay
        do throws(AssemblyError) {
            try journal.append(Manifest.Record(publishing: file.identity, digests: expected))
            try journal.synchronize()
            // Write the manifest to keep before the rename: if the disk is full, the download can
            // still be resumed.
            if keepsManifest { try facts.prepareManifest(names, in: file.folder) }
            way = try rename(file, to: names.destination, overwrite: overwrite)
        } catch {
            try? file.folder.remove(names.rewrite)
            // A later run finishes a recorded publishing without a request to the server, which is
            // only correct after a crash. By the time the destination is free, the version may be
            // outdated.
            if (try? file.stands(at: names.destination)) != true { journal.takeBack(to: before) }
            throw error
        }
        if keepsManifest { try journal.replace() } else { try journal.remove() }
        return way
    }

    /// Renames the part to `name` and makes the rename durable.
    ///
    /// - Returns: How the file got its name.
    @discardableResult
    static func rename(
        _ file: PartialFile, to name: String, overwrite: Bool
    ) throws(AssemblyError) -> NamingWay {
        var way = NamingWay.renamed
        guard try file.stands(at: file.name) else { throw file.changed() }
        if overwrite {
            try checkDestination(name, in: file.folder, overwrite: true)
            try file.folder.rename(file.name, to: name)
        } else {
            way = try file.folder.renameWithoutReplacing(file.name, to: name)
        }
        try file.folder.sync()
        return way
    }

    /// Checks that the destination does not exist or may be replaced.
    ///
    /// - Throws: `destinationExists`, `notARegularFile`, `cannotCreate`.
    static func checkDestination(
        _ name: String, in folder: Folder, overwrite: Bool
    ) throws(AssemblyError) {
        guard let there = try folder.status(of: name) else { return }
        guard there.isRegular else { throw .notARegularFile(path: folder.path(of: name)) }
        guard overwrite else { throw .destinationExists(path: folder.path(of: name)) }
    }
}
