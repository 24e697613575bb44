import Assembler

/// Runs an actor's jobs on a separate thread, so that they may wait for the disk.
final class ThreadExecutor: SerialExecutor {
    private struct State {
        var jobs: [(job: UnownedJob, executor: UnownedSerialExecutor)] = []
        var isOver = false
    }

    private let state = Monitor(State())

    /// Starts the thread; it ends with the executor.
    init(_ name: String) {
        OwnedThread(name: name) { [state] in
            while true {
                let jobs = state.wait { state -> [(UnownedJob, UnownedSerialExecutor)]? in
                    guard !state.jobs.isEmpty || state.isOver else { return nil }
                    defer { state.jobs = [] }
                    return state.jobs
                }
                guard let jobs, !jobs.isEmpty else { return }
                for (job, executor) in jobs { job.runSynchronously(on: executor) }
            }
        }.detach()
    }

    deinit { state.withLock { $0.isOver = true } }

    func enqueue(_ job: consuming ExecutorJob) {
        let entry = (UnownedJob(job), asUnownedSerialExecutor())
        state.withLock { $0.jobs.append(entry) }
    }
}
