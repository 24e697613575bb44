import Assembler

/// The first requests for small files of a batch, which no task waits for.
///
/// They wait on the loop thread, so that one goes out as soon as another one ends. May be used from any
/// thread.
final class FirstRequests: Sendable {
    /// One of them.
    final class Entry: Sendable {
        /// Place of the file in the list.
        let index: Int
        let request: TransferRequest
        /// Called once, on the loop thread: with a short body, or with the beginning of a longer one.
        let report: @Sendable (Exchange) -> Void

        init(index: Int, request: TransferRequest, report: @escaping @Sendable (Exchange) -> Void) {
            self.index = index
            self.request = request
            self.report = report
        }
    }

    private struct State {
        var waiting: [Entry] = []
        /// The numbers that the worker knows those by that are under way, by place in the list.
        var underWay: [Int: Int] = [:]
        var isCancelled = false
    }

    private let loop: TransferLoop
    private let slots: BatchSlots
    private let state = Monitor(State())

    init(_ loop: TransferLoop, _ slots: BatchSlots) {
        self.loop = loop
        self.slots = slots
    }

    /// Makes requests, which are queued in the slots, when their time has come; returns at once.
    func send(_ entries: [Entry] = []) {
        state.withLock { $0.waiting += entries }
        if !loop.perform({ [self] in go($0) }) { cancelWaiting() }
    }

    /// Gives up those that are under way, and all that come.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        loop.perform { [self] worker in
            cancelWaiting()
            for id in state.withLock({ Array($0.underWay.values) }) {
                worker.smallRequests.cancel(id)
            }
        }
    }

    /// Has all requests go out that may; on the loop thread.
    private func go(_ worker: Worker) {
        guard !state.withLock({ $0.isCancelled }) else { return cancelWaiting() }
        while state.withLock({ !$0.waiting.isEmpty }), slots.start() {
            let entry = state.withLock { $0.waiting.removeFirst() }
            let id = worker.smallRequests.enqueue(entry.request) {
                [self, unowned worker] exchange in
                state.withLock { $0.underWay[entry.index] = nil }
                entry.report(exchange)
                go(worker)
            }
            state.withLock { $0.underWay[entry.index] = id }
        }
    }

    private func cancelWaiting() {
        let entries = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for entry in entries where slots.start(must: true) {
            entry.report(Exchange(end: .cancelled))
        }
    }
}
