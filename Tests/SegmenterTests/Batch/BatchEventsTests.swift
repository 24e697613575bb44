import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite(.timeLimit(.minutes(5)))
struct BatchEventsTests {
    private static let progress = DownloadProgress(
        phase: .downloading, bytesDone: 0, size: nil, bytesVerifying: 0, bytesReceived: 0,
        bytesPerSecond: 0, connections: 1, map: [], elapsed: .zero)
    private static let failure = BatchEvent.Kind.ended(
        .failure(DownloadError(reason: .cancelled, url: "", path: nil, bytesKept: 0)))

    /// A late reader receives each start and each result, in order, but only some of the other
    /// events.
    @Test func lateReaderGetsAllResults() async {
        let events = BatchEvents()
        let files = 3000
        for index in 0..<files {
            events.offer(BatchEvent(index: index, kind: .begun(url: "")))
            for _ in 0..<10 {
                events.offer(BatchEvent(index: index, kind: .event(.progress(Self.progress))))
                events.offer(BatchEvent(index: index, kind: .event(.notice(.rangesIgnored))))
            }
            events.offer(BatchEvent(index: index, kind: Self.failure))
        }
        events.finish()
        var begun: [Int] = []
        var ended: [Int] = []
        var progress = 0
        var notices = 0
        for await event in events.stream() {
            switch event.kind {
            case .begun: begun.append(event.index)
            case .ended: ended.append(event.index)
            case .event(.progress): progress += 1
            case .event: notices += 1
            }
        }
        #expect(begun == Array(0..<files))
        #expect(ended == Array(0..<files))
        #expect((1...BatchEvents.progressLimit).contains(progress))
        #expect((1...BatchEvents.limit).contains(notices))
    }

    @Test func waitingReaderGetsAllEvents() async {
        let events = BatchEvents()
        let reader = Task {
            var indices: [Int] = []
            for await event in events.stream() { indices.append(event.index) }
            return indices
        }
        for index in 0..<100 {
            events.offer(BatchEvent(index: index, kind: Self.failure))
            await Task.yield()
        }
        events.finish()
        #expect(await reader.value == Array(0..<100))
    }

    /// A group has all events that were unread, in order.
    @Test func groupsHaveAllUnreadEvents() async {
        let events = BatchEvents()
        var groups = events.groups().makeAsyncIterator()
        for index in 0..<3 { events.offer(BatchEvent(index: index, kind: Self.failure)) }
        #expect(await groups.next()?.map(\.index) == [0, 1, 2])
        events.offer(BatchEvent(index: 3, kind: Self.failure))
        events.finish()
        #expect(await groups.next()?.map(\.index) == [3])
        #expect(await groups.next() == nil)
    }

    @Test func cancelledReaderBlocksNothing() async {
        let events = BatchEvents()
        let reader = Task { for await _ in events.stream() {} }
        reader.cancel()
        await reader.value
        for index in 0..<100 { events.offer(BatchEvent(index: index, kind: Self.failure)) }
        events.finish()
    }
}

@Suite(.timeLimit(.minutes(5)))
struct BatchTurnsTests {
    @Test func turnsFollowListOrder() async {
        let turns = BatchTurns()
        let order = await withTaskGroup(of: Int.self) { group in
            for index in (0..<50).reversed() {
                group.addTask {
                    await turns.wait(index)
                    return index
                }
            }
            var order: [Int] = []
            for _ in 0..<50 {
                turns.settle(order.count - 1)
                if let next = await group.next() { order.append(next) }
            }
            return order
        }
        #expect(order == Array(0..<50))
    }

    @Test func settledFilesAreSkipped() async {
        let turns = BatchTurns()
        for index in [3, 1, 0, 2, 2, 0] { turns.settle(index) }
        await turns.wait(4)
    }
}
