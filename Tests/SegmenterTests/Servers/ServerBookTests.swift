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

    /// All senders of requests to an origin share the bound; another origin has its own.
    @Test func boundHoldsForAllSenders() {
        let book = ServerBook()
        #expect(book.takeTurn(at: "a", now: 10) == 0 && book.takeTurn(at: "a", now: 10) == 0)
        book.maxRequests = RequestRate(60, per: .minute)
        #expect(book.takeTurn(at: "a", now: 10) == 0)
        #expect(book.takeTurn(at: "a", now: 10) > 0.8)
        #expect(book.takeTurn(at: "b", now: 10) == 0)
        book.maxRequests = nil
        #expect(book.takeTurn(at: "a", now: 10) == 0)
    }

    /// A list of small files leaves a turn to the sender of one request that waits for it.
    @Test func waitingSenderGoesBeforeAList() throws {
        let book = ServerBook()
        book.maxRequests = RequestRate(60, per: .minute)
        #expect(book.takeTurn(at: "a", now: 10) == 0)
        let due = 10 + book.takeTurn(at: "a", now: 10)
        let quota = try #require(book[quotaOf: "a"])
        #expect(quota.delay(now: due) <= 1e-9 && quota.politeDelay(now: due) > 0.1)
        // The waiting sender has not come.
        #expect(quota.politeDelay(now: due + 0.2) <= 1e-9)
        #expect(book.takeTurn(at: "a", now: due + 0.01) == 0)
    }

    /// After `Retry-After` no sender has a turn; another origin is not affected.
    @Test func demandedWaitHoldsForAllSenders() {
        let book = ServerBook()
        book.refused(by: "a", for: 30, asked: 9, served: 0, now: 10)
        #expect(book.takeTurn(at: "a", now: 10) == 30 && book.takeTurn(at: "b", now: 10) == 0)
        book.maxRequests = RequestRate(60, per: .minute)
        #expect(book.takeTurn(at: "a", now: 30) == 10 && book.takeTurn(at: "a", now: 40) == 0)
    }

    /// Two bodies arrive while a third request is refused: one that ends makes room for another.
    @Test func demandedWaitSparesServedRequests() {
        let book = ServerBook()
        book.join(User(served: 2), as: 1)
        book.refused(by: "a", for: 30, asked: 9, served: 2, now: 10)
        // Two are served, and one has no response.
        #expect(book.takeTurn(at: "a", now: 10) > 0)
        book.leave(1)
        #expect(book.takeTurn(at: "a", now: 11) == 0)
    }

    @Test func rememberedLimitIsNotLearned() {
        let book = ServerBook()
        book.limits["a"] = ServerLimit(remembered: 4, now: 0)
        #expect(book.learnedLimits.isEmpty)
    }
}
