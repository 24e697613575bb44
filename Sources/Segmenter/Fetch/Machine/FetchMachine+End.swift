import Assembler

// How a fetch ends.
extension FetchMachine {
    mutating func record(_ world: some FetchWorld) {
        do throws(AssemblyError) {
            try world.record()
        } catch {
            fail(.assembly(error), world)
        }
    }

    mutating func finishIfComplete(_ world: some FetchWorld) -> Bool {
        guard !isOver else { return true }
        guard scheduler.isComplete else { return false }
        // One stream has an end of its own: a longer body is another file's.
        if setup.isOneStream, slots[0].isBusy { return false }
        if slots.contains(where: { $0.request.body?.proof != nil }) { return false }
        // Several servers work together only where a strong tag or a digest decides.
        let isUndated = sources.count == 1 && sources[0].dates.isUndated
        finish(
            .complete(
                size: scheduler.size, isUndated: isUndated,
                vouchedDates: sources.reduce(into: []) { $0.formUnion($1.dates.vouched) }),
            world)
        return true
    }

    mutating func fail(_ reason: DownloadError.Reason, _ world: some FetchWorld) {
        finish(.failed(reason), world)
    }

    /// What could not be written ends the fetch.
    mutating func fail(writing errno: Int32, _ world: some FetchWorld) {
        fail(
            .assembly(.io(operation: "write", path: world.writtenPath, errno: errno)), world)
    }
}
