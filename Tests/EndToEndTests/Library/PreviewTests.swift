import Assembler
import Foundation
import Segmenter
import TestSupport
import Testing

/// Tests that a run does what its preview showed.
@Suite(.timeLimit(.minutes(8))) struct PreviewTests {
    /// The outcome that a preview or a run reported.
    enum Verdict: Sendable, Equatable {
        case begin(path: String)
        case resume(path: String, kept: Int64)
        case startOver(path: String, StartOverReason)
        case finish(path: String)
        case leave(path: String, DownloadedFile.Unchanged)
        case fail(DownloadError.Reason)
    }

    /// A request, and the files that exist before it.
    struct Situation: Sendable, CustomTestStringConvertible {
        var name: String
        /// Returns the destination in the test's folder.
        var to: @Sendable (Stage) -> Destination = { .file($0.path("file")) }
        var options: @Sendable (inout DownloadOptions, Stage) -> Void = { _, _ in }
        var prepare: @Sendable (Stage) throws -> Void = { _ in }
        /// Returns the expected outcome in the test's folder.
        var verdict: @Sendable (Stage) -> Verdict

        var testDescription: String { name }
    }

    static let size: Int64 = 600_000
    private static let folder: @Sendable (Stage) -> Destination = { .folder($0.folder) }
    private static let exists: @Sendable (Stage) -> Verdict = {
        .fail(.assembly(.destinationExists(path: $0.path("file"))))
    }
    private static let begins: @Sendable (Stage) -> Verdict = { .begin(path: $0.path("file")) }
    private static let timed: @Sendable (inout DownloadOptions, Stage) -> Void = { options, _ in
        options.files.timestamping = true
    }

    static let situations = [
        Situation(name: "a new file", verdict: begins),
        Situation(name: "a new file in a folder", to: folder, verdict: begins),
        Situation(
            name: "no ranges",
            prepare: { stage in stage.origin.change { $0.servesRanges = false } },
            verdict: begins),
        Situation(name: "no size", prepare: { $0.origin.hideSize() }, verdict: begins),
        Situation(name: "into nothing", to: { _ in .null }, verdict: { _ in .begin(path: "-") }),
        Situation(
            name: "a part of it is there", prepare: { try $0.leaveHalf() },
            verdict: { .resume(path: $0.path("file"), kept: size / 2) }),
        Situation(
            name: "a part of it is there, in a folder", to: folder,
            prepare: { try $0.leaveHalf() },
            verdict: { .resume(path: $0.path("file"), kept: size / 2) }),
        Situation(
            name: "a part that is not wanted", options: { options, _ in options.resume = false },
            prepare: { try $0.leaveHalf() },
            verdict: { .startOver(path: $0.path("file"), .notWanted) }),
        Situation(
            name: "a part of another version",
            prepare: {
                try $0.leaveHalf()
                $0.origin.change { $0.etag = "\"v2\"" }
            },
            verdict: {
                .startOver(path: $0.path("file"), .etagChanged(was: "\"v1\"", now: "\"v2\""))
            }),
        Situation(
            name: "a part that nobody knows", prepare: { try $0.write([1, 2], to: "file.part") },
            verdict: { .fail(.assembly(.foreignPart(path: $0.path("file.part")))) }),
        Situation(
            name: "all but the name is there", prepare: { try $0.leaveFinishedPart() },
            verdict: { .finish(path: $0.path("file")) }),
        Situation(
            name: "all but the name is there, and is not wanted",
            options: { options, _ in options.resume = false },
            prepare: { try $0.leaveFinishedPart() },
            verdict: { .startOver(path: $0.path("file"), .notWanted) }),
        Situation(
            name: "another file is there", prepare: { try $0.write([1, 2], to: "file") },
            verdict: exists),
        Situation(
            name: "another file is there, in a folder", to: folder,
            prepare: { try $0.write([1, 2], to: "file") }, verdict: exists),
        Situation(
            name: "another file is to be replaced",
            options: { options, _ in options.overwrite = true },
            prepare: { try $0.write([1, 2], to: "file") }, verdict: begins),
        Situation(
            name: "the name is taken",
            options: { options, _ in options.naming.numbersTaken = true },
            prepare: { try $0.write([1, 2], to: "file") },
            verdict: { .begin(path: $0.path("file.1")) }),
        Situation(
            name: "the name is taken, in a folder", to: folder,
            options: { options, _ in options.naming.numbersTaken = true },
            prepare: { try $0.write([1, 2], to: "file") },
            verdict: { .begin(path: $0.path("file.1")) }),
        Situation(
            name: "the file has its checksum",
            options: { options, stage in
                let bytes = stage.content.bytes(0..<stage.content.size)
                options.checksum = Digest(crc32: CRC32.of(bytes))
            }, prepare: { try $0.content.write(to: $0.path("file")) },
            verdict: { .leave(path: $0.path("file"), .alreadyComplete) }),
        Situation(
            name: "the file has another checksum",
            options: { options, _ in options.checksum = Digest(crc32: 17) },
            prepare: { try $0.content.write(to: $0.path("file")) }, verdict: exists),
        Situation(
            name: "the file was downloaded", prepare: { try $0.leaveFile() },
            verdict: { .leave(path: $0.path("file"), .alreadyComplete) }),
        Situation(
            name: "the file was downloaded, in a folder", to: folder,
            prepare: { try $0.leaveFile() },
            verdict: { .leave(path: $0.path("file"), .alreadyComplete) }),
        Situation(
            name: "the file was downloaded, and damaged",
            prepare: {
                try $0.leaveFile()
                try $0.damage("file", at: 17)
            }, verdict: exists),
        Situation(
            name: "the file was downloaded, and changed",
            prepare: {
                try $0.leaveFile()
                $0.origin.change { $0.etag = "\"v2\"" }
            }, verdict: exists),
        Situation(
            name: "the file is as new", options: timed, prepare: { try $0.leaveFile() },
            verdict: { .leave(path: $0.path("file"), .notNewer) }),
        Situation(
            name: "the file is as new, in a folder", to: folder, options: timed,
            prepare: { try $0.leaveFile() },
            verdict: { .leave(path: $0.path("file"), .notNewer) }),
        Situation(
            name: "the remote file is newer", options: timed,
            prepare: {
                try $0.leaveFile()
                $0.origin.change { $0.etag = "\"v2\"" }
            }, verdict: begins),
        Situation(
            name: "the folder is missing", to: { .file($0.path("new/file")) },
            options: { options, _ in options.files.missingFolders = .made },
            verdict: { .begin(path: $0.path("new/file")) }),
        Situation(
            name: "the folder is missing, and a suggested name goes there",
            to: { .folder($0.path("new")) },
            options: { options, _ in options.files.missingFolders = .made },
            verdict: { .begin(path: $0.path("new/file")) }),
        Situation(
            name: "the folder is missing, and is not made", to: { .file($0.path("new/file")) },
            verdict: {
                .fail(.assembly(.folderUnavailable(path: $0.path("new"), errno: ENOENT)))
            }),
        Situation(
            name: "the file is too large",
            options: { options, _ in options.limits.maxSize = 1000 },
            verdict: { _ in .fail(.tooLarge(size: size, limit: 1000)) }),
        Situation(
            name: "there is no such file",
            prepare: { $0.origin.bend { _, reply in reply = .text(404) } },
            verdict: { _ in .fail(.transfer(.status(404), attempts: 1)) }),
        Situation(
            name: "only the second mirror has it, and the folder is missing",
            to: { .folder($0.path("new")) },
            options: { options, stage in
                options.mirrors = [stage.origin.url("/mirror/file")]
                options.files.missingFolders = .made
            },
            prepare: { stage in
                stage.origin.bend { request, reply in
                    if request.path == "/file" { reply = .text(404) }
                }
            }, verdict: { .begin(path: $0.path("new/file")) }),
        Situation(
            name: "only the second mirror has it",
            options: { options, stage in
                options.mirrors = [stage.origin.url("/mirror/file")]
            },
            prepare: { stage in
                stage.origin.bend { request, reply in
                    if request.path == "/file" { reply = .text(404) }
                }
            }, verdict: begins),
        Situation(
            name: "two mirrors, and a part of it is there",
            options: { options, stage in options.mirrors = [stage.origin.url("/mirror/file")] },
            prepare: { try $0.leaveHalf() },
            verdict: { .resume(path: $0.path("file"), kept: size / 2) }),
    ]

    @Test(arguments: situations) func runMatchesPreview(_ situation: Situation) async throws {
        let stage = try Stage(size: Self.size)
        try situation.prepare(stage)
        var options = DownloadOptions()
        options.connections = 4
        situation.options(&options, stage)
        let (url, destination) = (stage.origin.url("/file"), situation.to(stage))
        let before = try stage.names()
        let session = DownloadSession()
        let shown = await Verdict(previewing: url, to: destination, options, session)
        #expect(shown == situation.verdict(stage))
        #expect(try stage.names() == before)
        let done = await Verdict(running: url, to: destination, options, session)
        #expect(done == shown)
        await session.shutdown()
    }
}

extension PreviewTests.Verdict {
    fileprivate init(
        previewing url: String, to destination: Destination, _ options: DownloadOptions,
        _ session: DownloadSession
    ) async {
        do throws(DownloadError) {
            let preview = try await session.preview(url, to: destination, options: options)
            self =
                switch preview.action {
                case .begin: .begin(path: preview.path)
                case .resume, .adopt: .resume(path: preview.path, kept: preview.bytesKept)
                case .startOver(let reason): .startOver(path: preview.path, reason)
                case .finish: .finish(path: preview.path)
                case .leave(let why): .leave(path: preview.path, why)
                }
        } catch {
            self = .fail(error.reason)
        }
    }

    /// Runs a download, and derives the outcome from its events.
    fileprivate init(
        running url: String, to destination: Destination, _ options: DownloadOptions,
        _ session: DownloadSession
    ) async {
        let download = session.start(url, to: destination, options: options)
        var (start, reason): (DownloadStart?, StartOverReason?)
        for await event in download.events {
            switch event {
            case .started(let event): start = event
            case .notice(.startedOver(let event)): reason = event
            case .probed, .notice, .progress, .finished: break
            }
        }
        switch await download.result {
        case .failure(let error): self = .fail(error.reason)
        case .success(let file):
            let path = destination == .null ? "-" : file.path
            if let why = file.unchanged {
                self = .leave(path: path, why)
            } else if let reason {
                self = .startOver(path: path, reason)
            } else if let start {
                let kept = start.resumedBytes
                self = kept > 0 ? .resume(path: path, kept: kept) : .begin(path: path)
            } else {
                self = .finish(path: path)
            }
        }
    }
}

extension Stage {
    /// Creates a part with the first half of the file, like a run that was stopped.
    fileprivate func leaveHalf() throws {
        let half = content.size / 2
        let bytes = content.bytes(0..<half)
        try write(bytes, to: "file.part")
        let extent = Extent(ByteRange(0, half), crc: CRC32.of(bytes))
        try writeManifest([Manifest.Record(extents: [extent])])
    }

    /// Creates the file and its manifest, like a run that keeps the manifest.
    fileprivate func leaveFile() throws {
        try content.write(to: path("file"))
        let bytes = content.bytes(0..<content.size)
        let crc = CRC32.of(bytes)
        let extent = Extent(ByteRange(0, content.size), crc: crc)
        try writeManifest([
            Manifest.Record(extents: [extent]),
            Manifest.Record(finished: content.size, digests: [Digest(crc32: crc)]),
        ])
    }
}
