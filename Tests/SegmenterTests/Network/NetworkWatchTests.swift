import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the events that end a wait for the network.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct NetworkWatchTests {
    @Test func wakesAtDueTime() async {
        let watch = NetworkWatch()
        let due = NetworkWatch.now.boot + 0.2
        #expect(await watch.wait(until: due, listeningFrom: .infinity) == .due)
        #expect(NetworkWatch.now.boot >= due)
        // A time in the past is due immediately.
        #expect(await watch.wait(until: 1, listeningFrom: .infinity) == .due)
    }

    @Test func cancellingEndsWait() async {
        let watch = NetworkWatch()
        let task = Task { await watch.wait(until: .infinity, listeningFrom: 0) }
        task.cancel()
        #expect(await task.value == .cancelled)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await watch.wait(until: .infinity, listeningFrom: 0)
        }
        late.cancel()
        #expect(await late.value == .cancelled)
    }

    @Test func clocksAgreeWithoutSuspend() {
        let one = NetworkWatch.now
        let other = NetworkWatch.now
        let asleep = (one.boot - one.monotonic, other.boot - other.monotonic)
        #expect(abs(asleep.0 - asleep.1) < NetworkWait.suspended)
    }

    /// A watch reports changes of the network namespace of the thread that created it.
    @Test(
        .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
    func routeChangeEndsWait() async throws {
        let network = try NetworkPair()
        let watch = try network.inClient { NetworkWatch() }
        // A new link causes further events about its carrier and its addresses.
        let isQuiet = await soonQuiet(watch)
        #expect(isQuiet)
        let changes: [() throws -> Void] = [
            { try network.changeClientAddress() }, { try network.unplug(.client) },
            { try network.plug(.client) }, { try network.unplug(.server) },
        ]
        for (number, change) in changes.enumerated() {
            try change()
            // Changes without a listener are reported to the next one.
            let asked = NetworkWatch.now.boot
            let wake = await watch.wait(until: asked + 60, listeningFrom: asked + 0.1)
            #expect(wake == .changed, "change \(number)")
            #expect(NetworkWatch.now.boot >= asked + 0.1)
        }
        // Forgotten changes end no wait, nor do changes before the time from which it listens.
        #expect(await soonQuiet(watch))
        try network.plug(.server)
        let now = NetworkWatch.now.boot
        #expect(await watch.wait(until: now + 0.1, listeningFrom: .infinity) == .due)
    }

    /// Waits until a watch reports no change for two seconds; returns whether that happens soon.
    private func soonQuiet(_ watch: NetworkWatch) async -> Bool {
        for _ in 0..<30 {
            watch.forget()
            let now = NetworkWatch.now.boot
            if await watch.wait(until: now + 2, listeningFrom: 0) == .due { return true }
        }
        return false
    }
}
