/// What holds for a run as a whole.
extension Aria2Settings {
    /// What happens to a download that a command can be run at (`--on-download-…`).
    package enum Hook: String, Sendable, Hashable, CaseIterable {
        case start, pause, stop, complete, error
    }

    /// What is printed, and where.
    package var console: Aria2Console {
        var console = Aria2Console()
        console.isQuiet = options.flag("quiet") ?? console.isQuiet
        console.usesStandardError = options.flag("stderr") ?? console.usesStandardError
        console.showsReadout = options.flag("show-console-readout") ?? console.showsReadout
        console.cutsReadout = options.flag("truncate-console-readout") ?? console.cutsReadout
        console.summaryInterval = number("summary-interval") ?? console.summaryInterval
        console.isHumanReadable = options.flag("human-readable") ?? console.isHumanReadable
        console.hasColour = options.flag("enable-color") ?? console.hasColour
        console.level = choice("console-log-level") ?? console.level
        console.results = choice("download-result") ?? console.results
        console.log = options.text("log")
        console.logLevel = choice("log-level") ?? console.logLevel
        return console
    }

    /// Whether it answers JSON-RPC, and waits for more to do (`--enable-rpc`).
    package var isService: Bool { options.flag("enable-rpc") ?? false }
    /// Whether it goes on in the background (`--daemon`).
    package var isDaemon: Bool { options.flag("daemon") ?? false }
    /// The port of JSON-RPC.
    package var port: Int { number("rpc-listen-port") ?? 6800 }
    /// Whether other machines reach it.
    package var listensToAll: Bool { options.flag("rpc-listen-all") ?? false }
    /// What clients have to know.
    package var secret: String? { options.text("rpc-secret") }
    /// Whether pages of any origin may call.
    package var allowsAllOrigins: Bool { options.flag("rpc-allow-origin-all") ?? false }
    /// Most bytes of a call.
    package var mostRequestBytes: Int? { number("rpc-max-request-size") }

    /// Most downloads at a time; `nil` where it is not given.
    package var jobs: Int? { number("max-concurrent-downloads") }
    /// The list of what to fetch; `-` for standard input.
    package var inputFile: String? { options.text("input-file") }
    /// The file that gets what is unfinished in the end.
    package var saveSession: String? { options.text("save-session") }
    /// Seconds between two times that it is written; `nil` for at the end only.
    package var saveSessionInterval: Int? { positive("save-session-interval") }
    /// Seconds after which the run ends.
    package var stopAfter: Int? { positive("stop") }
    /// The process with which the run ends.
    package var stopWithProcess: Int32? {
        number("stop-with-process").flatMap { Int32(exactly: $0) }
    }
    /// Most bytes per second of all downloads together; 0 for any number.
    package var overallLimit: Int64 { options.number("max-overall-download-limit") ?? 0 }
    /// The commands that are run at what happens to a download.
    package var hooks: [Hook: String] {
        var hooks: [Hook: String] = [:]
        for hook in Hook.allCases { hooks[hook] = options.text("on-download-\(hook.rawValue)") }
        return hooks
    }

    private func number(_ name: String) -> Int? { options.number(name).map { Int(clamping: $0) } }

    private func positive(_ name: String) -> Int? {
        number(name).flatMap { $0 > 0 ? $0 : nil }
    }

    private func choice<Choice: RawRepresentable<String>>(_ name: String) -> Choice? {
        options[name].flatMap { Choice(rawValue: $0) }
    }
}
