import Testing

@testable import Segmenter

@Suite(.timeLimit(.minutes(5)))
struct BatchSlotsTests {
    @Test func whatHasComeMakesRoom() {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        for _ in 0..<4 { slots.begin() }
        #expect(!slots.hasRoom && !slots.isEmpty)
        slots.park(0, bytes: 1_000)
        #expect(slots.hasRoom)
        slots.begin()
        slots.unpark(0)
        #expect(!slots.hasRoom)
        for index in 0..<4 { slots.end(index, isDone: true) }
        #expect(slots.hasRoom && !slots.isEmpty && !slots.hasFailure)
        slots.park(4, bytes: 1_000)
        slots.end(4, isDone: false)
        #expect(slots.isEmpty && slots.hasFailure)
    }

    @Test func whereANumberWasAskedForTheyCount() {
        let slots = BatchSlots(BatchWidth(jobs: 2))
        for _ in 0..<2 { slots.begin() }
        slots.park(0, bytes: 1_000)
        #expect(!slots.hasRoom)
        slots.end(0, isDone: true)
        #expect(slots.hasRoom)
    }

    @Test(arguments: [(0, BatchSlots.mostParked.files), (1 << 20, 4)])
    func whatWaitsIsBounded(bytes: Int, most: Int) {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        var count = 0
        while slots.hasRoom, count < 10_000 {
            slots.begin()
            slots.park(count, bytes: bytes)
            count += 1
        }
        #expect(count == most)
        slots.end(0, isDone: true)
        #expect(slots.hasRoom)
    }

    @Test func changesAreNotMissed() async {
        let slots = BatchSlots(BatchWidth(jobs: nil))
        slots.begin()
        slots.begin()
        slots.end(0, isDone: true)
        await slots.change()
        let ending = Task { slots.end(1, isDone: true) }
        await slots.change()
        await ending.value
        #expect(slots.isEmpty)
    }
}
