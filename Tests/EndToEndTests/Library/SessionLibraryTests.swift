import Assembler
import Segmenter
import TestSupport
import Testing

/// Tests a session's active downloads through the public API; see ``LibraryTests``.
struct SessionLibraryTests {
    private static let size: Int64 = 3_000_000
    private static let options = {
        var options = DownloadOptions()
        options.connections = 4
        return options
    }()

    @Test(.timeLimit(.minutes(8))) func progressUpdatesWithoutReadingEvents() async throws {
        let stage = try Stage(size: Self.size)
        let goesOn = Guarded(false)
        stage.origin.bendGET {
            $0.stallAfter = 100_000
            $0.release = goesOn
        }
        let session = DownloadSession()
        let id = Download.ID()
        let download = session.start(
            stage.origin.url("/file"), to: .file(stage.path("file")), options: Self.options, id: id)
        #expect(download.id == id)
        #expect(session.downloads.map(\.id) == [id])
        #expect(await soon { download.progress.bytesDone >= 400_000 })
        let now = download.progress
        #expect(now.phase == .downloading && now.size == Self.size)
        #expect(now.bytesDone < Self.size && now.elapsed > .zero && !now.map.isEmpty)
        goesOn.withLock { $0 = true }
        let file = try await download.result.get()
        let end = download.progress
        #expect(end.phase == .ended && end.bytesDone == Self.size && end.size == Self.size)
        #expect(end.bytesReceived == file.bytesReceived && end.connections == 0)
        #expect(session.downloads.isEmpty)
        // All events are still available.
        var kinds: [String] = []
        for await event in download.events {
            switch event {
            case .probed: kinds.append("probed")
            case .started: kinds.append("started")
            case .finished: kinds.append("finished")
            case .notice, .progress: break
            }
        }
        #expect(kinds == ["probed", "started", "finished"])
        await session.shutdown()
        #expect(try stage.isRight())
    }

    @Test(.timeLimit(.minutes(8))) func sessionRemainsUsableAfterCancellingAll() async throws {
        let stage = try Stage(size: Self.size)
        stage.origin.bendGET { $0.stallAfter = 100_000 }
        let session = DownloadSession()
        let url = stage.origin.url("/file")
        let downloads = ["one", "two"].map {
            session.start(url, to: .file(stage.path($0)), options: Self.options)
        }
        let batch = session.start([
            BatchItem(url, to: .file(stage.path("three")), options: Self.options)
        ])
        #expect(session.downloads.map(\.id) == downloads.map(\.id))
        #expect(session.batches.count == 1 && session.batches.first === batch)
        #expect(
            await soon { ["one", "two", "three"].allSatisfy { stage.recorded($0) ?? 0 > 0 } })
        session.cancelAll()
        for download in downloads {
            guard case .failure(let error) = await download.result else {
                Issue.record("a download that was cancelled has finished")
                continue
            }
            #expect(error.reason == .cancelled && error.bytesKept > 0)
        }
        await batch.wait()
        #expect(session.downloads.isEmpty && session.batches.isEmpty)
        stage.origin.behave()
        for name in ["one", "two", "three"] {
            let file = try await session.download(url, to: stage.path(name))
            #expect(file.bytesResumed > 0)
            #expect(try stage.isRight(name))
        }
        await session.shutdown()
    }

    /// Once `result` returns, a new download of the same file can start, whatever the first one did
    /// when it was cancelled.
    @Test(.timeLimit(.minutes(8)), arguments: Moment.allCases)
    func cancelledDownloadReleasesItsFile(moment: Moment) async throws {
        let stage = try Stage(size: Self.size)
        if moment < .verifying { stage.origin.bendGET { $0.stallAfter = 100_000 } }
        let session = DownloadSession()
        var options = Self.options
        options.checksum = try Digest(parsing: "sha256:\(stage.content.sha256Hex)")
        let url = stage.origin.url("/file")
        for round in 1...3 {
            let path = stage.path("file\(round)")
            let first = session.start(url, to: .file(path), options: options)
            if moment > .start {
                for await event in first.events where moment.is(event) {
                    first.cancel()
                    break
                }
            }
            first.cancel()
            let result = await first.result
            let second = session.start(url, to: .file(path), options: options)
            if moment < .verifying {
                #expect(throws: DownloadError.self) { try result.get() }
                for await event in second.events {
                    if case .started = event { second.cancel() }
                }
                guard case .failure(let error) = await second.result else { continue }
                #expect(error.reason == .cancelled)
            } else {
                _ = try await second.result.get()
                #expect(try stage.isRight("file\(round)"))
            }
        }
        await session.shutdown()
    }

    /// The stage of a download at which it is cancelled.
    enum Moment: Int, CaseIterable, Comparable {
        case start, probed, started, fetching, verifying, publishing

        static func < (left: Moment, right: Moment) -> Bool { left.rawValue < right.rawValue }

        /// Whether the event reports this moment.
        func `is`(_ event: DownloadEvent) -> Bool {
            switch event {
            case .probed: self == .probed
            case .started: self == .started
            case .progress(let progress):
                switch progress.phase {
                case .downloading: self == .fetching && progress.bytesDone > 0
                case .verifying: self == .verifying
                case .publishing: self == .publishing
                case .starting, .waitingForNetwork, .ended: false
                }
            case .notice, .finished: false
            }
        }
    }
}
