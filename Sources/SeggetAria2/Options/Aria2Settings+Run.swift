/// The settings of a run as a whole.
extension Aria2Settings {
    /// An event of a download that can run a command (`--on-download-…`).
    package enum Hook: String, Sendable, Hashable, CaseIterable {
        case start, pause, stop, complete, error
    }

    /// The output options.
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

    /// Whether the run serves JSON-RPC and waits for more downloads (`--enable-rpc`).
    package var isService: Bool { options.flag("enable-rpc") ?? false }
    /// Whether the run continues in the background (`--daemon`).
    package var isDaemon: Bool { options.flag("daemon") ?? false }
    /// The port of JSON-RPC.
    package var port: Int { number("rpc-listen-port") ?? 6800 }
    /// Whether JSON-RPC listens on all interfaces.
    package var listensToAll: Bool { options.flag("rpc-listen-all") ?? false }
    /// The secret that clients must send.
    package var secret: String? { options.text("rpc-secret") }
    /// Whether web pages of any origin may use JSON-RPC.
    package var allowsAllOrigins: Bool { options.flag("rpc-allow-origin-all") ?? false }
    /// The maximum size of a JSON-RPC request, in bytes.
    package var mostRequestBytes: Int? { number("rpc-max-request-size") }

    /// The maximum number of active downloads; `nil` if it is not given.
    package var jobs: Int? { number("max-concurrent-downloads") }
    /// The list of files to download; `-` is standard input.
    package var inputFile: String? { options.text("input-file") }
    /// The session file, which records unfinished downloads at the end.
    package var saveSession: String? { options.text("save-session") }
    /// The interval between two writes of the session file, in seconds; `nil` to write only at the
    /// end.
    package var saveSessionInterval: Int? { positive("save-session-interval") }
    /// The time after which the run ends, in seconds.
    package var stopAfter: Int? { positive("stop") }
    /// The ID of the process at whose end the run ends.
    package var stopWithProcess: Int32? {
        number("stop-with-process").flatMap { Int32(exactly: $0) }
    }
    /// The maximum rate of all downloads together, in bytes per second; 0 is no limit.
    package var overallLimit: Int64 { options.number("max-overall-download-limit") ?? 0 }
    /// The commands to run at events of a download.
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
