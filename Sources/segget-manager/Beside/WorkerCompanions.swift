// Beside: a worker's other duties: it runs commands when tasks end, and keeps the machine awake.
// This folder uses the queue as a library; it does not know the command line or the output.

import SeggetQueue

/// The duties of a worker from its start to its end.
struct WorkerCompanions: Sendable {
    /// Seconds for which an idle worker waits for its commands before it ends.
    static let patience = 60.0

    let hooks: TaskHooks
    let inhibitor: SleepInhibitor?

    /// Connects the commands to the queue that will be opened with this configuration.
    func prepare(_ configuration: inout DownloadQueue.Configuration) {
        guard hooks.areWanted else { return }
        configuration.ended = { [hooks] in hooks.ended($0) }
        configuration.idle = { [hooks] in hooks.idle() }
    }

    /// Keeps the machine awake during a queue's downloads; returns when the queue is shut down.
    func follow(_ queue: DownloadQueue) async {
        guard let inhibitor else { return }
        await inhibitor.follow(await queue.snapshots())
    }

    /// Waits for running commands; those that take longer continue.
    func finish(within seconds: Double = patience) async { await hooks.finish(within: seconds) }
}
