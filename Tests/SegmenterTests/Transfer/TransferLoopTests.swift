import Assembler
import Testing

@testable import Segmenter

/// The door to the loop thread.
@Suite struct TransferLoopTests {
    @Test(.timeLimit(.minutes(1))) func whoAsksIsAnsweredUntilTheEnd() async {
        let loop = TransferLoop(residents: [])
        #expect(await loop.ask(otherwise: 0) { $0.makeID() } == 1)
        #expect(await loop.ask(otherwise: 0) { $0.makeID() } == 2)
        loop.shutdown()
        #expect(await loop.ask(otherwise: 0) { $0.makeID() } == 0)
        #expect(
            await loop.wait(otherwise: 0) { _, _ in
                nil
            } cancel: { _, _ in
            } == 0)
    }

    @Test(.timeLimit(.minutes(1))) func whoIsCancelledHasItsBeginningCancelled() async {
        let loop = TransferLoop(residents: [])
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            let held = Monitor<Answer<Int>?>(nil)
            return await loop.wait(otherwise: 0) { _, answer in
                held.withLock { $0 = answer }
                beginning.finish()
                return 7
            } cancel: { _, number in
                held.withLock { $0 }?.resume(returning: number)
            }
        }
        for await _ in begun {}
        task.cancel()
        #expect(await task.value == 7)
        // What was cancelled before does not begin.
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            return await loop.wait(otherwise: -1) { _, answer in
                answer.resume(returning: 1)
                return nil
            } cancel: { _, _ in
            }
        }
        late.cancel()
        #expect(await late.value == -1)
        loop.shutdown()
    }
}
