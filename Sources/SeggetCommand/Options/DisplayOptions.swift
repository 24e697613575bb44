import ArgumentParser

/// The options for messages and progress.
package struct DisplayOptions: ParsableArguments {
    /// The kinds of progress display.
    enum Progress: String, CaseIterable, ExpressibleByArgument {
        case auto, bar, plain, none
    }

    @Flag(name: .shortAndLong, help: "Print errors only.")
    package var quiet = false

    @Flag(
        name: .shortAndLong,
        help: "Also print retries, refused responses and details of the server.")
    package var verbose = false

    @Option(
        help: ArgumentHelp(
            "Show progress as a bar, as plain lines, or not at all.",
            discussion: """
                auto shows a bar on a terminal, plain lines elsewhere, and nothing with `--json`. \
                Progress goes to standard error.
                """))
    var progress = Progress.auto

    package init() {}

    package func validate() throws {
        guard !quiet || !verbose else {
            throw ValidationError("`--quiet` and `--verbose` cannot be used together")
        }
    }

    /// The level of detail of messages.
    var detail: DownloadReport.Settings.Detail { quiet ? .errors : verbose ? .all : .normal }

    /// Returns the style of the progress display, which other options may determine.
    package func style(terminal: Terminal, json: Bool) -> ProgressView.Style {
        switch progress {
        case _ where quiet: .none
        case .auto where json: .none
        case .auto: terminal.canRedraw ? .bar : .plain
        case .bar: .bar
        case .plain: .plain
        case .none: .none
        }
    }
}
