import Testing

@testable import Segmenter

@Suite(.timeLimit(.minutes(5)))
struct BatchGateTests {
    @Test func morePlacesLetWaitingFilesEnter() async {
        let gate = BatchGate(1)
        #expect(gate.tryEnter() && !gate.tryEnter())
        async let second = gate.enter()
        while !gate.isBusy { await Task.yield() }
        gate.resize(to: 2)
        #expect(await second)
        #expect(!gate.isBusy && !gate.tryEnter())
    }

    @Test func fewerPlacesHoldAfterFilesLeave() {
        let gate = BatchGate(3)
        for _ in 0..<3 { #expect(gate.tryEnter()) }
        gate.resize(to: 1)
        gate.leave()
        gate.leave()
        #expect(!gate.tryEnter())
        gate.leave()
        #expect(gate.tryEnter())
    }
}
