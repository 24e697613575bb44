import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Allocation of the part, and time and extended attributes of the finished file.
struct FileOptionsTests {
    private static let size: Int64 = 8_000_000

    @Test(.timeLimit(.minutes(5)), arguments: FileAllocation.allCases)
    func fileAllocationDecidesAllocatedSpace(allocation: FileAllocation) throws {
        let stage = try Stage(size: Self.size)
        let arguments = ["-x", "1", "--file-allocation", allocation.rawValue]
        stage.origin.bendGET { $0.stallAfter = 500_000 }
        let process = try stage.start(arguments)
        try #require(process.waits(for: 400_000))
        let status = try stage.status(of: "file.part")
        let allocated = Int64(status.st_blocks) * 512
        switch allocation {
        case .auto: #expect(status.st_size == Self.size)
        case .falloc: #expect(status.st_size == Self.size && allocated >= Self.size)
        case .trunc: #expect(status.st_size == Self.size && allocated < Self.size / 2)
        case .none: #expect(status.st_size < Self.size / 2 && allocated < Self.size / 2)
        }
        process.signal(SIGKILL)
        _ = try process.wait()
        stage.origin.dropConnections()
        stage.origin.behave()
        let kept = try #require(stage.recorded())
        let requests = stage.origin.requests.count
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("failed their CRC-32"))
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
        #expect(stage.bytesAsked(after: requests) <= Self.size - kept)
    }

    /// Without allocation a part has holes, and is shorter than the next run may make it.
    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            (FileAllocation.none, FileAllocation.falloc), (.falloc, .none), (.none, .trunc),
            (.trunc, .none), (.none, .none),
        ])
    func resumesWithOtherAllocation(
        first: FileAllocation, second: FileAllocation
    ) throws {
        let stage = try Stage(size: Self.size)
        let kept = try stage.leavePart(
            each: 300_000, connections: 5,
            arguments: ["--file-allocation", first.rawValue])
        #expect(kept >= 1_500_000)
        let requests = stage.origin.requests.count
        let outcome = try stage.run(["--file-allocation", second.rawValue])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("failed their CRC-32"))
        #expect(try stage.isRight())
        #expect(stage.bytesAsked(after: requests) <= Self.size - kept)
    }

    @Test(.timeLimit(.minutes(5))) func noRemoteTimeKeepsCurrentTime() throws {
        let stage = try Stage(size: 500_000)
        stage.origin.change { $0.lastModified = httpDate(unixTime: 1_234_567_890) }
        #expect(try stage.run(["--no-remote-time"]).end == .exit(0))
        #expect(abs(try stage.status(of: "file").st_mtim.tv_sec - time(nil)) < 60)
    }

    // MARK: Extended attributes

    /// The extended attributes of a file, as Python reads them.
    private func attributes(_ path: String) throws -> [String: String] {
        let script = """
            import os, sys, json
            path = sys.argv[1]
            print(json.dumps({n: os.getxattr(path, n).decode() for n in os.listxattr(path)}))
            """
        let outcome = try Run("/usr/bin/python3", ["-c", script, path]).wait()
        return try JSONDecoder().decode([String: String].self, from: Data(outcome.output.utf8))
    }

    @Test(.timeLimit(.minutes(5))) func xattrStoresOriginVersionAndDigest() throws {
        let stage = try Stage(size: 500_000)
        let date = httpDate(unixTime: 1_234_567_890)
        stage.origin.change { $0.lastModified = date }
        let host = "127.0.0.1:\(stage.origin.port)"
        let outcome = try Run(
            [
                "--xattr", "--checksum", "sha-256:\(stage.content.sha256Hex)",
                "http://user:hush@\(host)/file?token=hush#part",
            ], in: stage.folder
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.names() == ["file"])
        let found = try attributes(stage.path("file"))
        #expect(found["user.xdg.origin.url"] == stage.origin.url("/file"))
        let proof = Set(try #require(found["user.segget"]).split(separator: "\n"))
        let crc = Digest(crc32: CRC32.of(stage.content.bytes(0..<500_000)))
        #expect(
            proof.isSuperset(of: [
                "size=500000", "etag=\"v1\"", "last_modified=\(date)",
                "last_modified_strong=true",
                "digests=sha-256:\(stage.content.sha256Hex) \(crc)",
            ]))
        #expect(found["user.xdg.referrer.url"] == nil)
        #expect(found.values.allSatisfy { !$0.contains("hush") })
        // Writing the attributes does not change the modification time.
        #expect(try stage.status(of: "file").st_mtim.tv_sec == 1_234_567_890)
    }

    @Test(.timeLimit(.minutes(5))) func storesNoOriginWithoutXattr() throws {
        let stage = try Stage(size: 500_000)
        #expect(try stage.run().end == .exit(0))
        let found = try attributes(stage.path("file"))
        #expect(found.keys.sorted() == ["user.segget"])
        #expect(found.values.allSatisfy { !$0.contains("127.0.0.1") })
    }

    @Test(.timeLimit(.minutes(5)), .enabled(if: geteuid() == 0, "mounting needs root"))
    func reportsFileSystemWithoutAttributes() throws {
        let disk = try Tmpfs(size: 8 << 20, kind: "ramfs")
        let stage = try Stage(size: 500_000, in: disk.path)
        let outcome = try stage.run(["--xattr"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("does not accept the extended attributes"))
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }
}
