import Assembler
import Foundation
import Glibc
import TestSupport

/// A program that is not segget, and leaves part of a file when it is killed.
enum ForeignDownload: CaseIterable, Sendable {
    case curl, wget, wget2, aria2None, aria2Prealloc, aria2Falloc

    var isAria2: Bool { [.aria2None, .aria2Prealloc, .aria2Falloc].contains(self) }

    /// Connections that it opens.
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

    /// Has it fetch the file until each of its connections has got `each` bytes, and kills it.
    ///
    /// - Returns: Bytes that it knows to be in the file.
    func leave(_ name: String, of stage: Stage, each: Int64) throws -> Int64 {
        stage.bendGET { $0.stallAfter = each }
        let process = try ChildProcess(
            "/usr/bin/env", command(stage.origin.url("/file"), name), in: stage.folder,
            environment: ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"])
        // Blocks that have not come whole count for nothing with aria2; wget has some bytes in memory.
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
        stage.behave()
        return bytes(name, of: stage)
    }

    /// Bytes that are known to be there.
    private func bytes(_ name: String, of stage: Stage) -> Int64 {
        guard isAria2 else { return (try? stage.facts(name).size) ?? 0 }
        guard let bytes = try? stage.read(name + ".aria2") else { return 0 }
        return (try? Aria2ControlFile(reading: bytes))?.done.count ?? 0
    }
}

/// What of a file must not change.
struct FileFacts: Equatable {
    var size: Int64
    var inode: UInt64
    var modified: [Int]
    var content: Data
}

extension Stage {
    /// What is to be compared of a file, with all its bytes.
    func facts(_ name: String) throws -> FileFacts {
        var status = stat()
        guard lstat(path(name), &status) == 0 else { throw SystemCallError("lstat \(name)") }
        let isRegular = status.st_mode & S_IFMT == S_IFREG
        return FileFacts(
            size: Int64(status.st_size), inode: UInt64(status.st_ino),
            modified: [status.st_mtim.tv_sec, status.st_mtim.tv_nsec],
            content: isRegular ? try Data(contentsOf: URL(fileURLWithPath: path(name))) : Data())
    }

    /// Leaves the first bytes of the file under a name, as curl or a browser would.
    func leavePrefix(_ name: String, _ count: Int64) throws {
        try Data(content.bytes(0..<count)).write(to: URL(fileURLWithPath: path(name)))
    }

    /// `--checksum` with the digest of the file.
    var rightChecksum: [String] { ["--checksum", "sha-256:\(content.sha256Hex)"] }

    /// `--checksum` with a digest that no file has.
    static var wrongChecksum: [String] {
        ["--checksum", "sha-256:" + String(repeating: "0", count: 64)]
    }
}

/// What shows that a foreign file belongs to the remote one.
enum AdoptionProof: CaseIterable, Sendable {
    case checksum, sample

    func arguments(_ stage: Stage) -> [String] {
        self == .checksum ? stage.rightChecksum : ["--resume-unverified"]
    }
}
