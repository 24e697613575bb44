import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Mode, modification time and digest of the finished file, and segget's use of memory.
struct AttributeTests {
    private func start(_ stage: Stage, umask: String) throws -> Run {
        try Run(
            "/bin/sh",
            [
                "-c", "umask \(umask); exec \"$0\" \"$@\"", try Segget.binary(), "-x", "4",
                stage.origin.url("/file"),
            ], in: stage.folder)
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [("022", 0o644), ("077", 0o600), ("000", 0o666), ("027", 0o640)]
            as [(String, mode_t)])
    func modeFollowsTheUmask(umask: String, mode: mode_t) throws {
        let stage = try Stage(size: 2_000_000)
        stage.origin.bendGET { $0.stallAfter = 200_000 }
        let process = try start(stage, umask: umask)
        try #require(process.waits(for: 800_000))
        for name in ["file.part", "file.segget"] {
            #expect(try stage.status(of: name).st_mode == S_IFREG | 0o600)
        }
        process.signal(SIGKILL)
        _ = try process.wait()
        stage.origin.behave()
        #expect(try start(stage, umask: umask).wait().end == .exit(0))
        #expect(try stage.status(of: "file").st_mode == S_IFREG | mode)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [true, false])
    func modificationTimeIsLastModified(answersHEAD: Bool) throws {
        let stage = try Stage(size: 500_000)
        stage.origin.change { offer in
            offer.lastModified = httpDate(unixTime: 1_234_567_890)
            offer.bend = { request, reply in
                if !answersHEAD, request.method == "HEAD" { reply = .text(405) }
            }
        }
        #expect(try stage.run().end == .exit(0))
        #expect(try stage.status(of: "file").st_mtim.tv_sec == 1_234_567_890)
    }

    @Test(.timeLimit(.minutes(5))) func modificationTimeIsNowWithoutLastModified() throws {
        let stage = try Stage(size: 500_000)
        #expect(try stage.run().end == .exit(0))
        #expect(abs(try stage.status(of: "file").st_mtim.tv_sec - time(nil)) < 60)
    }

    static let algorithms: [(spellings: [String], tool: String?)] = [
        (["sha-256", "SHA256"], "sha256sum"), (["sha-512", "Sha512"], "sha512sum"),
        (["sha-1", "SHA1"], "sha1sum"), (["md5", "MD5"], "md5sum"), (["crc32", "CRC-32"], nil),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: algorithms)
    func verifiesEveryAlgorithm(spellings: [String], tool: String?) throws {
        let stage = try Stage(size: 1_500_000, seed: 3)
        let known = try Sandbox()
        try stage.content.write(to: known.path("known"))
        var hex = Digest(crc32: CRC32.of(stage.content.bytes(0..<1_500_000))).hex
        if let tool {
            let outcome = try Run("/usr/bin/\(tool)", [known.path("known")]).wait()
            hex = String(outcome.output.prefix { $0 != " " })
        }
        let wrong = hex.prefix(1) == "0" ? "1" + hex.dropFirst() : "0" + hex.dropFirst()
        for (spelling, separator) in zip(spellings, [":", "="]) {
            let right = separator == "=" ? hex.uppercased() : hex
            let refused = try stage.run(["--checksum", "\(spelling)\(separator)\(wrong)"])
            #expect(refused.end == .exit(65))
            #expect(refused.errorOutput.contains("got `\(spellings[0]):\(hex)`"))
            let outcome = try stage.run(["--checksum", "\(spelling)\(separator)\(right)"])
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("; verified \(spellings[0]):\(hex)"))
            #expect(try stage.isRight())
            try stage.remove("file")
        }
        let requests = stage.origin.requests.count
        let others = tool == nil ? ["crc32\(hex)", "sha3:\(hex)", hex + ":"] : []
        for bad in ["\(spellings[0]):\(hex)0"] + others {
            #expect(try stage.run(["--checksum", bad]).end == .exit(64))
        }
        #expect(stage.origin.requests.count == requests)
    }

    /// Peak resident memory does not depend on the size of the file.
    @Test(.timeLimit(.minutes(5))) func memoryDoesNotGrowWithTheFile() throws {
        let peaks = try ([50_000_000, 400_000_000] as [Int64]).map { size in
            let stage = try Stage(size: size)
            let outcome = try stage.run(["-q", "-x", "16"])
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            return Double(outcome.peakMemory)
        }
        print("peak memory: \(peaks.map { Int($0) >> 10 }) KiB for 50 MB and 400 MB")
        #expect(peaks[0] > 1_000_000)
        #expect(peaks[1] <= 1.3 * peaks[0])
    }
}
