import Assembler

// How a fetch ends.
extension Fetch {
    func record() {
        do throws(AssemblyError) {
            try assembly.record()
        } catch {
            fail(.assembly(error))
        }
    }

    func finishIfComplete() -> Bool {
        guard !isOver else { return true }
        guard scheduler.isComplete else { return false }
        // One stream has an end of its own: a longer body is another file's.
        if setup.isOneStream, slots[0].transfer != nil { return false }
        if slots.contains(where: { $0.writer?.awaitsProof == true }) { return false }
        // Several servers work together only where a strong tag or a digest decides.
        let isUndated = sources.count == 1 && sources[0].isUndated
        finish(
            .complete(
                size: scheduler.size, isUndated: isUndated,
                vouchedDates: sources.reduce(into: []) { $0.formUnion($1.vouchedDates) }))
        return true
    }

    func fail(_ reason: DownloadError.Reason) { finish(.failed(reason)) }

    /// Ends the fetch: drops what is under way, records what arrived, and tells the outcome.
    func finish(_ outcome: Outcome) {
        guard !isOver else { return }
        isOver = true
        for source in sources { source.resolving?.cancel() }
        worker.remove(self)
        dropCanary()
        for index in hedges.keys { dropHedge(index) }
        for index in slots.indices {
            if let transfer = slots[index].transfer { worker.drop(transfer) }
            _ = retire(index)
        }
        reporter.report(self, now: monotonicSeconds())
        do throws(AssemblyError) {
            try assembly.record()
            completion(outcome, ledger)
        } catch {
            // The first failure says more than its consequence.
            if case .failed = outcome {
                completion(outcome, ledger)
            } else {
                completion(.failed(.assembly(error)), ledger)
            }
        }
    }
}
