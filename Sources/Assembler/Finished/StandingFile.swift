import Glibc

/// A regular file that exists at the destination, open for reading only.
package final class StandingFile: Sendable {
    /// The path, for messages and results.
    package let path: String
    /// The result of stat(2) at opening.
    package let status: FileStatus
    /// The facts that an earlier run stored about the file; `nil` if there are none.
    package let facts: FinishedFacts?
    let descriptor: Int32

    /// Opens the file `name`.
    ///
    /// - Parameters:
    ///   - folder: The folder of the destination.
    ///   - name: The name of the destination in the folder.
    /// - Returns: The file; `nil` if there is no regular, readable file of that name.
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

    /// Returns whether a path refers to this file.
    package func isSame(as path: String) -> Bool { Folder.identity(at: path) == status.identity }

    /// Returns whether the bytes that a server sent are equal to those of the file.
    package func agrees(with sample: Extent) -> Bool { isIntact(sample, in: descriptor) }

    /// Computes the file's digest of the same algorithm as `expected`, and its CRC-32.
    ///
    /// - Parameters:
    ///   - expected: The expected digest, which determines the algorithm.
    ///   - isCancelled: Called repeatedly; returns whether to stop.
    /// - Returns: The digest and the CRC-32; `nil` if the file cannot be read completely, or after
    ///   cancellation.
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

    /// Checks the whole file against its facts.
    ///
    /// - Parameter isCancelled: Called repeatedly; returns whether to stop.
    /// - Returns: The digests that matched, and the CRC-32; `nil` if anything differs, or after
    ///   cancellation.
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
