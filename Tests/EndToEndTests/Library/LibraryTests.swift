import Assembler
import Segmenter
import TestSupport
import Testing

/// Tests downloads through the library's public API.
///
/// Other tests of this process block the cooperative threads that these tests run on. The time
/// limits are therefore generous, and no time is measured.
struct LibraryTests {
    private static let size: Int64 = 3_000_000

    @Test(.timeLimit(.minutes(8))) func downloadsInOneLine() async throws {
        let stage = try Stage(size: Self.size)
        let session = DownloadSession()
        let file = try await session.download(stage.origin.url("/a"), to: stage.path("file"))
        await session.shutdown()
        #expect(file.path == stage.path("file"))
        #expect(file.size == Self.size)
        #expect(file.bytesReceived == Self.size)
        #expect(file.bytesResumed == 0)
        #expect(file.crc32 == CRC32.of(stage.content.bytes(0..<Self.size)))
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(8))) func reportsEventsOfDownload() async throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { $0.pace = 1_500_000 }
        let session = DownloadSession()
        var options = DownloadOptions()
        options.connections = 4
        let download = session.start(
            stage.origin.url("/file"), to: .folder(stage.folder), options: options)
        var names: [String] = []
        var done: Int64 = 0
        for await event in download.events {
            switch event {
            case .probed(let file):
                names.append("probed")
                #expect(file.identity.size == Self.size)
            case .started(let start):
                names.append("started")
                #expect(start.path == stage.path("file"))
                #expect(start.connections == 4)
            case .notice: break
            case .progress(let progress):
                if names.last != "progress" { names.append("progress") }
                #expect(progress.bytesDone >= done)
                done = progress.bytesDone
            case .finished: names.append("finished")
            }
        }
        #expect(names == ["probed", "started", "progress", "finished"])
        #expect(done == Self.size)
        let file = try await download.result.get()
        #expect(file.size == Self.size)
        await session.shutdown()
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(8))) func repairsFileWithKeptManifest() async throws {
        let stage = try Stage(size: Self.size)
        let session = DownloadSession()
        var options = DownloadOptions()
        options.files.keepManifest = true
        let (url, path) = (stage.origin.url("/file"), stage.path("file"))
        _ = try await session.download(url, to: path, options: options)
        let again = try await session.download(url, to: path)
        #expect(again.unchanged == .alreadyComplete && again.bytesReceived == 0)
        try stage.damage("file", at: 17)
        #expect(try !FileVerification(of: path).isGood)
        let file = try await session.repair(path, from: url).result.get()
        await session.shutdown()
        #expect(file.unchanged == nil)
        #expect(try stage.isRight())
        #expect(try FileVerification(of: path).isGood)
    }

    @Test(.timeLimit(.minutes(8))) func cancellingKeepsPartToResume() async throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { $0.stallAfter = 100_000 }
        let session = DownloadSession()
        var options = DownloadOptions()
        options.connections = 4
        let url = stage.origin.url("/file")
        let task = Task { [options] in
            try await session.download(url, to: stage.path("file"), options: options)
        }
        let arrived: Int64 = 400_000
        #expect(await soon { stage.recorded() ?? 0 >= arrived })
        task.cancel()
        let error = await #expect(throws: DownloadError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
        // More bytes are kept if another connection took over a stalled one's work.
        let kept = try #require(error?.bytesKept)
        #expect(kept >= arrived)
        #expect(error?.path == stage.path("file"))
        #expect(try stage.names() == ["file.part", "file.segget"])
        stage.origin.behave()
        // The same session can resume; the first download's lock is released.
        let file = try await session.download(url, to: stage.path("file"), options: options)
        #expect(file.bytesResumed == kept)
        await session.shutdown()
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(8))) func cancelledTaskDownloadsNothing() async throws {
        let stage = try Stage(size: Self.size)
        let session = DownloadSession()
        let url = stage.origin.url("/file")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await session.download(url, to: stage.path("file"))
        }
        let error = await #expect(throws: DownloadError.self) { try await task.value }
        #expect(error?.reason == .cancelled)
        await session.shutdown()
        #expect(try stage.names().isEmpty)
    }

    @Test(.timeLimit(.minutes(8))) func runsTwoDownloadsAtOnce() async throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { $0.pace = 1_000_000 }
        let session = DownloadSession()
        let url = stage.origin.url("/file")
        async let first = session.download(url, to: stage.path("one"))
        async let second = session.download(url, to: stage.path("two"))
        let files = try await [first, second]
        #expect(files.map(\.size) == [Self.size, Self.size])
        // Of two downloads to the same name, one is refused.
        let rivals = (0..<2).map { _ in session.start(url, to: .file(stage.path("three"))) }
        var refusals: [DownloadError.Reason] = []
        for rival in rivals {
            if case .failure(let error) = await rival.result { refusals.append(error.reason) }
        }
        #expect(refusals == [.assembly(.busy(path: stage.path("three.part")))])
        await session.shutdown()
        #expect(try stage.names() == ["one", "three", "two"])
        for name in ["one", "two", "three"] { #expect(try stage.isRight(name)) }
    }

    @Test(.timeLimit(.minutes(8))) func shutsDownWhileDownloadsRun() async throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { $0.stallAfter = 100_000 }
        let session = DownloadSession()
        let url = stage.origin.url("/file")
        let downloads = ["one", "two"].map { session.start(url, to: .file(stage.path($0))) }
        #expect(
            await soon {
                (stage.recorded("one") ?? 0) >= 100_000 && (stage.recorded("two") ?? 0) >= 100_000
            })
        await session.shutdown()
        for download in downloads {
            guard case .failure(let error) = await download.result else {
                Issue.record("a download that was shut down has finished")
                continue
            }
            #expect(error.reason == .cancelled)
        }
        // The program can start another session.
        stage.origin.behave()
        let another = DownloadSession()
        let file = try await another.download(url, to: stage.path("one"))
        #expect(file.bytesResumed >= 100_000)
        await another.shutdown()
        #expect(try stage.isRight("one"))
    }

    /// A session that was shut down throws an error instead of waiting indefinitely.
    @Test(.timeLimit(.minutes(8))) func startsNothingAfterShutdown() async throws {
        let stage = try Stage(size: Self.size)
        let session = DownloadSession()
        await session.shutdown()
        await session.shutdown()
        let error = await #expect(throws: DownloadError.self) {
            try await session.download(stage.origin.url("/file"), to: stage.path("file"))
        }
        #expect(error?.reason == .cancelled)
        #expect(try stage.names().isEmpty)
    }
}
