import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests which file follows a redirect, and which ones wait for its cookies.
@Suite(.timeLimit(.minutes(1))) struct LoginsTests {
    private let logins = Logins()

    @Test func firstLoginDelaysOthers() async {
        #expect(await logins.turn(at: "a", began: 0) == .first)
        async let one = logins.turn(at: "a", began: 0)
        async let two = logins.turn(at: "a", began: 0)
        // Another origin has a separate first file.
        #expect(await logins.turn(at: "b", began: 0) == .first)
        await Task.yield()
        logins.settle("a")
        #expect(await [one, two] == [.waited, .waited])
    }

    @Test func requestsBeforeLoginAreRepeated() async {
        let before = monotonicSeconds()
        #expect(await logins.turn(at: "a", began: before) == .first)
        logins.settle("a")
        #expect(await logins.turn(at: "a", began: before) == .waited)
        #expect(await logins.turn(at: "a", began: monotonicSeconds() + 1) == .later)
    }

    @Test func cancelledLoginStopsWaiting() async {
        #expect(await logins.turn(at: "a", began: 0) == .first)
        let waiting = Task { [logins] in await logins.turn(at: "a", began: 0) }
        await Task.yield()
        waiting.cancel()
        #expect(await waiting.value == .waited)
        // No continuation is resumed twice.
        logins.settle("a")
    }
}
