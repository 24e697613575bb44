import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the times without received bytes.
@Suite struct StallClockTests {
    private func look(
        _ received: Int64 = 0, isAnswered: Bool = false, isConnected: Bool = true,
        isIdle: Bool = false
    ) -> StallClock.Look {
        .init(
            received: received, isAnswered: isAnswered, isConnected: isConnected, isIdle: isIdle)
    }

    @Test func receivedBytesResetClock() {
        var clock = StallClock(since: 10)
        clock.note(look(), now: 11, blocked: 0)
        #expect(clock.ofBody(12) == 2 && clock.ofServer(12) == 2)
        clock.note(look(1), now: 12, blocked: 0)
        #expect(clock.ofBody(12) == 0 && clock.ofServer(12) == 0)
        clock.note(look(1), now: 13, blocked: 0)
        #expect(clock.ofBody(13) == 1)
    }

    @Test func headResetsServerClockOnly() {
        var clock = StallClock(since: 0)
        clock.note(look(isAnswered: true), now: 3, blocked: 0)
        #expect(clock.ofBody(3) == 3 && clock.ofServer(3) == 0)
        clock.note(look(isAnswered: true), now: 5, blocked: 0)
        #expect(clock.ofServer(5) == 2)
    }

    @Test func idleTransferDoesNotStall() {
        var clock = StallClock(since: 0)
        clock.note(look(isIdle: true), now: 3, blocked: 0)
        #expect(clock.ofBody(3) == 0 && clock.ofServer(3) == 0)
        // Connecting has a separate timeout.
        clock.note(look(isConnected: false), now: 5, blocked: 0)
        #expect(clock.ofBody(5) == 0 && clock.ofServer(5) == 2)
        clock.restart(9)
        #expect(clock.ofBody(9) == 0 && clock.ofServer(9) == 0)
    }

    @Test func blockedLoopDoesNotCount() {
        var clock = StallClock(since: 0)
        clock.note(look(), now: 10, blocked: 8)
        #expect(clock.ofBody(10) == 2 && clock.ofServer(10) == 2)
    }

    @Test func earlierStallCountsUntilFirstByte() {
        var clock = StallClock(since: 0)
        clock.before = 5
        clock.note(look(), now: 1, blocked: 0)
        #expect(clock.ofBody(1) == 6 && clock.ofOwnBody(1) == 1)
        clock.note(look(1), now: 2, blocked: 0)
        #expect(clock.ofBody(2) == 0)
    }
}
