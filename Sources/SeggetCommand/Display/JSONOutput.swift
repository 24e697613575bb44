import SeggetReports

/// Where the events of `--json` go, until its reader is gone.
package final class JSONOutput {
    private let clock = ContinuousClock()
    private let begun: ContinuousClock.Instant
    private let write: (String) -> Bool
    private var isOpen: Bool

    /// Writes through `write`, which says whether it takes more; nothing at all unless `isOpen`.
    package init(isOpen: Bool, write: @escaping (String) -> Bool) {
        self.isOpen = isOpen
        self.write = write
        begun = clock.now
    }

    /// Seconds since segget started.
    package var elapsed: Double { begun.duration(to: clock.now) / .seconds(1) }

    /// Writes an event; `file` says which of several files it is about, from 1.
    package func emit<Payload: Encodable>(
        _ event: String, _ payload: @autoclosure () -> Payload, file: Int? = nil
    ) {
        guard isOpen else { return }
        let line = JSONLine(event: event, time: elapsed, file: file, payload: payload())
        guard let text = JSONText.line(line) else { return }
        // Whoever read it has gone; the download goes on.
        isOpen = write(text + "\n")
    }
}
