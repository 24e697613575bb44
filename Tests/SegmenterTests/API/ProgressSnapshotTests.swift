import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ProgressSnapshotTests {
    private let start = DownloadStart(
        path: "/f", size: 100, resumedBytes: 30, connections: 4, transfer: .segments,
        identity: "etag")
    private let moment = DownloadProgress(
        phase: .downloading, bytesDone: 40, size: 100, bytesVerifying: 10, bytesReceived: 20,
        bytesPerSecond: 7, connections: 4, map: [8, 3],
        done: [ByteRange(0, 40)], verifying: [ByteRange(50, 60)], elapsed: .seconds(1), limit: 9)
    private let file = DownloadedFile(
        path: "/f", size: 100, crc32: nil, verified: [], bytesReceived: 70, bytesResumed: 30,
        duration: .seconds(3), unchanged: nil)

    @Test func isEmptyBeforeFirstResponse() {
        let now = ProgressSnapshot(began: 5).progress(now: 7)
        #expect(now.phase == .starting && now.bytesDone == 0 && now.size == nil)
        #expect(now.elapsed == .seconds(2))
    }

    @Test func followsEvents() {
        var snapshot = ProgressSnapshot(began: 5)
        snapshot.take(.started(start))
        var now = snapshot.progress(now: 6)
        #expect(now.phase == .downloading && now.size == 100)
        #expect(now.bytesDone == 0 && now.bytesVerifying == 30)
        snapshot.take(.progress(moment))
        now = snapshot.progress(now: 8)
        #expect(now.elapsed == .seconds(3))
        now.elapsed = moment.elapsed
        #expect(now == moment)
        snapshot.take(.notice(.limitChanged(to: nil)))
        #expect(snapshot.progress(now: 8).limit == nil)
        // The download has started over, and nothing is transferred yet.
        snapshot.take(
            .started(
                DownloadStart(
                    path: "/f", size: 200, resumedBytes: 0, connections: 4, transfer: .segments,
                    identity: "etag")))
        now = snapshot.progress(now: 9)
        #expect(now.bytesDone == 0 && now.size == 200 && now.map.isEmpty)
        #expect(now.done.isEmpty && now.verifying.isEmpty)
        #expect(now.connections == 0 && now.bytesPerSecond == 0 && now.bytesReceived == 20)
    }

    @Test func finishedDownloadIsComplete() {
        var snapshot = ProgressSnapshot(began: 0)
        snapshot.take(.progress(moment))
        snapshot.take(.finished(file))
        snapshot.end(now: 3)
        let now = snapshot.progress(now: 50)
        #expect(now.phase == .ended && now.elapsed == .seconds(3))
        #expect(now.bytesDone == 100 && now.size == 100 && now.bytesVerifying == 0)
        #expect(now.bytesReceived == 70 && now.map == [8, 8])
        #expect(now.done == [ByteRange(0, 100)] && now.verifying.isEmpty)
        #expect(now.connections == 0 && now.bytesPerSecond == 0)
    }

    @Test func failedDownloadKeepsProgress() {
        var snapshot = ProgressSnapshot(began: 0)
        snapshot.take(.progress(moment))
        snapshot.end(now: 3)
        let now = snapshot.progress(now: 50)
        #expect(now.phase == .ended && now.bytesDone == 40 && now.elapsed == .seconds(3))
        #expect(now.connections == 0 && now.bytesPerSecond == 0)
    }
}
