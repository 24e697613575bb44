/// What a run in aria2's manner prints, and where: its options of output, with aria2's defaults.
package struct Aria2Console: Sendable, Hashable {
    /// From which level on a line of the log is written (`--log-level`, `--console-log-level`).
    package enum Level: String, Sendable, Hashable, CaseIterable {
        case debug, info, notice, warn, error
    }

    /// What the table at the end shows (`--download-result`).
    package enum Results: String, Sendable, Hashable, CaseIterable {
        case `default`, full, hide
    }

    /// Whether nothing is printed (`--quiet`).
    package var isQuiet = false
    /// Whether what would go to standard output goes to standard error (`--stderr`).
    package var usesStandardError = false
    /// Whether the line that says how far all is comes once a second (`--show-console-readout`).
    package var showsReadout = true
    /// Whether that line is cut to the width of the terminal (`--truncate-console-readout`).
    package var cutsReadout = true
    /// Seconds between two summaries; 0 for none (`--summary-interval`).
    package var summaryInterval = 60
    /// Whether sizes are printed as `1.1MiB`, not in bytes (`--human-readable`).
    package var isHumanReadable = true
    /// Whether a terminal gets colours (`--enable-color`).
    package var hasColour = true
    /// From which level on lines are printed (`--console-log-level`).
    package var level = Level.notice
    /// What the table at the end shows.
    package var results = Results.default
    /// The file that the log goes to; `-` is standard output, `nil` none (`--log`).
    package var log: String?
    /// From which level on lines go to the log.
    package var logLevel = Level.debug

    /// Makes aria2's defaults.
    package init() {}
}
