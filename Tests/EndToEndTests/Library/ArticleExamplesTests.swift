import LibraryExamples
import Segmenter
import TestSupport
import Testing

/// Tests that the articles' example code behaves as described; see ``LibraryTests``.
struct ArticleExamplesTests {
    private static let size: Int64 = 3_000_000

    @Test(.timeLimit(.minutes(8))) func downloadsOneFile() async throws {
        let stage = try Stage(size: Self.size)
        let url = stage.origin.url("/file")
        let file = try await DownloadOneFile.inOneCall(url, to: stage.path("file"))
        #expect(file.size == Self.size)
        #expect(try stage.isRight())
        let session = DownloadSession()
        let offer = try await DownloadOneFile.offer(url, session)
        #expect(offer.size == Self.size && offer.suggestedName == "file")
        let sha256 = stage.content.sha256Hex
        let path = stage.path("file")
        let checked = try await DownloadOneFile.checked(url, to: path, sha256: sha256, session)
        #expect(checked.verified.map(\.hex).contains(sha256))
        let text = await DownloadOneFile.explained(url, to: path, session)
        #expect(text == "the file exists already")
        let more = await DownloadOneFile.explained(url, to: stage.path("another"), session)
        #expect(more == "\(Self.size) bytes")
        await session.shutdown()
    }

    @Test(.timeLimit(.minutes(8))) func followsProgress() async throws {
        let stage = try Stage(size: Self.size)
        let session = DownloadSession()
        let url = stage.origin.url("/file")
        let file = try await FollowProgress.events(url, into: stage.folder, session)
        #expect(file.path == stage.path("file"))
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 100_000
            $0.release = goesOn
        }
        let download = session.start(url, to: .file(stage.path("another")))
        #expect(FollowProgress.overview(session).count <= 1)
        var shown: [DownloadProgress] = []
        try await FollowProgress.snapshots(download) { now in
            shown.append(now)
            guard let left = FollowProgress.overview(session)[download.id], left < Self.size else {
                return
            }
            goesOn.withLock { $0 = true }
        }
        #expect(shown.last?.phase == .ended && shown.last?.bytesDone == Self.size)
        #expect(shown.contains { $0.bytesDone > 0 && $0.bytesDone < Self.size })
        await session.shutdown()
    }

    @Test(.timeLimit(.minutes(8))) func downloadsManyFiles() async throws {
        let stage = try BatchStage(size: 50_000)
        let session = DownloadSession()
        let urls = stage.urls(3, "a") + [stage.origin.url("/none")]
        let (paths, failures) = await ManyFiles.list(urls, into: stage.folder, session)
        #expect(Set(paths) == Set(["a", "a.1", "a.2"].map { stage.sandbox.path($0) }))
        #expect(Array(failures.keys) == [3])
        let more = AsyncStream<String> { continuation in
            for url in stage.urls(3, "b") { continuation.yield(url) }
            continuation.finish()
        }
        let batch = try await ManyFiles.fed(more, into: stage.folder, session)
        #expect(batch.count == 3)
        #expect(try stage.sandbox.names().count == 6)
        await session.shutdown()
    }

    @Test(.timeLimit(.minutes(8))) func stopsAndResumes() async throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { $0.stallAfter = 100_000 }
        let session = DownloadSession()
        let (url, path) = (stage.origin.url("/file"), stage.path("file"))
        let stored = try StopAndResume.store(url, path: path)
        let first = try #require(try StopAndResume.start(stored, session).first)
        #expect(await soon { first.progress.bytesDone > 0 })
        let kept = await StopAndResume.stop(first)
        #expect(kept > 0 && kept < Self.size)
        let second = try #require(try StopAndResume.start(stored, session).first)
        #expect(second.id == first.id)
        #expect(await soon { second.progress.bytesDone > 0 })
        await StopAndResume.stopAll(session)
        #expect(session.downloads.isEmpty)
        stage.origin.behave()
        let file = try await StopAndResume.resume(url, to: path, session)
        #expect(file.bytesResumed >= kept)
        await session.shutdown()
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(8))) func guideDownloadsTwoFiles() async throws {
        let stage = try Stage(size: Self.size)
        let (first, second) = (stage.origin.url("/1"), stage.origin.url("/b.iso"))
        try await Guide.fetch(first, second, into: stage.folder)
        #expect(try stage.names() == ["a.iso", "b.iso"])
        #expect(try stage.isRight("a.iso") && stage.isRight("b.iso"))
    }
}
