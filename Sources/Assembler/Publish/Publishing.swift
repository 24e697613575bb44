// Publish: how a verified part gets its name, and how that is finished after a crash. It knows the order of
// renames and synchronizations; it never decides whether a part may be published.

import Glibc

/// Giving a verified file its name, and finishing that after a crash.
package enum Publishing {
    /// Gives a verified and durable part its name, and settles its manifest.
    ///
    /// A crash at any moment leaves what the next run can finish or continue.
    ///
    /// - Parameters:
    ///   - file: The part; its bytes are `facts`'.
    ///   - journal: Its manifest.
    ///   - facts: What is known of the file.
    ///   - expected: The digests that were compared.
    ///   - overwrite: Whether a regular file at the destination is replaced.
    ///   - keepsManifest: Whether the manifest stays beside the finished file.
    /// - Returns: How the name was given.
    /// - Throws: `destinationExists`, `notARegularFile`, `partGone`, `partChanged`, `cannotCreate`, `io`.
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
            // Before the rename: what does not fit on the disk shall fail while it can be resumed.
            if keepsManifest { try facts.prepareManifest(names, in: file.folder) }
            way = try rename(file, to: names.destination, overwrite: overwrite)
        } catch {
            try? file.folder.remove(names.rewrite)
            // Only what a crash leaves is finished without asking the server; this may be out of date
            // when the name is free.
            if (try? file.stands(at: names.destination)) != true { journal.takeBack(to: before) }
            throw error
        }
        if keepsManifest { try journal.replace() } else { try journal.remove() }
        return way
    }

    /// Renames the part to `name` and makes that durable.
    ///
    /// - Returns: How the name was given.
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

    /// Refuses a destination that may not be replaced.
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
