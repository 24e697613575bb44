// Beside: what a worker does beside fetching: commands at the ends of tasks, and a machine that does not sleep. It
// knows the queue as a library; it never knows what is typed or printed.

import SeggetQueue

/// What goes with a worker from its start to its end.
struct WorkerCompanions: Sendable {
    /// Seconds that a worker without anything left to do waits for its commands.
    static let patience = 60.0

    let hooks: TaskHooks
    let inhibitor: SleepInhibitor?

    /// Has the queue that is opened with it tell of the ends of its tasks.
    func prepare(_ configuration: inout DownloadQueue.Configuration) {
        guard hooks.areWanted else { return }
        configuration.ended = { [hooks] in hooks.ended($0) }
        configuration.idle = { [hooks] in hooks.idle() }
    }

    /// Keeps the machine awake while a queue fetches; returns when that is shut down.
    func follow(_ queue: DownloadQueue) async {
        guard let inhibitor else { return }
        await inhibitor.follow(await queue.snapshots())
    }

    /// Waits for the commands that are still running; one that takes longer goes on by itself.
    func finish(within seconds: Double = patience) async { await hooks.finish(within: seconds) }
}
