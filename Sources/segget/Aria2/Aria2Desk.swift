import Glibc
import SeggetFormats
import SeggetReports
import Segmenter

/// A report that two tell: whoever reads the events, and a clock that ticks once a second.
actor Aria2Desk {
    private var report: Aria2Report
    private let signal: @Sendable () -> Int32?
    private var isStopping = false

    /// Begins a report; `signal` gives the signal that asked the run to stop, if one has.
    init(_ report: Aria2Report, signal: @escaping @Sendable () -> Int32?) {
        self.report = report
        self.signal = signal
        self.report.start(now: Self.now)
    }

    /// Reports events until there are no more, and meanwhile how far all is.
    ///
    /// - Parameters:
    ///   - events: What happens to the files.
    ///   - ended: Is told of each end of a file, when it has been reported.
    func follow(
        _ events: AsyncStream<BatchEvent>,
        ended: @escaping @Sendable (BatchEvent) -> Void = { _ in }
    ) async {
        let clock = Task {
            // By the clock, and not from one tick to the next: they would drift.
            var next = ContinuousClock.now
            while true {
                next += .seconds(1)
                try await Task.sleep(until: next)
                tick()
            }
        }
        for await event in events {
            hearSignal()
            report.handle(event, now: Self.now)
            if case .ended = event.kind { ended(event) }
        }
        clock.cancel()
    }

    /// Writes a line of the log.
    func log(_ level: Aria2Console.Level, _ text: String) { report.log(level, text, Self.now) }

    /// Reports the end of a file that was never fetched; `place` is its path, or what of its URL may be
    /// shown, `why` what was wrong.
    func conclude(_ index: Int, _ code: Aria2ErrorCode, _ place: String, why: String = "") {
        report.conclude(index, code, place, why: why, now: Self.now)
    }

    /// Reports the end of all.
    ///
    /// - Returns: What the run ends with.
    func finish() -> Int32 { report.finish() }

    private func tick() {
        hearSignal()
        report.tick(now: Self.now)
    }

    private func hearSignal() {
        guard !isStopping, let signal = signal() else { return }
        isStopping = true
        report.stopping(signal: signal, now: Self.now)
    }

    /// Seconds since 1970.
    private static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
