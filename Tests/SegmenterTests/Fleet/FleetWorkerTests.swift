import TestSupport
import Testing

@testable import Segmenter

/// Who works on which shard.
@Suite struct FleetWorkerTests {
    private func board(_ names: String...) -> FleetBoard {
        FleetBoard(names.compactMap { FleetMark(name: $0) })
    }

    private func looked(
        _ board: FleetBoard, _ signs: [Int: FleetWorker.Sign] = [:], at now: Double = 0
    ) -> FleetWorker.Event { .looked(board, signs, now: now) }

    /// Workers and finishings on a folder that loses replies and shows old lists; processes die,
    /// sleep, and are started twice.
    @Test func storiesEndWell() throws {
        for seed in 0..<UInt64(10_000) {
            var story = FleetStory(seed: seed)
            do { try story.tell() } catch {
                // Others are likely to fail, too, and may take long.
                Issue.record("seed \(seed): \(error)")
                return
            }
        }
    }

    @Test(arguments: ["3.1.claim", "0.12.done", "finish.2.left"])
    func namesOfMarksAreParsed(name: String) {
        #expect(FleetMark(name: name)?.name == name)
    }

    @Test(arguments: [
        "3.1", "3.1.claim~", ".new-3", "3.0.claim", "-3.1.claim", "x.1.claim", "3.1.won",
    ])
    func otherNamesAreIgnored(name: String) { #expect(FleetMark(name: name) == nil) }

    @Test func freeShardIsClaimed() {
        var worker = FleetWorker([0, 1], isIndexed: false)
        #expect(
            worker.take(looked(board("0.1.claim"), [0: .beat(1)])) == .make(.init(1, 1, .claim)))
        #expect(worker.take(.made) == .begin(shard: 1, attempt: 1))
        #expect(worker.take(.ended(.complete)) == .make(.init(1, 1, .done)))
        #expect(worker.take(.made) == .look)
    }

    @Test func leftShardIsContinued() {
        var worker = FleetWorker([0], isIndexed: false)
        #expect(
            worker.take(looked(board("0.1.claim", "0.1.left"))) == .make(.init(0, 2, .claim)))
        // Somebody else was faster.
        #expect(worker.take(.taken) == .look)
    }

    /// An index says that the caller wants this process to work, once.
    @Test func indexReplacesARunningAttemptOnce() {
        var worker = FleetWorker([0], isIndexed: true)
        #expect(
            worker.take(looked(board("0.1.claim"), [0: .beat(1)])) == .make(.init(0, 2, .claim)))
        #expect(worker.take(.made) == .begin(shard: 0, attempt: 2))
        #expect(worker.take(looked(board("0.2.claim"))) == .none)
        #expect(worker.take(looked(board("0.2.claim", "0.3.claim"))) == .stop)
        #expect(worker.take(.ended(.stopped)) == .look)
        let others = board("0.1.claim", "0.2.claim", "0.3.claim")
        #expect(worker.take(looked(others, [0: .beat(5)], at: 10)) == .rest)
        #expect(worker.take(.rested) == .look)
        #expect(worker.take(looked(others, [0: .beat(5)], at: 609)) == .rest)
        #expect(worker.take(.rested) == .look)
        #expect(
            worker.take(looked(others, [0: .beat(5)], at: 610)) == .make(.init(0, 4, .claim)))
    }

    @Test func attemptOfADeadProcessIsContinued() {
        var worker = FleetWorker([0], isIndexed: false)
        #expect(worker.take(looked(board("0.1.claim"), [0: .over])) == .make(.init(0, 2, .claim)))
    }

    /// A list that does not show the claim of another worker shows only its dead predecessor.
    @Test func signOfAnEarlierAttemptDoesNotCount() {
        var worker = FleetWorker([0], isIndexed: false)
        let old = looked(board("0.1.claim"), [0: .over])
        #expect(worker.take(old) == .make(.init(0, 2, .claim)))
        #expect(worker.take(.taken) == .look)
        #expect(worker.take(old) == .rest)
    }

    /// A worker does not report success for a shard that it gave up, and that nobody has completed.
    @Test func shardThatWasGivenUpIsToBeRunAgain() {
        var worker = FleetWorker([0], isIndexed: true)
        #expect(worker.take(looked(board())) == .make(.init(0, 1, .claim)))
        #expect(worker.take(.made) == .begin(shard: 0, attempt: 1))
        #expect(worker.take(.ended(.failed)) == .make(.init(0, 1, .failed)))
        #expect(worker.take(.made) == .look)
        let others = board("0.1.claim", "0.1.failed", "0.2.claim", "0.2.left")
        #expect(worker.take(looked(others)) == .end(.again))
    }

    /// Without an index, a worker ends once it has seen that the others make progress.
    @Test func workerEndsWhenOthersWork() {
        var worker = FleetWorker([0], isIndexed: false)
        let others = board("0.1.claim")
        #expect(worker.take(looked(others, [0: .beat(1)], at: 0)) == .rest)
        #expect(worker.take(.rested) == .look)
        #expect(worker.take(looked(others, [0: .beat(2)], at: 20)) == .end(.done))
    }

    @Test func failureIsFinal() {
        var worker = FleetWorker([0], isIndexed: true)
        #expect(worker.take(looked(board())) == .make(.init(0, 1, .claim)))
        #expect(worker.take(.made) == .begin(shard: 0, attempt: 1))
        #expect(worker.take(.ended(.failed)) == .make(.init(0, 1, .failed)))
        #expect(worker.take(.made) == .look)
        #expect(
            worker.take(looked(board("0.1.claim", "0.1.failed"))) == .end(.failed(shard: 0)))
    }

    @Test func interruptedWorkerLeavesItsShard() {
        var worker = FleetWorker([0, 1], isIndexed: true)
        #expect(worker.take(looked(board())) == .make(.init(0, 1, .claim)))
        #expect(worker.take(.made) == .begin(shard: 0, attempt: 1))
        #expect(worker.take(.interrupted) == .stop)
        #expect(worker.take(.ended(.stopped)) == .make(.init(0, 1, .left)))
        #expect(worker.take(.made) == .end(.again))
    }

    /// A wrong file makes its shard one that is to be continued.
    @Test func voidAttemptIsNotDone() {
        #expect(board("0.1.claim", "0.1.done").state(of: 0) == .done(1))
        #expect(board("0.1.claim", "0.1.done", "0.1.void").state(of: 0) == .left(1))
        #expect(board("0.1.done", "0.1.void", "0.2.claim", "0.2.done").state(of: 0) == .done(2))
        #expect(board("0.1.claim", "0.1.failed", "0.2.claim").sources(of: 0, before: 2) == [])
    }
}
