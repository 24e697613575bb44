package import ArgumentParser

/// The commands about the queue, which only `segget-manager` has.
///
/// What stands here is known to both programs: `segget` knows by it whom to hand over to, and the
/// commands describe themselves with it.
package enum QueueCommandName: String, CaseIterable, Sendable {
    case add, attach, list, show, start, pause, resume, cancel, retry, remove, clear, move, rename
    case set, tag, settings, run, serve, open

    /// What it does, in a line.
    package var abstract: String {
        switch self {
        case .add: "Put files into the queue."
        case .attach: "Show how tasks get on, until they have ended."
        case .list: "List the tasks of the queue."
        case .show: "Show all that is known of a task."
        case .start: "Start tasks at once, before all others."
        case .pause: "Pause tasks; what has arrived is kept."
        case .resume: "Let tasks go on that are held or have failed."
        case .cancel: "Give tasks up, and remove what has arrived."
        case .retry: "Try tasks again without waiting any longer."
        case .remove: "Take tasks out of the queue."
        case .clear: "Take tasks that have ended out of the list."
        case .move: "Move tasks to another place in the queue."
        case .rename: "Give the file of a task another name or place."
        case .set: "Change how tasks are fetched."
        case .tag: "Put tags on tasks, or take them off."
        case .settings: "Show or change what holds for the whole queue."
        case .run: "Work the queue in the foreground."
        case .serve: "Work the queue as a service, in the background."
        case .open: "Show the service's page in a browser."
        }
    }

    /// The long names of options that only these commands have, without dashes: in a configuration
    /// file, the others pass them over.
    package static let options: Set<String> = [
        "again", "all", "allow-dir", "allow-host", "at", "attach", "deny-private", "detach",
        "files", "first", "id", "io-priority", "keep-running", "last", "limit-schedule", "link",
        "links", "log-file", "mark-seen", "max-running", "metered", "nice", "no-browser",
        "no-inhibit",
        "no-store-secrets",
        "on-idle", "option", "paused", "pid-file", "ping", "recover", "rpc", "rpc-allow-origin",
        "rpc-no-secret",
        "rule", "show-secret", "state", "tag", "text", "ui", "unseen", "url", "watch", "web",
    ]

    /// The long names of the options that the environment and the configuration file can set; `nil`
    /// for all.
    ///
    /// Where a command changes tasks, which of them and how is typed: what is set for downloads must
    /// not reach what stands in the queue.
    package var settable: Set<String>? {
        switch self {
        case .add, .run, .serve: nil
        case .attach: ["json", "progress", "queue", "quiet", "verbose"]
        default: ["json", "queue"]
        }
    }

    /// What a command says of itself.
    ///
    /// - Parameters:
    ///   - usage: How it is typed; `nil` for what follows from its options.
    ///   - discussion: What is to be known beyond the abstract.
    /// - Returns: Its configuration, with the name and the abstract from here.
    package func configuration(
        usage: String? = nil, discussion: String = ""
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: rawValue, abstract: abstract, usage: usage, discussion: discussion)
    }
}
