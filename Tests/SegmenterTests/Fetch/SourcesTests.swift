import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests which servers join a fetch, and which are dropped.
@Suite struct SourcesTests {
    private func sources(_ count: Int) throws -> Sources {
        var sources = Sources(Source(primary: try SourceTrial.setup()))
        for number in 1..<max(1, count) {
            let place = sources.join(try SourceTrial.mirror(number))
            #expect(place == number)
        }
        return sources
    }

    @Test func droppingOnlySourceEndsFetch() throws {
        var sources = try sources(1)
        let outcome = sources.drop(0, .rangesIgnored)
        guard case .rangesIgnored? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(sources[0].standing == .proven)
    }

    @Test func droppingSourceKeepsOthers() throws {
        var sources = try sources(2)
        let fault = MirrorFault.failed(.refused(status: 403))
        let none = sources.drop(0, fault)
        #expect(none.map { "\($0)" } == nil)
        #expect(sources[0].standing == .dropped)
        #expect(sources.ledger.faults == [0: fault])
        // The last server is not probed again, because it is not the primary.
        let outcome = sources.drop(1, .rangesIgnored)
        guard case .failed(.contract(.wholeFileForRange))? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(sources[1].standing == .dropped)
    }

    @Test func lastPrimaryEndsFetchWithItsFault() throws {
        var sources = try sources(2)
        let none = sources.drop(1, .rangesIgnored)
        #expect(none.map { "\($0)" } == nil)
        let outcome = sources.drop(0, .rangesIgnored)
        guard case .rangesIgnored? = outcome else {
            Issue.record("\(String(describing: outcome))")
            return
        }
        #expect(sources[0].standing == .proven)
    }

    @Test func mirrorJoinsOnce() throws {
        var sources = try sources(2)
        let place = sources.join(try SourceTrial.mirror(1))
        #expect(place == nil)
        let joins = [sources.prove(1), sources.prove(1)]
        #expect(joins == [true, false])
    }

    @Test func donorHasMostConnections() throws {
        var sources = try sources(2)
        var slots = Slots(count: 3)
        slots[0].request.isUnderWay = true
        #expect(sources.donated(to: 1, slots) == 1)
        slots[1].request.isUnderWay = true
        slots[2].request.isUnderWay = true
        #expect(sources.donated(to: 1, slots) == 2)
        sources[0].sampling = 2
        #expect(sources.donated(to: 1, slots) == 1)
        #expect(sources.donated(to: 1, Slots(count: 1)) == nil)
    }

    /// After the link has expired, stolen bytes could not be requested again.
    @Test func expiredLinkPreventsStealing() throws {
        let time = 1_900_000_000.0
        var setup = try SourceTrial.setup()
        setup.primary = try SourceTrial.mirror(query: "?Expires=1900000000")
        var sources = Sources(Source(primary: setup))
        #expect(sources.maySteal(date: time - 60))
        #expect(!sources.maySteal(date: time))
        sources[0].link.refused()
        #expect(!sources.maySteal(date: time - 60))
        sources[0].link.accepted()
        #expect(sources.maySteal(date: time - 60))
    }

    @Test func failingSourceAmongSeveralIsDropped() throws {
        let sources = try sources(2)
        let slots = Slots(count: 1)
        var backoff = Slot.Backoff()
        for _ in 0..<2 { backoff.note(received: 0, others: 7) }
        #expect(sources.waits(for: 0, backoff, others: 8, slots))
        backoff.note(received: 0, others: 8)
        // The other server has sent bytes since, or may do so, because it had no request yet.
        #expect(!sources.waits(for: 0, backoff, others: 8, slots))
        #expect(!sources.waits(for: 0, backoff, others: 7, slots))
        var failing = Slots(count: 2)
        failing[1] = Slot(source: 1)
        failing[1].backoff.failures = 1
        #expect(sources.waits(for: 0, backoff, others: 7, failing))
    }
}
