import Testing

@testable import Segmenter

/// For how long nothing has come from a server.
@Suite struct SilenceTests {
    private func look(
        _ received: Int64 = 0, isAnswered: Bool = false, isConnected: Bool = true,
        isIdle: Bool = false
    ) -> Silence.Look {
        .init(
            received: received, isAnswered: isAnswered, isConnected: isConnected, isIdle: isIdle)
    }

    @Test func whatComesEndsIt() {
        var silence = Silence(since: 10)
        silence.note(look(), now: 11, blocked: 0)
        #expect(silence.ofBody(12) == 2 && silence.ofServer(12) == 2)
        silence.note(look(1), now: 12, blocked: 0)
        #expect(silence.ofBody(12) == 0 && silence.ofServer(12) == 0)
        silence.note(look(1), now: 13, blocked: 0)
        #expect(silence.ofBody(13) == 1)
    }

    @Test func aHeadIsAWordButNoBody() {
        var silence = Silence(since: 0)
        silence.note(look(isAnswered: true), now: 3, blocked: 0)
        #expect(silence.ofBody(3) == 3 && silence.ofServer(3) == 0)
        silence.note(look(isAnswered: true), now: 5, blocked: 0)
        #expect(silence.ofServer(5) == 2)
    }

    @Test func whoIsNotAskedIsNotSilent() {
        var silence = Silence(since: 0)
        silence.note(look(isIdle: true), now: 3, blocked: 0)
        #expect(silence.ofBody(3) == 0 && silence.ofServer(3) == 0)
        // Making the connection has a limit of its own.
        silence.note(look(isConnected: false), now: 5, blocked: 0)
        #expect(silence.ofBody(5) == 0 && silence.ofServer(5) == 2)
        silence.restart(9)
        #expect(silence.ofBody(9) == 0 && silence.ofServer(9) == 0)
    }

    @Test func theTimeThatTheLoopStoodStillIsNobodysSilence() {
        var silence = Silence(since: 0)
        silence.note(look(), now: 10, blocked: 8)
        #expect(silence.ofBody(10) == 2 && silence.ofServer(10) == 2)
    }

    @Test func earlierSilenceCountsUntilSomethingComes() {
        var silence = Silence(since: 0)
        silence.before = 5
        silence.note(look(), now: 1, blocked: 0)
        #expect(silence.ofBody(1) == 6 && silence.ofOwnBody(1) == 1)
        silence.note(look(1), now: 2, blocked: 0)
        #expect(silence.ofBody(2) == 0)
    }
}
