import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the facts about servers that all senders of requests share.
@Suite struct ServerBookTests {
    private final class User: ServerUser {
        let served: Int

        init(served: Int) { self.served = served }

        func load(of origin: String, now: Double) -> ServerLimit.Load {
            .init(served: origin == "a" ? served : 0, asking: 1)
        }
    }

    @Test func loadIsSumOfAllUsers() {
        let book = ServerBook()
        #expect(book.load(of: "a", now: 0) == .init())
        book.join(User(served: 2), as: 1)
        book.join(User(served: 3), as: 2)
        #expect(book.load(of: "a", now: 0) == .init(served: 5, asking: 2))
        #expect(book.load(of: "b", now: 0) == .init(asking: 2))
        #expect(book.load(of: "a", now: 0, but: 1) == .init(served: 3, asking: 1))
        book.leave(2)
        #expect(book.load(of: "a", now: 0) == .init(served: 2, asking: 1))
    }

    @Test func keepsShortestTimeToConnect() {
        let book = ServerBook()
        for seconds in [0.03, 0.01, 0.02] { book.connected(to: "a", in: seconds) }
        #expect(book.roundTrips == ["a": 0.01])
    }

    @Test func rememberedLimitIsNotLearned() {
        let book = ServerBook()
        book.limits["a"] = ServerLimit(remembered: 4, now: 0)
        #expect(book.learnedLimits.isEmpty)
    }
}
