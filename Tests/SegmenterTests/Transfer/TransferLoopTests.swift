import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the calls to the loop thread.
@Suite struct TransferLoopTests {
    @Test(.timeLimit(.minutes(1))) func answersUntilShutdown() async {
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

    @Test(.timeLimit(.minutes(1))) func cancellingTaskCancelsOperation() async {
        let loop = TransferLoop(residents: [])
        let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            let stored = Monitor<Answer<Int>?>(nil)
            return await loop.wait(otherwise: 0) { _, answer in
                stored.withLock { $0 = answer }
                beginning.finish()
                return 7
            } cancel: { _, number in
                // This closure may be called twice, if the task is cancelled while the operation
                // begins.
                stored.withLock { $0.take() }?.resume(returning: number)
            }
        }
        for await _ in begun {}
        task.cancel()
        #expect(await task.value == 7)
        loop.shutdown()
    }

    /// The operation begins although its task is cancelled, because it may own received bytes that
    /// it has to record.
    @Test(.timeLimit(.minutes(1))) func operationOfCancelledTaskIsCancelled() async {
        let loop = TransferLoop(residents: [])
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            let begun = Monitor<(answer: Answer<Int>?, ends: Int)>((nil, 0))
            return await loop.wait(otherwise: -1) { _, answer in
                begun.withLock { $0.answer = answer }
                return 7
            } cancel: { _, number in
                let answer = begun.withLock { begun in
                    begun.ends += 1
                    return begun.ends == 1 ? begun.answer : nil
                }
                answer?.resume(returning: number)
            }
        }
        task.cancel()
        #expect(await task.value == 7)
        loop.shutdown()
    }

    /// Residents are released with the loop.
    @Test(.timeLimit(.minutes(1))) func loopReleasesResidents() async {
        let loop = TransferLoop()
        let residents = await loop.ask(otherwise: nil) { worker in
            Residents(servers: worker.servers, smallRequests: worker.smallRequests)
        }
        #expect(residents?.areThere == true)
        loop.shutdown()
        #expect(residents?.areThere == false)
    }

    /// Weak references to the residents, read after their thread has ended.
    private final class Residents: @unchecked Sendable {
        private weak var servers: ServerBook?
        private weak var smallRequests: SmallRequests?

        init(servers: ServerBook, smallRequests: SmallRequests) {
            (self.servers, self.smallRequests) = (servers, smallRequests)
        }

        var areThere: Bool { servers != nil || smallRequests != nil }
    }
}
