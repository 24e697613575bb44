package import Segmenter

/// What became of the files of a batch.
///
/// Pure.
package struct BatchSummary {
    /// Number of files.
    package let count: Int
    /// Files that are complete and checked.
    package private(set) var done = 0
    /// Files that existed, and were neither asked for nor checked.
    package private(set) var skipped = 0
    /// What went wrong with each file that failed, by its place in the list.
    package private(set) var failures: [Int: String] = [:]
    /// What is kept of each file that was stopped, by its place in the list.
    package private(set) var stopped: [Int: String] = [:]
    /// Bytes that came over the network.
    package private(set) var received: Int64 = 0
    /// Stopped files that the next run starts over.
    private var startingOver = 0
    private var worst = ExitStatus.done

    /// Of that many files, none of which has ended.
    package init(count: Int) { self.count = count }

    /// Files that never began.
    package var notStarted: Int { count - there - failures.count - stopped.count }

    /// Files that are at their places.
    private var there: Int { done + skipped }

    /// Takes the end of a file; `received` is what its last progress reported, in bytes.
    package mutating func add(
        _ result: Result<DownloadedFile, DownloadError>, of index: Int, received: Int64,
        signal: Int32?
    ) {
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
            }
        }
    }

    /// What segget ends with: the code of the signal that stopped the run, else that of the worst
    /// failure.
    package func status(signal: Int32?) -> ExitStatus {
        guard there < count else { return .done }
        if let signal, isStopped { return ExitStatus(signal: signal) }
        // 0 means that all files are there.
        return worst == .done ? .stopped : worst
    }

    /// Lines that say it all: numbers first, then a line for each file that is not there.
    package func lines(seconds: Double) -> [String] {
        var counts = ["\(done) of \(Units.count(Int64(count), "file")) done"]
        for (number, what) in [
            (skipped, "skipped"), (failures.count, "failed"), (stopped.count, "stopped"),
            (notStarted, "not started"),
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

    /// What is said when files were stopped; nothing otherwise.
    package func stop(signal: Int32?) -> [Message] {
        guard isStopped else { return [] }
        let cause = signal.map { "by \(Diagnostic.name(ofSignal: $0))" } ?? "after a failure"
        let unfinished = count - there - failures.count
        return [
            Message(
                .error,
                "stopped \(cause): \(Units.count(Int64(unfinished), "file")) of \(count) remaining"),
            Message(.hint, "run the same command again to \(nextRun)"),
        ]
    }

    /// What the next run does with the files that were stopped.
    private var nextRun: String {
        guard startingOver > 0 else { return "resume" }
        guard startingOver < stopped.count || notStarted > 0 else { return "start over" }
        let files = Units.count(Int64(startingOver), "file")
        return "resume; \(files) \(startingOver == 1 ? "starts" : "start") over"
    }

    private var isStopped: Bool { !stopped.isEmpty || notStarted > 0 }
}
