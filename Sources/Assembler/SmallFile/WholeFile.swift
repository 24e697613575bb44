// SmallFile: files that a single request downloaded completely, published in groups without part
// and manifest. This folder knows bytes in memory and names. It never knows ranges, and never
// resumes a download.

import CLinux
import Glibc

/// A small file whose bytes are all in memory, until it is published.
///
/// The file is written without a name (open(2), `O_TMPFILE`), and named once it is durable. If the
/// process or the machine crashes earlier, nothing remains of the file, so it needs no manifest.
///
/// Used by one thread.
struct WholeFile {
    /// The published file, provided that `nameIt` succeeds.
    private(set) var published: PublishedFile
    private let descriptor: Int32
    let name: String
    let folder: Folder

    /// Verifies the bytes and writes them to a file without a name.
    ///
    /// Fails if the caller wants a manifest, and on any obstacle: other files of the download
    /// exist, a digest differs, the disk is full. Nothing has changed in that case.
    ///
    /// - Parameters:
    ///   - bytes: The whole file.
    ///   - request: The parameters of the download.
    ///   - folder: The folder of `request`.
    ///   - generation: A random number that no other file has.
    ///   - permissions: The permissions of the finished file.
    init?(
        _ bytes: [UInt8], _ request: Assembly.Request, in folder: Folder,
        generation: UInt64, permissions: FilePermissions
    ) {
        guard !request.keepManifest, Assembly.isUnbegun(request.name, in: folder),
            (request.identity.size ?? Int64(bytes.count)) == Int64(bytes.count)
        else { return nil }
        let crc = bytes.withUnsafeBytes { buffer in
            buffer.baseAddress.map { CRC32.update(0, $0, buffer.count) } ?? 0
        }
        let expected = request.expected.distinct
        var computed = [Digest(crc32: crc)]
        for digest in expected {
            if computed.first(of: digest.algorithm) == nil {
                guard let actual = Self.digest(digest.algorithm, of: bytes) else { return nil }
                computed.insert(actual, at: computed.count - 1)
            }
            guard computed.contains(digest) else { return nil }
        }
        // The kernel applies the mask, or the folder's list, as for the permissions.
        let mode = permissions.list == nil ? permissions.mode : 0o600
        let opened = folder.withDescriptor { segget_nameless_file($0, mode) }
        guard opened >= 0 else { return nil }
        descriptor = opened
        name = request.name
        self.folder = folder
        published = PublishedFile(
            path: folder.path(of: name), size: Int64(bytes.count), crc32: crc, verified: expected)
        guard writeFully(opened, bytes) == 0 else {
            close()
            return nil
        }
        if request.attributes != .none {
            let header = Manifest.Header(
                identity: request.identity, url: request.url, fullURL: request.fullURL,
                generation: generation)
            let facts = FinishedFacts(
                header: header, size: published.size, digests: computed, extents: [])
            let isAll = request.attributes == .all
            let problem = facts.write(to: opened, includesOrigin: isAll)
            if isAll { published.attributesProblem = problem }
        }
        guard permissions.list == nil || permissions.apply(to: opened) == nil,
            request.modified.map({ segget_set_modified(opened, $0) == 0 }) ?? true
        else {
            close()
            return nil
        }
    }

    /// Asks the kernel to start writing the file to the disk.
    func startWriting() { segget_start_writing(descriptor) }

    /// Makes the file durable, still without a name.
    ///
    /// - Returns: Whether that succeeded.
    func sync() -> Bool { fsync(descriptor) == 0 }

    /// Gives the file its name, unless another file has it.
    ///
    /// - Returns: Whether that succeeded.
    func nameIt() -> Bool {
        folder.withDescriptor { segget_name_file(descriptor, $0, name) } == 0
    }

    /// Closes the file; without a name, it ceases to exist.
    func close() { Glibc.close(descriptor) }

    private static func digest(_ algorithm: DigestAlgorithm, of bytes: [UInt8]) -> Digest? {
        guard var digest = StreamingDigest(algorithm, size: Int64(bytes.count)) else { return nil }
        bytes.withUnsafeBytes { digest.update($0) }
        return digest.finish()
    }
}
