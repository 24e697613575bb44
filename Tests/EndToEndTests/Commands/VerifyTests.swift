import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `segget verify`.
struct VerifyTests {
    private static let size: Int64 = 30_000_000

    private func verify(_ stage: Stage, _ arguments: [String]) throws -> Run.Outcome {
        try Run(["verify"] + arguments, in: stage.folder).wait()
    }

    private func finished(_ arguments: [String], size: Int64 = size) throws -> Stage {
        let stage = try Stage(size: size, seed: 11)
        let outcome = try stage.run(arguments)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        return stage
    }

    @Test(.timeLimit(.minutes(5))) func manifestShowsDamagedRanges() throws {
        let stage = try finished(["--keep-manifest"])
        let good = try verify(stage, ["file"])
        #expect(good.end == .exit(0), "\(good.errorOutput)")
        #expect(good.output.contains("good: CRC-32 of 28.6 MiB by the manifest"))
        let extents = try #require(stage.manifest()).extents.extents
        #expect(extents.allSatisfy { $0.range.count <= 8 << 20 })
        let first = try #require(extents.first).range
        let last = try #require(extents.last).range
        try stage.damage("file", at: 0)
        try stage.damage("file", at: Self.size - 1)
        let before = try stage.names()
        let bad = try verify(stage, ["file"])
        #expect(bad.end == .exit(65))
        #expect(bad.output.contains("damaged: bytes \(first) "), "\(bad.output)")
        #expect(bad.output.contains("damaged: bytes \(last) "), "\(bad.output)")
        #expect(bad.output.components(separatedBy: "damaged: ").count - 1 == 2)
        #expect(bad.errorOutput.contains("error: `file` failed verification"))
        let json = try verify(stage, ["file", "--json"])
        #expect(json.end == .exit(65))
        let report = try #require(try jsonEvents(json.output).first)
        #expect(report["good"] as? Bool == false)
        #expect(
            report["damaged"] as? [[Int64]] == [[first.start, first.end], [last.start, last.end]])
        #expect(try stage.names() == before)
    }

    @Test(.timeLimit(.minutes(5)), arguments: [["--keep-manifest"], ["--xattr"]])
    func wrongLengthFails(way: [String]) throws {
        let stage = try finished(way)
        try #require(truncate(stage.path("file"), off_t(Self.size + 1)) == 0)
        let longer = try verify(stage, ["file"])
        #expect(longer.end == .exit(65))
        #expect(longer.output.contains("the size is 30000001 bytes instead of 30000000 bytes"))
        try #require(truncate(stage.path("file"), off_t(Self.size - 1)) == 0)
        #expect(try verify(stage, ["file"]).end == .exit(65))
    }

    @Test(.timeLimit(.minutes(5))) func verifiesAgainstAttributes() throws {
        let stage = try finished(["--xattr"], size: 500_000)
        let good = try verify(stage, ["file"])
        #expect(good.end == .exit(0), "\(good.errorOutput)")
        #expect(good.output.contains("by the extended attributes"))
        try stage.damage("file", at: 7)
        #expect(try verify(stage, ["file"]).end == .exit(65))
    }

    @Test(.timeLimit(.minutes(5))) func verifiesAgainstChecksum() throws {
        let stage = try finished([], size: 500_000)
        // Another program's file has no attributes.
        try stage.remove("file")
        try stage.content.write(to: stage.path("file"))
        let nothing = try verify(stage, ["file"])
        #expect(nothing.end == .exit(64))
        #expect(nothing.errorOutput.contains("there is nothing to check `file` against"))
        let right = try verify(stage, ["file", "--checksum", "sha256:\(stage.content.sha256Hex)"])
        #expect(right.end == .exit(0), "\(right.errorOutput)")
        let wrong = try verify(stage, ["file", "--checksum", "crc32:00000000"])
        #expect(wrong.end == .exit(65))
        #expect(wrong.output.contains("wrong: crc32:00000000 by `--checksum`; it is crc32:"))
        let none = try verify(stage, ["other", "--checksum", "crc32:00000000"])
        #expect(none.end == .exit(64))
        #expect(none.errorOutput.contains("neither `other` nor `other.part`"))
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [
            ("md5sum", "MD5SUMS"), ("sha1sum", "SHA1SUMS"), ("sha256sum", "SHA256SUMS"),
            ("sha512sum", "SHA512SUMS"), ("sha256sum", "sums"),
        ])
    func readsChecksumFiles(tool: String, sums: String) throws {
        let stage = try finished([], size: 500_000)
        let odd = "a\nb\\c"
        try FileManager.default.copyItem(atPath: stage.path("file"), toPath: stage.path(odd))
        for mark in ["--text", "--binary", "--tag"] {
            let made = try Run(
                "/usr/bin/\(tool)", [mark, "file", odd], in: stage.folder
            ).wait()
            try stage.write(Array(made.output.utf8), to: sums)
            for name in ["file", odd] {
                let good = try verify(stage, [name, "--sums", sums])
                #expect(good.end == .exit(0), "\(made.output) \(good.errorOutput)")
                #expect(good.output.contains("by the checksum file"))
            }
        }
        try stage.damage("file", at: 100)
        #expect(try verify(stage, ["file", "--sums", sums]).end == .exit(65))
        let missing = try verify(stage, ["file", "--sums", "SUMS"])
        #expect(missing.end == .exit(64) && missing.errorOutput.contains("cannot be read"))
        try stage.write(Array("d41d8cd98f00b204e9800998ecf8427e  else\n".utf8), to: "OTHER")
        let other = try verify(stage, ["file", "--sums", "OTHER"])
        #expect(other.end == .exit(64))
        #expect(other.errorOutput.contains("`OTHER` has no line for `file`"))
        try stage.write(Array("hello\n".utf8), to: "OTHER")
        #expect(try verify(stage, ["file", "--sums", "OTHER"]).end == .exit(64))
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["file", "file.part"])
    func verifiesRecordedBytesOfPart(name: String) throws {
        let stage = try Stage(size: Self.size, seed: 12)
        let kept = try stage.leavePart(each: 2_000_000)
        let good = try verify(stage, [name])
        #expect(good.end == .exit(0), "\(good.errorOutput)")
        #expect(good.output.contains("`file.part`: the part of a download"))
        #expect(good.errorOutput.contains("is not complete"))
        let json = try #require(try jsonEvents(try verify(stage, [name, "--json"]).output).first)
        #expect(json["part"] as? Bool == true && json["complete"] as? Bool == false)
        #expect(json["size"] as? Int64 == kept && json["bytes_recorded"] as? Int64 == kept)
        // An incomplete part does not have the digest.
        let digest = "sha256:\(stage.content.sha256Hex)"
        #expect(try verify(stage, [name, "--checksum", digest]).end == .exit(65))
        let extent = try #require(stage.manifest()?.extents.extents.first).range
        try stage.damage("file.part", at: extent.start)
        let bad = try verify(stage, [name])
        #expect(bad.end == .exit(65))
        #expect(bad.output.contains("damaged: bytes \(extent.start)..<"))
    }

    /// Verifying and a running download do not disturb each other.
    @Test(.timeLimit(.minutes(5))) func doesNotDisturbRunningDownload() throws {
        let stage = try Stage(size: Self.size, seed: 13)
        let isChecked = Guarded(false)
        stage.origin.bendGET {
            $0.pace = 300_000
            $0.release = isChecked
        }
        let process = try stage.start(["-q", "-x", "4"])
        try #require(process.waits(for: 1_000_000))
        for _ in 0..<5 {
            let outcome = try verify(stage, ["file"])
            guard process.isRunning else { break }
            #expect(outcome.end == .exit(0), "\(outcome.output)\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("a download is writing to `file.part`"))
        }
        #expect(process.isRunning)
        isChecked.withLock { $0 = true }
        #expect(try process.wait().end == .exit(0))
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(5))) func refusesFoldersAndMissingPaths() throws {
        let stage = try finished([], size: 1000)
        try FileManager.default.createDirectory(
            atPath: stage.path("folder"), withIntermediateDirectories: false)
        #expect(try verify(stage, ["folder"]).end == .exit(73))
        #expect(try verify(stage, ["no/such/folder"]).end == .exit(73))
    }
}
