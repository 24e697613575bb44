import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

struct RequestWindowTests {
    /// Sends `count` requests at time 0.
    private func sent(_ count: Int, _ window: inout RequestWindow) -> [Int] {
        (0..<count).map { _ in window.sent(now: 0) }
    }

    @Test func startsWithoutLimit() {
        var window = RequestWindow()
        _ = sent(RequestWindow.widest - 1, &window)
        #expect(window.hasRoom(now: 0) && window.limit == nil)
    }

    @Test func failuresOfOneFileSetNoLimit() {
        var window = RequestWindow()
        for time in stride(from: 0.0, to: 20, by: 2) {
            let others = sent(2, &window)
            let isOverLimit = window.refused(beside: others[1], sent: time, now: time + 0.1)
            #expect(!isOverLimit)
            window.served(now: time + 0.1)
        }
        #expect(window.limit == nil && window.underWay == 0)
    }

    @Test func simultaneousRefusalsNarrowOnce() {
        var window = RequestWindow()
        let others = sent(64, &window)
        let overLimit = others.map { window.refused(beside: $0, sent: 0, now: 0.1) }
        #expect(overLimit.dropFirst(3).allSatisfy { $0 })
        #expect(window.limit == 31 && window.underWay == 0)
    }

    @Test func refusalsAloneAreNoLimit() {
        var window = RequestWindow()
        for time in stride(from: 0.0, to: 5, by: 0.5) {
            let others = window.sent(now: time)
            let isOverLimit = window.refused(beside: others, sent: time, now: time + 0.1)
            #expect(!isOverLimit)
        }
    }

    @Test func retryAfterDelaysAllRequests() {
        var window = RequestWindow()
        for others in sent(10, &window) {
            _ = window.refused(beside: others, sent: 0, retryAfter: 3, now: 0.1)
        }
        #expect(!window.hasRoom(now: 3) && window.hasRoom(now: 3.2))
    }

    @Test func widensAfterServedRequests() {
        var window = RequestWindow()
        for others in sent(20, &window) { _ = window.refused(beside: others, sent: 0, now: 0.1) }
        let narrow = window.limit ?? 0
        var time = 1.0
        while window.limit != nil, time < 1_000 {
            var count = 0
            while window.hasRoom(now: time) {
                _ = window.sent(now: time)
                count += 1
            }
            #expect(count == window.limit)
            for _ in 0..<count { window.served(now: time) }
            time += 0.2
        }
        #expect(narrow > 0 && window.limit == nil && time > 5)
    }

    /// Over one connection, the width grows as long as responses do not queue.
    @Test func multiplexedWidthFollowsWait() {
        var width = BatchWidth(jobs: nil)
        let queued = BatchWidth.Wait(usual: 0.03, least: 0.02, isMultiplexed: true)
        for _ in 0..<100 { width.adjust(wait: queued) }
        #expect(width.width == 48)
        let free = BatchWidth.Wait(usual: 0.081, least: 0.08, isMultiplexed: true)
        for _ in 0..<100 { width.adjust(wait: free) }
        #expect(width.width == 96)
        for _ in 0..<10 { width.adjust(wait: queued) }
        #expect(width.width == 86)
    }

    /// If many responses arrive at a time, the next requests are still spaced.
    @Test(arguments: [0.001, 0.0001]) func spacesRequests(spacing: Double) {
        var window = RequestWindow()
        window.spacing = spacing
        for start in [10.0, 20.0] {
            var times: [Double] = []
            var now = start
            while times.count < 50 {
                #expect(window.due <= now)
                while window.hasRoom(now: now), times.count < 50 {
                    _ = window.sent(now: now)
                    times.append(now)
                }
                now = max(window.due, now.nextUp)
            }
            for _ in times { window.left() }
            // A few are sent in one burst, however long the pause before it was.
            let most = Int(RequestWindow.burst) + 1
            #expect(times.count { $0 == start } == most)
            #expect(abs(now - start - Double(51 - most) * spacing) < 1.5 * spacing)
        }
    }

    /// One slow response delays nothing if the next ones are fast.
    @Test func newSpacingAppliesToSentRequests() {
        var window = RequestWindow()
        window.spacing = 1
        while window.hasRoom(now: 5) { _ = window.sent(now: 5) }
        #expect(window.due == 6)
        window.spacing = 0.001
        #expect(window.due < 5.002)
    }

    @Test func spacingFollowsWait() {
        #expect(BatchWidth.Wait(usual: 0.004, least: 0.004).spacing == 0)
        #expect(abs(BatchWidth.Wait(usual: 0.08, least: 0.02).spacing - 0.001) < 1e-9)
        let shared = BatchWidth.Wait(usual: 0.12, least: 0.02, isMultiplexed: true)
        #expect(abs(shared.spacing - 0.001) < 1e-9)
    }

    @Test func multiplexedRequestsExceedConnections() {
        var window = RequestWindow()
        while window.hasRoom(now: 0) { _ = window.sent(now: 0) }
        #expect(window.underWay == RequestWindow.widest)
        window.isMultiplexed = true
        #expect(window.hasRoom(now: 0))
    }

    @Test func batchWidthGrowsWithSmallFilesOnly() {
        var width = BatchWidth(jobs: nil, first: BatchWidth.large)
        #expect(width.width == 4 && width.largeLimit == 4)
        for _ in 0..<100 { width.adjust() }
        #expect(width.width == 48)
        for _ in 0..<100 { width.adjust(wait: .init(usual: 0.02, least: 0.02)) }
        #expect(width.width == 64)
        for _ in 0..<100 { width.adjust(wait: .init(usual: 0.03, least: 0.02)) }
        #expect(width.width == 48)
        var asked = BatchWidth(jobs: 7)
        asked.adjust()
        #expect(asked.width == 7 && asked.largeLimit == 7)
        var near = BatchWidth(jobs: nil, first: BatchWidth.large)
        for _ in 0..<100 { near.adjust(wait: .init(usual: 0.001, least: 0.001)) }
        #expect(near.width == 16)
        for _ in 0..<3 { near.adjust(wait: .init(usual: 0.01, least: 0.001)) }
        #expect(near.width == 22)
        near.adjust(wait: .init(usual: 0.001, least: 0.001))
        #expect(near.width == 21)
        var narrow = BatchWidth(jobs: nil, most: 8, first: BatchWidth.large)
        for _ in 0..<100 { narrow.adjust() }
        #expect(narrow.width == 8)
    }
}
