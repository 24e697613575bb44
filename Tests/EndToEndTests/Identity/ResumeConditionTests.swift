import Foundation
import Glibc
import TestSupport
import Testing

@testable import Assembler

/// Tests when a later run resumes, and what it reports if it does not; the file is always right.
struct ResumeConditionTests {
    private static let size: Int64 = 3_000_000

    /// Something that happens between two runs.
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        /// Arguments of the second run.
        var arguments: [String] = []
        var path = "/file"
        /// The message of the second run; `nil` if it resumes.
        let message: String?
        var apply: @Sendable (Stage) throws -> Void = { _ in }
        /// Sets the origin up before the first run.
        var prepare: @Sendable (inout Origin.Offer) -> Void = { _ in }

        var testDescription: String { name }
    }

    private static let day = httpDate(unixTime: 1_700_000_000)

    static let changes: [Change] = [
        Change(name: "nothing", message: nil),
        Change(
            name: "--no-resume", arguments: ["--no-resume"], message: "`--no-resume` was given"),
        Change(name: "part removed", message: "but its `.part` is missing") {
            try $0.remove("file.part")
        },
        Change(name: "manifest damaged", message: "the manifest of the earlier run cannot be read")
        {
            try $0.write(Array("{\"segget\":".utf8), to: "file.segget")
        },
        Change(
            name: "other format", message: "has format 7, which this version of segget cannot read"
        ) {
            let text = String(decoding: try $0.read("file.segget"), as: UTF8.self)
            let other = text.replacingOccurrences(of: "\"segget\":1", with: "\"segget\":7")
            try $0.write(Array(other.utf8), to: "file.segget")
        },
        Change(
            name: "size",
            message: "the remote file's size was 3000000 bytes and is now 2999999 bytes"
        ) { stage in
            stage.origin.change { $0.content = Content(size: size - 1, seed: 1) }
        },
        Change(name: "ETag", message: "its ETag was `\"v1\"` and is now `\"v2\"`") { stage in
            stage.origin.change {
                $0.etag = "\"v2\""
                $0.content = Content(size: size, seed: 2)
            }
        },
        Change(name: "ETag gone", message: "its ETag was `\"v1\"` and is now missing") { stage in
            stage.origin.change { $0.etag = nil }
        },
        Change(
            name: "Last-Modified", message: "`Last-Modified` was `\(day)` and is now `",
            apply: { stage in
                stage.origin.change {
                    $0.lastModified = httpDate(unixTime: 1_700_000_060)
                    $0.content = Content(size: size, seed: 2)
                }
            },
            prepare: {
                $0.etag = nil
                $0.lastModified = day
            }),
        Change(
            name: "same ETag, other Last-Modified", message: nil,
            apply: { $0.origin.change { $0.lastModified = httpDate(unixTime: 1_700_000_060) } },
            prepare: { $0.lastModified = day }),
        Change(
            name: "same Last-Modified", message: nil,
            prepare: {
                $0.etag = nil
                $0.lastModified = day
            }),
        Change(
            name: "no validators", message: "so nothing shows that the file is the same",
            prepare: { $0.etag = nil }),
        Change(
            name: "a weak ETag", message: "so nothing shows that the file is the same",
            prepare: { $0.etag = "W/\"v1\"" }),
        Change(
            name: "no validators, but --checksum",
            arguments: ["--checksum", "sha256:\(Content(size: size, seed: 1).sha256Hex)"],
            message: nil, prepare: { $0.etag = nil }),
        Change(name: "no ranges", message: "the server does not serve byte ranges") { stage in
            stage.origin.change { $0.servesRanges = false }
        },
        Change(
            name: "other path", path: "/other/file", message: "the earlier part is from another URL"
        ),
        Change(name: "other query, same tag", path: "/file?signature=2", message: nil),
        Change(
            name: "other query, no strong tag", path: "/file?signature=2",
            message: "the earlier part is from another URL",
            prepare: {
                $0.etag = nil
                $0.lastModified = day
            }),
        Change(
            name: "other path, but --checksum",
            arguments: ["--checksum", "sha256:\(Content(size: size, seed: 1).sha256Hex)"],
            path: "/other/file", message: nil),
    ]

    @Test(.timeLimit(.minutes(5)), arguments: changes)
    func resumesOnlySameFile(change: Change) throws {
        let stage = try Stage(size: Self.size)
        stage.origin.change(change.prepare)
        let kept = try stage.leavePart(each: 200_000)
        #expect(kept == 800_000)
        try change.apply(stage)
        let requests = stage.origin.requests.count
        let outcome = try stage.run(["--json"] + change.arguments, path: change.path)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])

        let events = try jsonEvents(outcome.output)
        let finished = try #require(events.last)
        let served = stage.bytesServed(after: requests)
        if let message = change.message {
            #expect(outcome.errorOutput.contains("note: starting over: "))
            #expect(outcome.errorOutput.contains(message), "\(outcome.errorOutput)")
            #expect(events.contains { $0["notice"] as? String == "started_over" })
            #expect(finished["bytes_resumed"] as? Int64 == 0)
            #expect(served >= stage.content.size)
        } else {
            #expect(!outcome.errorOutput.contains("starting over"), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("resuming: 781 KiB of 2.86 MiB"))
            #expect(outcome.errorOutput.contains("; resumed 781 KiB; "))
            let started = try #require(events.first { $0["event"] as? String == "started" })
            #expect(started["bytes_resumed"] as? Int64 == kept)
            #expect(finished["bytes_resumed"] as? Int64 == kept)
            #expect(finished["bytes_received"] as? Int64 == Self.size - kept)
            // If the date differs, at most 256 KiB are compared.
            #expect(stage.bytesAsked(after: requests) <= Self.size - kept + (256 << 10))
        }
    }

    @Test(.timeLimit(.minutes(5))) func refusesPartWithoutManifest() throws {
        let stage = try Stage(size: Self.size)
        try stage.leavePart(each: 200_000)
        try stage.remove("file.segget")
        let part = try stage.read("file.part")
        let outcome = try stage.run()
        #expect(outcome.end == .exit(73))
        #expect(outcome.errorOutput.contains("was not made by segget"))
        #expect(try stage.read("file.part") == part)
        #expect(try stage.names() == ["file.part"])
        let second = try stage.run(["--overwrite"])
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    @Test(.timeLimit(.minutes(5))) func refusesForeignManifest() throws {
        let stage = try Stage(size: Self.size)
        try stage.leavePart(each: 200_000)
        try stage.write(Array("my notes on seggets\n".utf8), to: "file.segget")
        let part = try stage.read("file.part")
        let outcome = try stage.run()
        #expect(outcome.end == .exit(73))
        #expect(outcome.errorOutput.contains("`file.segget` "), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("without a manifest"))
        #expect(try stage.read("file.segget") == Array("my notes on seggets\n".utf8))
        #expect(try stage.read("file.part") == part)
        let second = try stage.run(["--overwrite"])
        #expect(second.end == .exit(0), "\(second.errorOutput)")
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    @Test(.timeLimit(.minutes(5))) func doesNotResumePartWithWrongChecksum() throws {
        let stage = try Stage(size: Self.size)
        let wrong = "sha-256:" + String(repeating: "ab", count: 32)
        let right = "sha-256:\(stage.content.sha256Hex)"
        let first = try stage.run(["--checksum", wrong])
        #expect(first.end == .exit(65))
        #expect(first.errorOutput.contains(wrong))
        #expect(first.errorOutput.contains(right))
        #expect(try stage.names() == ["file.part", "file.segget"])
        #expect(try stage.content.firstDifference(at: stage.path("file.part")) == nil)
        let requests = stage.origin.requests.count
        let again = try stage.run(["--checksum", wrong])
        #expect(
            again.errorOutput.contains("was complete and its checksum was wrong"),
            "\(again.errorOutput)")
        #expect(stage.bytesServed(after: requests) >= Self.size)
        #expect(again.end == .exit(65))
        // The expected checksum was wrong, not the file.
        let last = stage.origin.requests.count
        let outcome = try stage.run(["--checksum", right])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("verified \(right)"))
        #expect(stage.bytesServed(after: last) == 0)
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// A checksum lets segget resume the part of another URL with the same ETag.
    ///
    /// A run without the checksum does not trust that part.
    @Test(.timeLimit(.minutes(5)), arguments: ["sha256", "crc32"])
    func partResumedByChecksumNeedsChecksum(algorithm: String) throws {
        let stage = try Stage(size: Self.size)
        let other = try Stage(size: Self.size, seed: 2, in: stage.folder)
        try stage.leavePart(each: 200_000)
        other.origin.bendGET { $0.stallAfter = 200_000 }
        let digest =
            algorithm == "crc32"
            ? Digest(crc32: CRC32.of(other.content.bytes(0..<Self.size))).description
            : "sha256:\(other.content.sha256Hex)"
        let process = try other.start(["-x", "4", "--checksum", digest])
        #expect(process.waits(for: 1_200_000))
        process.signal(SIGKILL)
        _ = try process.wait()
        let outcome = try stage.run()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("note: starting over: "))
        #expect(try stage.isRight())
        #expect(try stage.names() == ["file"])
    }

    /// The server's `HEAD` states another version, but its `GET` still serves that of the part.
    @Test(.timeLimit(.minutes(5))) func keepsPartIfOnlyHEADStatesChange() throws {
        let stage = try Stage(size: Self.size)
        let kept = try stage.leavePart(each: 200_000)
        stage.origin.bend { request, reply in
            if request.method == "HEAD" { reply.set("ETag", "\"other\"") }
        }
        let requests = stage.origin.requests.count
        let outcome = try stage.run()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        // segget requests one byte with `GET`, to find which of the two is right.
        #expect(stage.bytesAsked(after: requests) <= Self.size - kept + 1)
        #expect(outcome.errorOutput.contains("; resumed 781 KiB; "))
    }
}
