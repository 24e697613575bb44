package import SeggetReports

/// Where the events of `--json` go, until its reader is gone.
package final class JSONOutput {
    private let clock = ContinuousClock()
    private let begun: ContinuousClock.Instant
    private let write: (String) -> Bool
    /// The format; `nil` without `--json`, and after the reader has closed its end.
    private var format: JSONFormat?

    /// Makes an output of events.
    ///
    /// - Parameters:
    ///   - format: The format; `nil` to write nothing.
    ///   - write: Writes a text; returns `false` if the reader has closed its end.
    package init(_ format: JSONFormat?, write: @escaping (String) -> Bool) {
        self.format = format
        self.write = write
        begun = clock.now
    }

    /// Seconds since segget started.
    package var elapsed: Double { begun.duration(to: clock.now) / .seconds(1) }

    /// Writes an event; `file` says which of several files it is about, from 1.
    package func emit<Payload: Encodable>(
        _ event: String, _ payload: @autoclosure () -> Payload, file: Int? = nil
    ) {
        guard let format else { return }
        let line = JSONLine(event: event, time: elapsed, file: file, payload: payload())
        guard let text = JSONText.line(line, format) else { return }
        // The download continues without a reader.
        if !write(text + "\n") { self.format = nil }
    }
}
