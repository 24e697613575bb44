package import ArgumentParser

/// The options of `get` that add the files to a queue.
struct EnqueueOptions: ParsableArguments {
    @Flag(
        help: ArgumentHelp(
            "Add the files to the queue, and show their progress until they have ended.",
            discussion: """
                Same as `segget add --attach`, whose options it accepts. The download continues \
                after Ctrl-C, or when the terminal is closed.
                """))
    var enqueue = false

    @OptionGroup var file: QueueFileOption
}

/// The option for the queue's file.
package struct QueueFileOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The queue's file. (default: $XDG_DATA_HOME/segget/queue.sqlite)",
            discussion: """
                Without `XDG_DATA_HOME`, the default is `~/.local/share/segget/queue.sqlite`. The lock, the \
                secrets and backups of older versions are beside it. Only you can read these files. `get` uses \
                the queue only with `--enqueue`.
                """,
            valueName: "file"),
        completion: .file(extensions: ["sqlite"]), transform: PathArgument.queue)
    package var queue: String?

    package init() {}

    /// The hint for `--queue` as a flag, which it was in earlier versions of `get`.
    static let instead = "use `--enqueue` to add files to the queue with `get`"

    /// The message for `--queue` without a value.
    static let withoutValue = "`--queue` needs the path of the queue's file"

    /// Whether `--queue` is on the command line.
    static func isTyped(in arguments: [String]) -> Bool {
        arguments.prefix { $0 != "--" }.contains { $0 == "--queue" || $0.hasPrefix("--queue=") }
    }

    /// Whether `--queue` is on the command line without a value.
    static func lacksValue(in arguments: [String]) -> Bool {
        for (index, argument) in arguments.prefix(while: { $0 != "--" }).enumerated() {
            if argument == "--queue=" { return true }
            guard argument == "--queue" else { continue }
            guard index + 1 < arguments.count else { return true }
            let next = arguments[index + 1]
            if next.hasPrefix("-"), next != "-" { return true }
        }
        return false
    }
}
