/// The output options of the drop-in for aria2c, with aria2's defaults.
package struct Aria2Console: Sendable, Hashable {
    /// The level of a log line (`--log-level`, `--console-log-level`).
    package enum Level: String, Sendable, Hashable, CaseIterable {
        case debug, info, notice, warn, error
    }

    /// The form of the table of results (`--download-result`).
    package enum Results: String, Sendable, Hashable, CaseIterable {
        case `default`, full, hide
    }

    /// Whether nothing is printed (`--quiet`).
    package var isQuiet = false
    /// Whether output goes to standard error instead of standard output (`--stderr`).
    package var usesStandardError = false
    /// Whether the progress line is printed once a second (`--show-console-readout`).
    package var showsReadout = true
    /// Whether the progress line is truncated to the width of the terminal
    /// (`--truncate-console-readout`).
    package var cutsReadout = true
    /// Seconds between two summaries; 0 for none (`--summary-interval`).
    package var summaryInterval = 60
    /// Whether sizes are printed as `1.1MiB` instead of in bytes (`--human-readable`).
    package var isHumanReadable = true
    /// Whether output to a terminal has colours (`--enable-color`).
    package var hasColour = true
    /// The lowest level of printed lines (`--console-log-level`).
    package var level = Level.notice
    /// The form of the table of results.
    package var results = Results.default
    /// The log file; `-` is standard output, `nil` is no log (`--log`).
    package var log: String?
    /// The lowest level of lines in the log file.
    package var logLevel = Level.debug

    /// Creates aria2's defaults.
    package init() {}
}
