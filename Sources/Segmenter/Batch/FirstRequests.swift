import Assembler
import SegmenterRules
import SegmenterTransport

/// Queues the first requests of a batch's small files, without a task for each.
///
/// The requests wait on the loop thread, so that one starts as soon as another ends. The class may
/// be used from any thread.
final class FirstRequests: Sendable {
    /// A queued request.
    final class Entry: Sendable {
        /// The index of the file in the list.
        let index: Int
        let request: TransferRequest
        /// The size of the file in bytes; `nil` if it is unknown.
        let size: Int64?
        /// The URL of the file.
        let url: WebURL
        /// Called once on the loop thread, with a complete short body or the start of a longer one.
        let report: @Sendable (Exchange) -> Void

        init(
            index: Int, request: TransferRequest, size: Int64? = nil, url: WebURL,
            report: @escaping @Sendable (Exchange) -> Void
        ) {
            self.index = index
            self.request = request
            self.size = size
            self.url = url
            self.report = report
        }
    }

    private struct State {
        var waiting: [Entry] = []
        /// The ids of active requests in `Worker.smallRequests`, by the index of the file.
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

    /// Queues requests and returns immediately.
    ///
    /// The caller has counted each of them with `BatchSlots.queue`. A request starts as soon as the
    /// slots allow it.
    func send(_ entries: [Entry] = []) {
        state.withLock { $0.waiting += entries }
        if !loop.perform({ [self] in go($0) }) { cancelWaiting() }
    }

    /// Cancels all active, waiting and later requests.
    func cancel() {
        state.withLock { $0.isCancelled = true }
        loop.perform { [self] worker in
            cancelWaiting()
            for id in state.withLock({ Array($0.underWay.values) }) {
                worker.smallRequests.cancel(id)
            }
        }
    }

    /// Starts all waiting requests that may start; on the loop thread.
    private func go(_ worker: Worker) {
        guard !state.withLock({ $0.isCancelled }) else { return cancelWaiting() }
        while let entry = state.withLock({ $0.waiting.first }),
            slots.start(entry.index, size: entry.size, at: entry.url.origin)
        {
            state.withLock { _ = $0.waiting.removeFirst() }
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
        for entry in entries where slots.start(entry.index, size: entry.size, must: true) {
            entry.report(Exchange(end: .cancelled))
        }
    }
}
