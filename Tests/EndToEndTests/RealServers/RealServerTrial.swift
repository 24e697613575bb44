import Foundation
import Glibc
import TestSupport

/// A third-party server with a few files, and folders to download them into.
final class RealServerTrial: Sendable {
    /// A served file.
    struct File: Sendable {
        let name: String
        let bytes: [UInt8]
        /// The percent-encoded path in the URL.
        var path: String { "files/\(RealServerTrial.encoded(name))" }
    }

    let server: RealServer
    /// The served files, in the order of the list.
    let files: [File]
    private let root: Sandbox

    /// Starts the server.
    init(_ kind: RealServer.Kind) throws {
        root = try Sandbox("segget-served")
        try FileManager.default.createDirectory(
            atPath: root.path("files/folder"), withIntermediateDirectories: true)
        for index in 0..<3 {
            try root.write(
                "files/folder/\(index).txt", String(repeating: "x", count: index * 1000))
        }
        let archive = Content(size: 150_000, seed: 4)
        let source = root.path("archive")
        try archive.write(to: source)
        let gzip = try Run("/bin/gzip", ["-nc", source]).wait().standardOutput
        try FileManager.default.removeItem(atPath: source)
        files = [
            File(name: "empty.bin", bytes: []),
            File(name: "one.bin", bytes: [7]),
            File(name: "small.bin", bytes: Content(size: 100_000, seed: 1).bytes(0..<100_000)),
            File(
                name: "large.bin", bytes: Content(size: 8_000_000, seed: 2).bytes(0..<8_000_000)),
            File(name: "archive.tgz", bytes: gzip),
            File(name: "archive.tar.gz", bytes: gzip),
            File(
                name: "text.txt", bytes: Array(String(repeating: "a line\n", count: 9000).utf8)),
            File(name: "name with ü.bin", bytes: Content(size: 3000, seed: 3).bytes(0..<3000)),
        ]
        for file in files {
            let path = root.path("files/\(file.name)")
            try Data(file.bytes).write(to: URL(filePath: path))
            try Self.age(path)
        }
        server = try RealServer(kind, root: root)
    }

    /// Returns the file with the given name.
    func file(_ name: String) throws -> File {
        guard let file = files.first(where: { $0.name == name }) else {
            throw Unexpected(text: "there is no \(name)")
        }
        return file
    }

    /// Returns the path of a served file on the disk.
    func servedPath(_ name: String) -> String { root.path("files/\(name)") }

    /// Returns what curl downloads from a path, or `nil` if curl fails.
    func broughtByCurl(_ path: String) throws -> [UInt8]? {
        let outcome = try Run("/usr/bin/curl", ["-qsfL", server.url(path)]).wait()
        return outcome.exitCode == 0 ? outcome.standardOutput : nil
    }

    /// Starts a run that takes some seconds, and waits until its manifest records `bytes`.
    func startSlowly(
        _ name: String, rate: String, until bytes: Int64, in folder: Sandbox
    ) throws -> Run {
        let process = try Run(
            ["--limit-rate", rate, server.url("files/\(name)")], in: folder.path)
        guard process.waits(for: bytes, name: name) else {
            let outcome = try process.wait(timeout: 10)
            throw Unexpected(text: "\(server.kind): \(outcome.end) \(outcome.errorOutput)")
        }
        return process
    }

    /// Sets an old modification date, so that a later change has another date, also in seconds.
    static func age(_ path: String) throws {
        var times = [
            timeval(tv_sec: 1_600_000_000, tv_usec: 0), timeval(tv_sec: 1_600_000_000, tv_usec: 0),
        ]
        guard utimes(path, &times) == 0 else { throw SystemCallError("utimes \(path)") }
    }

    private static func encoded(_ name: String) -> String {
        name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? name
    }
}
