import Synchronization
import Testing

@testable import SeggetService

struct AnswerGateTests {
    /// Counts those that are inside the gate.
    private final class Counter: Sendable {
        let inside = Mutex((now: 0, most: 0, all: 0))
    }

    @Test func atMostSoManyPassAtATime() async {
        let gate = AnswerGate(most: 3)
        let counter = Counter()
        await withTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    await gate.pass {
                        counter.inside.withLock {
                            $0.now += 1
                            $0.all += 1
                            $0.most = max($0.most, $0.now)
                        }
                        for _ in 0..<10 { await Task.yield() }
                        counter.inside.withLock { $0.now -= 1 }
                    }
                }
            }
        }
        let (now, most, all) = counter.inside.withLock { $0 }
        #expect(now == 0 && all == 100 && most <= 3)
    }

    @Test func aFailureFreesThePlace() async throws {
        struct Failure: Error {}
        let gate = AnswerGate(most: 1)
        for _ in 0..<2 {
            await #expect(throws: Failure.self) { try await gate.pass { throw Failure() } }
        }
        #expect(await gate.pass { 7 } == 7)
    }
}
