package import SeggetReports

/// The output of the events of `--json`, until its reader closes it.
package final class JSONOutput {
    private let clock = ContinuousClock()
    private let begun: ContinuousClock.Instant
    private let write: (String) -> Bool
    /// The format; `nil` without `--json`, and after the reader has closed its end.
    private var format: JSONFormat?

    /// Creates an output through `write`, which returns whether it accepts more.
    ///
    /// Without `isOpen`, nothing is written.
    package init(_ format: JSONFormat?, write: @escaping (String) -> Bool) {
        self.format = format
        self.write = write
        begun = clock.now
    }

    /// The seconds since the output was created, at the start of the run.
    package var elapsed: Double { begun.duration(to: clock.now) / .seconds(1) }

    /// Writes an event; `file` is the number of the file among several, from 1.
    package func emit<Payload: Encodable>(
        _ event: String, _ payload: @autoclosure () -> Payload, file: Int? = nil
    ) {
        guard let format else { return }
        let line = JSONLine(event: event, time: elapsed, file: file, payload: payload())
        guard let text = JSONText.line(line, format) else { return }
        // If the reader has closed the output, the download continues without it.
        if !write(text + "\n") { self.format = nil }
    }
}
