import Assembler
import Foundation
import Glibc
import TestSupport

/// Another download program, which leaves a partial file when it is killed.
enum ForeignDownload: CaseIterable, Sendable {
    case curl, wget, wget2, aria2None, aria2Prealloc, aria2Falloc

    var isAria2: Bool { [.aria2None, .aria2Prealloc, .aria2Falloc].contains(self) }

    /// The number of connections that the program opens.
    private var connections: Int64 { isAria2 ? 4 : 1 }

    private func command(_ url: String, _ name: String) -> [String] {
        let aria2 = [
            "aria2c", "--no-conf", "-q", "-x4", "-s4", "-k1M", "--auto-save-interval=1", "-o", name,
            "--file-allocation",
        ]
        switch self {
        case .curl: return ["curl", "-q", "-sS", "-o", name, url]
        case .wget: return ["wget", "--no-config", "-q", "-O", name, url]
        case .wget2: return ["wget2", "--no-config", "-q", "-O", name, url]
        case .aria2None: return aria2 + ["none", url]
        case .aria2Prealloc: return aria2 + ["prealloc", url]
        case .aria2Falloc: return aria2 + ["falloc", url]
        }
    }

    /// Runs the program until each connection has received `each` bytes, then kills it.
    ///
    /// - Returns: The number of bytes that the program has recorded as written.
    func leave(_ name: String, of stage: Stage, each: Int64) throws -> Int64 {
        stage.origin.bendGET { $0.stallAfter = each }
        let process = try Run(
            "/usr/bin/env", command(stage.origin.url("/file"), name), in: stage.folder,
            environment: ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"])
        // aria2 does not count incomplete blocks; wget has some bytes in memory.
        let least = (each - 20_000) * connections
        let has = { (there: Int64) in there >= least }
        let isThere = eventually(timeout: 60) { has(bytes(name, of: stage)) || !process.isRunning }
        process.signal(SIGKILL)
        let outcome = try process.wait()
        guard isThere, outcome.end == .signal(SIGKILL) else {
            throw Unexpected(text: "\(self): \(outcome.end), \(outcome.errorOutput)")
        }
        stage.origin.dropConnections()
        stage.origin.hearOut()
        stage.origin.behave()
        return bytes(name, of: stage)
    }

    /// Returns the number of bytes that are known to be in the file.
    private func bytes(_ name: String, of stage: Stage) -> Int64 {
        guard isAria2 else { return (try? stage.facts(name).size) ?? 0 }
        guard let bytes = try? stage.read(name + ".aria2") else { return 0 }
        return (try? Aria2ControlFile(reading: bytes))?.done.count ?? 0
    }
}

/// The properties of a file that must not change.
struct FileFacts: Equatable {
    var size: Int64
    var inode: UInt64
    var modified: [Int]
    var content: Data
}

extension Stage {
    /// Returns the properties of a file to compare, including all its bytes.
    func facts(_ name: String) throws -> FileFacts {
        var status = stat()
        guard lstat(path(name), &status) == 0 else { throw SystemCallError("lstat \(name)") }
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        return FileFacts(
            size: Int64(status.st_size), inode: UInt64(status.st_ino),
            modified: [status.st_mtim.tv_sec, status.st_mtim.tv_nsec],
            content: isRegular ? try Data(contentsOf: URL(fileURLWithPath: path(name))) : Data())
    }

    /// Writes the first `count` bytes of the file to `name`, like curl or a browser.
    func leavePrefix(_ name: String, _ count: Int64) throws {
        try Data(content.bytes(0..<count)).write(to: URL(fileURLWithPath: path(name)))
    }

    /// The arguments `--checksum` and the file's digest.
    var rightChecksum: [String] { ["--checksum", "sha-256:\(content.sha256Hex)"] }

    /// The arguments `--checksum` and a wrong digest.
    static var wrongChecksum: [String] {
        ["--checksum", "sha-256:" + String(repeating: "0", count: 64)]
    }
}

/// The evidence that a foreign file belongs to the remote file.
enum AdoptionProof: CaseIterable, Sendable {
    case checksum, sample

    func arguments(_ stage: Stage) -> [String] {
        self == .checksum ? stage.rightChecksum : ["--resume-unverified"]
    }
}
