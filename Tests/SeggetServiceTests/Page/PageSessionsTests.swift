import Synchronization
import Testing

@testable import SeggetService

@Suite struct PageSessionsTests {
    private let sessions = PageSessions(secret: "one secret")

    @Test func tokenMatchesOnlyItsCookie() {
        let (one, other) = (sessions.begin(now: 100), sessions.begin(now: 100))
        #expect(one.cookie != other.cookie && one.token != other.token)
        #expect(sessions.isValid(cookie: one.cookie, token: one.token, now: 101))
        #expect(!sessions.isValid(cookie: one.cookie, token: other.token, now: 101))
        #expect(!sessions.isValid(cookie: other.cookie, token: one.token, now: 101))
        for token in ["", "x", String(one.token.dropLast()), one.token + "0", one.cookie] {
            #expect(!sessions.isValid(cookie: one.cookie, token: token, now: 101))
        }
    }

    @Test func sessionExpires() {
        let session = sessions.begin(now: 100)
        let end = 100 + PageSessions.length
        #expect(session.expires == end)
        #expect(sessions.isValid(cookie: session.cookie, token: session.token, now: end - 1))
        #expect(!sessions.isValid(cookie: session.cookie, token: session.token, now: end))
        let longer = "\(session.cookie.split(separator: ".")[0]).\(Int64(end) + 60)"
        #expect(!sessions.isValid(cookie: longer, token: session.token, now: 101))
    }

    /// Sessions survive a restart of the service, but not a new secret.
    @Test func sessionDependsOnlyOnSecret() {
        let session = sessions.begin(now: 100)
        #expect(
            PageSessions(secret: "one secret")
                .isValid(cookie: session.cookie, token: session.token, now: 101))
        #expect(
            !PageSessions(secret: "another secret")
                .isValid(cookie: session.cookie, token: session.token, now: 101))
    }

    @Test func openingIsValidOnceForOneMinute() throws {
        let clock = Mutex(0.0)
        let openings = OpeningTokens { clock.withLock { $0 } }
        #expect(openings.open() == nil)
        openings.address = "http://127.0.0.1:8080/"
        func token() throws -> String {
            let address = try #require(openings.open())
            #expect(address.hasPrefix("http://127.0.0.1:8080/#token="))
            return String(try #require(address.split(separator: "=").last))
        }
        let (one, other, late) = (try token(), try token(), try token())
        #expect(!openings.take("") && !openings.take(String(one.dropLast())))
        #expect(openings.take(one) && !openings.take(one))
        clock.withLock { $0 = 59.9 }
        #expect(openings.take(other))
        clock.withLock { $0 = 60 }
        #expect(!openings.take(late))
    }
}
