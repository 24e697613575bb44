package import ArgumentParser

/// The commands of the queue, which only `segget-manager` has.
///
/// Both programs use this type: `segget` becomes `segget-manager` for these commands, and the
/// commands take their names and abstracts from it.
package enum QueueCommandName: String, CaseIterable, Sendable {
    case add, attach, list, show, start, pause, resume, cancel, retry, remove, clear, move, rename
    case set, tag, settings, run, serve, open

    /// The one-line description of the command.
    package var abstract: String {
        switch self {
        case .add: "Add files to the queue."
        case .attach: "Show the progress of tasks until they have ended."
        case .list: "List the tasks of the queue."
        case .show: "Show all details of a task."
        case .start: "Start tasks immediately, before all others."
        case .pause: "Pause tasks; received bytes are kept."
        case .resume: "Resume tasks that are paused or have failed."
        case .cancel: "Cancel tasks, and delete received bytes."
        case .retry: "Retry tasks without waiting any longer."
        case .remove: "Remove tasks from the queue."
        case .clear: "Remove ended tasks from the list."
        case .move: "Move tasks to another position in the queue."
        case .rename: "Rename or move the file of a task."
        case .set: "Change the options of tasks."
        case .tag: "Add tags to a task, or remove them."
        case .settings: "Show or change the settings of the queue."
        case .run: "Run the queue in the foreground."
        case .serve: "Run the queue as a service, in the background."
        case .open: "Open the service's page in a browser."
        }
    }

    /// The long names, without dashes, of options that only these commands have.
    ///
    /// Other commands ignore them in the configuration file.
    package static let options: Set<String> = [
        "again", "all", "allow-dir", "allow-host", "at", "attach", "deny-private", "detach",
        "file-state", "files", "first", "id", "io-priority", "keep-running", "last", "limit",
        "limit-schedule", "link",
        "links", "log-file", "mark-seen", "max-running", "metered", "nice", "no-browser",
        "no-inhibit",
        "no-store-secrets",
        "offset", "on-idle", "option", "paused", "pid-file", "ping", "recover", "rpc",
        "rpc-allow-origin",
        "rpc-no-secret",
        "rule", "show-secret", "state", "tag", "text", "ui", "unseen", "url", "web",
    ]

    /// The long names of the options that the environment and the configuration file can set.
    ///
    /// `nil` means all options. Commands that change tasks take other options from the command line
    /// only, because settings for downloads must not change tasks of the queue.
    package var settable: Set<String>? {
        switch self {
        case .add, .run, .serve: nil
        case .attach: ["json", "progress", "queue", "quiet", "verbose"]
        default: ["json", "queue"]
        }
    }

    /// Returns the configuration of the command.
    ///
    /// - Parameters:
    ///   - usage: The usage line; `nil` lets the parser derive it from the options.
    ///   - discussion: The text after the abstract.
    /// - Returns: The configuration, with the name and the abstract of this case.
    package func configuration(
        usage: String? = nil, discussion: String = ""
    ) -> CommandConfiguration {
        CommandConfiguration(
            commandName: rawValue, abstract: abstract, usage: usage, discussion: discussion)
    }
}
