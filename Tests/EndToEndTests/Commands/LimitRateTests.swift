import Foundation
import Segmenter
import TestSupport
import Testing

/// Tests a session's rate limit, through the public API.
///
/// Times are measured with the loop's clock. The rate never exceeds the limit, however busy the
/// machine is. The rate may be lower if the servers get no CPU time, so a lower bound has three
/// attempts.
@Suite(.serialized, .timeLimit(.minutes(8)))
struct LimitRateTests {
    /// The number of received bytes at a time.
    private struct Sample {
        var time: Double
        var bytes: Int64
    }

    /// Expects the rate to exceed the limit by at most 3 % in any five seconds, and returns whether
    /// it was reached.
    private func keepsRate(
        _ rate: Double, _ samples: [Sample], _ location: SourceLocation = #_sourceLocation
    ) -> Bool {
        var isReached = true
        let last = samples.last?.time ?? 0
        // During the last bytes, there may be no other connection to use the rate.
        let steady = samples.filter { $0.bytes > 0 && $0.time <= last - 0.5 }
        var windows = 0
        for (index, first) in steady.enumerated() {
            guard let end = steady.firstIndex(where: { $0.time >= first.time + 5 }) else { break }
            windows += 1
            let seconds = steady[end].time - first.time
            let bytes = Double(steady[end].bytes - first.bytes)
            #expect(bytes <= 1.03 * rate * seconds, sourceLocation: location)
            // There is a tick every 0.1 s, unless the machine is too busy.
            let late = zip(steady[index..<end], steady[(index + 1)...end]).reduce(0) {
                $0 + max(0, $1.1.time - $1.0.time - 0.11)
            }
            if bytes < 0.97 * rate * (seconds - late) { isReached = false }
        }
        #expect(windows > 0, sourceLocation: location)
        return isReached
    }

    /// Returns the samples of a download until its end.
    private func samples(
        of download: Download, _ watch: (DownloadProgress) -> Void = { _ in }
    ) async throws -> [Sample] {
        var samples: [Sample] = []
        for await event in download.events {
            guard case .progress(let now) = event, now.phase == .downloading else { continue }
            samples.append(Sample(time: now.elapsed / .seconds(1), bytes: now.bytesReceived))
            watch(now)
        }
        _ = try await download.result.get()
        return samples
    }

    @Test func rateStaysWithinThreePercent() async throws {
        let rate = Double(2 << 20)
        let content = Content(size: 13 << 20, seed: 11)
        let (root, sandbox) = (try Sandbox(), try Sandbox())
        try content.write(to: root.path("file"))
        let nginx = try Nginx(root: root.path)
        func run(_ url: String, _ connections: Int) async throws -> [Sample] {
            let name = "\(connections)\(url.prefix(5))"
            defer { try? FileManager.default.removeItem(atPath: sandbox.path(name)) }
            let session = DownloadSession(rateLimit: rate)
            var options = DownloadOptions()
            options.connections = .fixed(connections)
            options.caCertificate = nginx.authority
            let download = session.start(url, to: .file(sandbox.path(name)), options: options)
            let samples = try await samples(of: download) { #expect($0.limit == rate) }
            await session.shutdown()
            #expect(try content.firstDifference(at: sandbox.path(name)) == nil)
            return samples
        }
        let isReached = try await oneOfThree {
            async let one = run(nginx.url("/file"), 1)
            async let oneSecure = run(nginx.secureURL("/file"), 1)
            async let eight = run(nginx.url("/file"), 8)
            async let eightSecure = run(nginx.secureURL("/file"), 8)
            return try await [one, oneSecure, eight, eightSecure].map { keepsRate(rate, $0) }
                .allSatisfy { $0 }
        }
        #expect(isReached)
    }

    /// libcurl delivers more bytes at once than the rate allows per second; later the limit is
    /// removed.
    @Test func lowLimitAppliesAndIsRemoved() async throws {
        let rate = 10_240.0
        let isReached = try await oneOfThree {
            let stage = try Stage(size: 4 << 20)
            let session = DownloadSession(rateLimit: rate)
            let download = session.start(stage.origin.url("/file"), to: .folder(stage.folder))
            var slow: [Sample] = []
            var isLifted = false
            let all = try await samples(of: download) { now in
                if !isLifted {
                    slow.append(Sample(time: now.elapsed / .seconds(1), bytes: now.bytesReceived))
                    #expect(now.limit == rate)
                }
                guard !isLifted, now.elapsed > .seconds(6.5) else { return }
                session.limitRate(nil)
                isLifted = true
            }
            #expect(isLifted)
            #expect(all.last?.bytes == stage.content.size)
            await session.shutdown()
            #expect(try stage.isRight())
            return keepsRate(rate, slow)
        }
        #expect(isReached)
    }

    /// The rate changes repeatedly: each limit is reported, and bounds the bytes from then on.
    @Test func limitChangesDuringDownload() async throws {
        let stage = try Stage(size: 24 << 20)
        let session = DownloadSession()
        let limits: [Double?] = [Double(1 << 20), 200_000, 8e6, 1000, 4e6, 2e6, nil]
        session.limitRate(limits[0])
        let download = session.start(stage.origin.url("/file"), to: .folder(stage.folder))
        var seen: [Double?] = []
        var first = Sample(time: 0, bytes: 0)
        _ = try await samples(of: download) { now in
            let sample = Sample(time: now.elapsed / .seconds(1), bytes: now.bytesReceived)
            if seen.last != .some(now.limit) {
                seen.append(now.limit)
                first = sample
            }
            guard let limit = now.limit else { return }
            let seconds = sample.time - first.time
            // The limiter saves up the bytes of 0.1 s, and libcurl delivers 16 KiB at a time.
            let most = 1.03 * limit * (seconds + 0.1) + Double(64 << 10)
            #expect(Double(sample.bytes - first.bytes) <= most, "\(limit)")
            guard seconds > 0.5, seen.count < limits.count else { return }
            // 0 removes the limit.
            session.limitRate(limits[seen.count] ?? 0)
        }
        #expect(seen == limits)
        await session.shutdown()
        #expect(try stage.isRight())
    }

    /// Bytes that are paused and delivered again are written once, with every framing.
    @Test(arguments: [OriginReply.Framing.contentLength, .chunked, .close])
    func pausesWorkWithEveryFraming(framing: OriginReply.Framing) async throws {
        let stage = try Stage(size: 3_000_001)
        stage.origin.change { offer in
            offer.servesRanges = false
            offer.bend = { _, reply in reply.framing = framing }
        }
        let session = DownloadSession(rateLimit: 20_000)
        let download = session.start(stage.origin.url("/file"), to: .folder(stage.folder))
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SplitMix64(seed: seed)
        let rates = [1, 1000, 30_000, 200_000, 900_000.5]
        for await event in download.events {
            guard case .progress(let now) = event else { continue }
            // The limit is removed at the end.
            let rate = rates.randomElement(using: &random)
            session.limitRate(now.elapsed > .seconds(1.5) ? nil : rate)
        }
        let file = try await download.result.get()
        #expect(file.size == 3_000_001, "seed \(seed)")
        await session.shutdown()
        #expect(try stage.isRight(), "seed \(seed)")
    }

    /// segget detects a reply that is longer than announced, and does not wait for it.
    @Test func tooLongBodyDoesNotHang() async throws {
        let stage = try Stage(size: 3_000_000)
        stage.origin.bendGET { reply in
            guard case .content(let content, let range) = reply.body else { return }
            reply.framing = .chunked
            reply.body = .content(content, range.lowerBound..<content.size)
        }
        let session = DownloadSession(rateLimit: 2e6)
        let download = session.start(stage.origin.url("/file"), to: .folder(stage.folder))
        if case .success = await download.result { #expect(try stage.isRight()) }
        await session.shutdown()
    }

    @Test func stopsImmediatelyWhileConnectionsWait() async throws {
        let stage = try Stage(size: 3_000_000)
        let session = DownloadSession(rateLimit: 1000)
        let download = session.start(stage.origin.url("/file"), to: .folder(stage.folder))
        for await event in download.events {
            if case .progress(let now) = event, now.bytesReceived > 500 { download.cancel() }
        }
        guard case .failure(let error) = await download.result else {
            Issue.record("three megabytes came at a kilobyte a second")
            return
        }
        #expect(error.reason == .cancelled)
        #expect(error.bytesKept == stage.recorded())
        session.limitRate(nil)
        let file = try await session.download(stage.origin.url("/file"), to: stage.path("file"))
        #expect(file.bytesResumed == error.bytesKept)
        await session.shutdown()
        #expect(try stage.isRight())
    }

    /// A download with eight connections gets the same rate as one with one connection.
    @Test func downloadsShareFairly() async throws {
        let isFair = try await oneOfThree {
            let stage = try Stage(size: 6 << 20, memory: 32 << 20)
            let session = DownloadSession(rateLimit: Double(4 << 20))
            func run(_ name: String, _ connections: Int) async throws -> DownloadedFile {
                var options = DownloadOptions()
                options.connections = .fixed(connections)
                return try await session.download(
                    stage.origin.url("/file"), to: stage.path(name), options: options)
            }
            async let many = run("many", 8)
            async let one = run("one", 1)
            let (first, second) = try await (many, one)
            await session.shutdown()
            for name in ["many", "one"] { #expect(try stage.isRight(name)) }
            return (0.8...1.25).contains(first.duration / second.duration)
        }
        #expect(isFair)
    }

    /// Other connections use the shares that slow ones do not need.
    ///
    /// Waiting for a share is neither a stall nor a reason for a takeover.
    @Test(arguments: [20_000, 20])
    func otherConnectionsUseSharesOfSlowOnes(pace: Double) async throws {
        let isQuick = try await oneOfThree {
            let stage = try Stage(size: 6_000_000, memory: 32 << 20)
            stage.origin.bend { request, reply in
                if request.connection % 4 != 0 { reply.pace = pace }
            }
            let session = DownloadSession(rateLimit: 2_000_000)
            var options = DownloadOptions()
            options.connections = 4
            let file = try await session.download(
                stage.origin.url("/file"), to: stage.path("file"), options: options)
            await session.shutdown()
            #expect(try stage.isRight())
            // With only a quarter of the rate, the fast connection would need nine seconds or more.
            return file.duration < .seconds(7)
        }
        #expect(isQuick)
    }

    /// If all connections wait for the limit, no connection takes over work, because that gains
    /// nothing.
    @Test func waitingForShareCausesNoTakeover() async throws {
        let stage = try Stage(size: 2_000_000)
        let session = DownloadSession(rateLimit: 400_000)
        var options = DownloadOptions()
        options.connections = 4
        let download = session.start(
            stage.origin.url("/file"), to: .folder(stage.folder), options: options)
        var notices: [DownloadNotice] = []
        for await event in download.events {
            if case .notice(let notice) = event { notices.append(notice) }
        }
        #expect(notices.isEmpty)
        _ = try await download.result.get()
        await session.shutdown()
        #expect(try stage.isRight())
    }

    /// A very low limit does not make connections count as stalled.
    @Test func veryLowLimitIsNotStall() async throws {
        let stage = try Stage(size: 2_000_000)
        let session = DownloadSession(rateLimit: 1)
        var options = DownloadOptions()
        options.connections = 4
        options.stallTimeout = .seconds(2)
        options.retries = 0
        let download = session.start(
            stage.origin.url("/file"), to: .folder(stage.folder), options: options)
        var notices: [DownloadNotice] = []
        for await event in download.events {
            switch event {
            case .notice(let notice): notices.append(notice)
            case .progress(let now) where now.elapsed > .seconds(5): session.limitRate(nil)
            default: break
            }
        }
        #expect(!notices.contains { if case .retrying = $0 { true } else { false } })
        _ = try await download.result.get()
        await session.shutdown()
        #expect(try stage.isRight())
    }

    /// Small files keep the limit, and each costs one request.
    @Test func smallFilesKeepLimit() async throws {
        let (stage, count) = (try BatchStage(size: 20_000), 150)
        let outcome = try await Run(
            ["--limit-rate", "1M", "--json"] + stage.urls(count), in: stage.folder
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(stage.origin.requests.count == count)
        let seconds = try #require(try outcome.events("summary").first?.seconds)
        #expect(seconds >= 2)
    }
}
