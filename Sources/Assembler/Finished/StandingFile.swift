import Glibc

/// A regular file that stands at the destination: open, to be looked at and never written.
package final class StandingFile: Sendable {
    /// Its path, for messages and results.
    package let path: String
    /// Length, time and the like when it was opened.
    package let status: FileStatus
    /// What an earlier run wrote down about it; `nil` when nothing is known.
    package let facts: FinishedFacts?
    let descriptor: Int32

    /// Opens what stands at `name`.
    ///
    /// - Parameters:
    ///   - folder: Folder of the destination.
    ///   - name: Name of the destination in it.
    /// - Returns: The file, or `nil` when there is none, or none that is regular and can be read.
    /// - Throws: `folderUnavailable`, `cannotCreate`, `io`.
    package static func open(
        folder: String, name: String
    ) throws(AssemblyError) -> StandingFile? {
        let folder = try Folder(folder)
        guard let there = try folder.status(of: name), there.isRegular else { return nil }
        let path = folder.path(of: name)
        guard let descriptor = folder.open(name, O_RDONLY) else {
            guard errno != EIO else { throw .io(operation: "open", path: path, errno: EIO) }
            return nil
        }
        do throws(AssemblyError) {
            let status = try FileStatus(of: descriptor, path)
            guard status.isRegular else {
                close(descriptor)
                return nil
            }
            return StandingFile(
                path: path, status: status,
                facts: try folder.trusts(status) ? try FinishedFacts.find(name, in: folder) : nil,
                descriptor: descriptor)
        } catch {
            close(descriptor)
            throw error
        }
    }

    private init(path: String, status: FileStatus, facts: FinishedFacts?, descriptor: Int32) {
        self.path = path
        self.status = status
        self.facts = facts
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Whether a path leads to the file.
    package func isSame(as path: String) -> Bool { Folder.identity(at: path) == status.identity }

    /// Whether what a server sent is what stands in the file.
    package func agrees(with sample: Extent) -> Bool { isIntact(sample, in: descriptor) }

    /// Compares all its bytes with a digest.
    ///
    /// - Parameters:
    ///   - expected: The digest that they should have.
    ///   - isCancelled: Asked again and again meanwhile.
    /// - Returns: The digest and the CRC-32 that they have; `nil` when they cannot all be read, or
    ///   after cancelling.
    package func digest(
        like expected: Digest, isCancelled: () -> Bool
    ) -> (digest: Digest, crc32: UInt32)? {
        let check = ContentCheck.run(
            descriptor, size: status.size, extents: [], algorithms: [expected.algorithm, .crc32]
        ) { _ in isCancelled() }
        guard let check, let digest = check.digests.first(of: expected.algorithm),
            let crc = check.digests.first(of: .crc32)
        else { return nil }
        return (digest, crc.crc32)
    }

    /// Checks all its bytes against everything that `facts` say.
    ///
    /// - Parameter isCancelled: Asked again and again meanwhile.
    /// - Returns: The digests that were compared and the CRC-32; `nil` when something differs, or
    ///   after cancelling.
    package func check(
        isCancelled: () -> Bool
    ) -> (verified: [Digest], crc32: UInt32)? {
        guard let facts else { return nil }
        let algorithms = Set(facts.digests.map(\.algorithm) + [.crc32])
        let check = ContentCheck.run(
            descriptor, size: status.size, extents: facts.extents, algorithms: algorithms
        ) { _ in isCancelled() }
        guard let check, check.damaged.isEmpty, !facts.digests.isEmpty,
            facts.digests.allSatisfy(check.digests.contains),
            let crc = check.digests.first(of: .crc32)
        else { return nil }
        return (facts.digests.filter { $0.algorithm != .crc32 }, crc.crc32)
    }
}
