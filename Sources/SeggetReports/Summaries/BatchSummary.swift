package import Segmenter

/// The counts, failures and exit code of a batch.
///
/// Pure.
package struct BatchSummary {
    /// Number of files.
    package let count: Int
    /// The number of files of a set that were complete before the run; `nil` for a list.
    package private(set) var complete: Int?
    /// The number of files that this run has completed and verified.
    package private(set) var done = 0
    /// The number of existing files that were skipped: neither requested nor checked.
    package private(set) var skipped = 0
    /// The error message of each failed file, by its index in the list.
    package private(set) var failures: [Int: String] = [:]
    /// The URL and kept bytes of each stopped file, by its index in the list.
    package private(set) var stopped: [Int: String] = [:]
    /// The number of bytes received from the network.
    package private(set) var received: Int64 = 0
    /// The number of stopped files that the next run starts over.
    private var startingOver = 0
    /// The failed files that may succeed later, by their index in the list.
    private var failedForNow: Set<Int> = []
    /// The number of files that stay, although they are not the planned versions.
    private var kept = 0
    private var worst = ExitStatus.done

    /// Creates an empty summary.
    ///
    /// - Parameters:
    ///   - count: The number of files.
    ///   - complete: For a set, the number of those that are complete already.
    package init(count: Int, complete: Int? = nil) {
        (self.count, self.complete) = (count, complete)
    }

    /// Adds a file of a set that stays although it is not the planned version; `status` is the exit
    /// code for it.
    package mutating func keep(_ message: String, as status: ExitStatus = .cannotCreate) {
        kept += 1
        failures[-kept] = message
        worst = worst.worse(status)
    }

    /// Records the number of complete files of a set to which other processes have contributed.
    ///
    /// - Parameter all: The number of all complete files.
    package mutating func settle(complete all: Int) {
        done = min(done, all)
        complete = all - done
    }

    /// The number of failed files that may succeed later.
    package var later: Int { failedForNow.count }

    /// The number of files that were never started.
    package var notStarted: Int { count - there - failures.count - stopped.count }

    /// The number of files that exist at their destinations.
    private var there: Int { done + skipped + (complete ?? 0) }

    /// Adds the result of a file, in place of that of an earlier try; `received` is the byte count
    /// of its last progress report.
    package mutating func add(
        _ result: Result<DownloadedFile, DownloadError>, of index: Int, received: Int64,
        signal: Int32?
    ) {
        failures[index] = nil
        failedForNow.remove(index)
        switch result {
        case .success(let file):
            if file.unchanged == .skipped { skipped += 1 } else { done += 1 }
            self.received += file.bytesReceived
        case .failure(let error):
            self.received += received
            let diagnostic = Diagnostic(error, signal: signal)
            worst = worst.worse(diagnostic.status)
            if error.reason == .cancelled {
                let kept = diagnostic.kept ?? "nothing"
                let outlook = diagnostic.outlook.map { "; \($0)" } ?? ""
                if error.startsOver != nil { startingOver += 1 }
                stopped[index] = "\(Diagnostic.quote(error.url)), kept: \(kept)\(outlook)"
            } else {
                failures[index] = diagnostic.message
                if FailureRule(error).maySucceedLater { failedForNow.insert(index) }
            }
        }
    }

    /// Returns the exit code: that of the signal that stopped the run, otherwise that of the worst
    /// failure.
    ///
    /// For a set, it is 75 if each failed file may succeed later.
    package func status(signal: Int32?) -> ExitStatus {
        guard there < count else { return .done }
        if let signal, isStopped { return ExitStatus(signal: signal) }
        if complete != nil, later == failures.count { return .stopped }
        // 0 would mean that all files exist.
        return worst == .done ? .stopped : worst
    }

    /// Returns the summary: a line with the counts, then a line for each failed or stopped file.
    package func lines(seconds: Double) -> [String] {
        let ready = done + (complete ?? 0)
        var counts = ["\(ready) of \(Units.count(Int64(count), "file")) done"]
        let outlook =
            complete != nil && later > 0
            ? later == failures.count ? " (may succeed later)" : " (\(later) may succeed later)"
            : ""
        for (number, what) in [
            (skipped, "skipped"), (failures.count, "failed\(outlook)"),
            (stopped.count, "stopped"), (notStarted, "not started"),
        ] where number > 0 {
            counts.append("\(number) \(what)")
        }
        let rate = seconds > 0 ? Double(received) / seconds : 0
        return [
            "\(counts.joined(separator: ", ")); \(Units.size(received)) in "
                + "\(Units.elapsed(seconds)), \(Units.speed(rate))"
        ] + Self.inOrder(failures, "failed") + Self.inOrder(stopped, "stopped")
    }

    private static func inOrder(_ files: [Int: String], _ what: String) -> [String] {
        files.sorted { $0.key < $1.key }.map { "  \(what): \($0.value)" }
    }

    /// Returns the messages about stopped files; empty if there are none.
    package func stop(signal: Int32?) -> [Message] {
        guard isStopped else { return [] }
        let cause = signal.map { "by \(Diagnostic.name(ofSignal: $0))" } ?? "after a failure"
        let unfinished = count - there - failures.count
        return [
            Message(
                .error,
                "stopped \(cause): \(unfinished) of \(Units.count(Int64(count), "file")) remaining"),
            Message(.hint, "run the same command again to \(nextRun)"),
        ]
    }

    /// Whether the next run resumes or starts over, as text.
    private var nextRun: String {
        guard startingOver > 0 else { return "resume" }
        guard startingOver < stopped.count || notStarted > 0 else { return "start over" }
        let files = Units.count(Int64(startingOver), "file")
        return "resume; \(files) \(startingOver == 1 ? "starts" : "start") over"
    }

    private var isStopped: Bool { !stopped.isEmpty || notStarted > 0 }
}
