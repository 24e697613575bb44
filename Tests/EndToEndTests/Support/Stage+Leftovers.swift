@testable import Assembler
import Foundation
import Glibc
import TestSupport

// Writes files as an interrupted run leaves them.
extension Stage {
    /// Creates a part of zeros whose manifest records all bytes, as if killed after the last byte.
    ///
    /// With `publishing`, the run was killed just before the rename. With `end`, it received only
    /// the bytes before that offset.
    func leaveWholePart(publishing: Bool = false, upTo end: Int64? = nil) throws {
        let size = end ?? content.size
        let file = open(path("file.part"), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemCallError("open") }
        defer { close(file) }
        guard ftruncate(file, off_t(size)) == 0 else { throw SystemCallError("ftruncate") }
        let step: Int64 = 16 << 20
        let whole = CRC32.of([UInt8](repeating: 0, count: Int(min(step, size))))
        let rest = CRC32.of([UInt8](repeating: 0, count: Int(size % step)))
        let extents = stride(from: 0, to: size, by: Int(step)).map { start in
            let end = min(size, start + step)
            return Extent(ByteRange(start, end), crc: end - start == step ? whole : rest)
        }
        var records = [Manifest.Record(extents: extents)]
        if publishing { records.append(.init(publishing: try identity(of: "file.part"))) }
        try writeManifest(records)
    }

    /// Creates a correct part whose manifest ends with the record that precedes the rename.
    ///
    /// The record names `identity`, or the part's own identity if that is `nil`.
    func leaveFinishedPart(of identity: FileIdentity? = nil) throws {
        try content.write(to: path("file.part"))
        try writeManifest(try finishedRecords(identity ?? self.identity(of: "file.part")))
    }

    /// Returns the records of a run that is about to rename the file with this identity.
    func finishedRecords(_ identity: FileIdentity) throws -> [Manifest.Record] {
        let half = content.size / 2
        let extents = [0..<half, half..<content.size].map { range in
            Extent(
                ByteRange(range.lowerBound, range.upperBound),
                crc: CRC32.of(content.bytes(range)))
        }
        return [Manifest.Record(extents: extents), Manifest.Record(publishing: identity)]
    }

    /// Writes a manifest for the URL of `/file` with the origin's current validators.
    func writeManifest(_ records: [Manifest.Record]) throws {
        let url = origin.url("/file")
        let header = Manifest.Header(
            identity: RemoteIdentity(size: content.size, etag: "\"v1\""), url: url, fullURL: url,
            generation: 0x1234_5678_9abc_def0)
        let seed = Manifest.seed(generation: header.generation)
        var bytes = SealedLine.of(header, seed: seed)
        for record in records { bytes += SealedLine.of(record, seed: seed) }
        try Data(bytes).write(to: URL(fileURLWithPath: path("file.segget")))
    }

    /// Returns the device and inode of `name` in the folder.
    func identity(of name: String) throws -> FileIdentity {
        let status = try status(of: name)
        return FileIdentity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }

    /// Returns the result of lstat(2) for `name` in the folder.
    func status(of name: String) throws -> stat {
        var status = stat()
        guard lstat(path(name), &status) == 0 else { throw SystemCallError("lstat \(name)") }
        return status
    }

    /// Returns the bytes of a small file in the folder.
    func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// Writes a small file into the folder; replaces an existing one.
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(name)))
    }

    /// Removes a file from the folder.
    func remove(_ name: String) throws {
        guard unlink(path(name)) == 0 else { throw SystemCallError("unlink \(name)") }
    }

    /// Flips a byte of a file in the folder in place; the inode remains the same.
    func damage(_ name: String, at offset: Int64) throws {
        let file = open(path(name), O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw SystemCallError("open \(name)") }
        defer { close(file) }
        var byte: UInt8 = 0
        guard pread(file, &byte, 1, off_t(offset)) == 1 else { throw SystemCallError("pread") }
        byte ^= 0x40
        guard pwrite(file, &byte, 1, off_t(offset)) == 1 else { throw SystemCallError("pwrite") }
    }
}

extension Run {
    /// Returns whether the process has the file at `path` open.
    func hasOpen(_ path: String) -> Bool {
        let folder = "/proc/\(pid)/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path
        }
    }
}

/// A named pipe that is full and that no process reads.
final class FullPipe: Sendable {
    let path: String
    private let sandbox: Sandbox
    private let descriptor: Int32

    init() throws {
        sandbox = try Sandbox()
        path = sandbox.path("pipe")
        guard mkfifo(path, 0o600) == 0 else { throw SystemCallError("mkfifo") }
        descriptor = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemCallError("open \(path)") }
        let bytes = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, bytes, bytes.count) > 0 {}
    }

    deinit { close(descriptor) }
}
