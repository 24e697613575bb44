import ArgumentParser

/// How much is shown of downloads, and how.
package struct DisplayOptions: ParsableArguments {
    /// How progress is shown.
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

    /// How much is said in messages.
    var detail: DownloadReport.Settings.Detail { quiet ? .errors : verbose ? .all : .normal }

    /// How progress looks, by what else was asked for.
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
