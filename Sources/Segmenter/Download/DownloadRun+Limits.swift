import Assembler

// Limits of size and time.
extension DownloadRun {
    /// Runs the download for as long as it may take.
    func withinTime(
        _ answered: Answered? = nil
    ) async -> Result<DownloadedFile, DownloadError> {
        guard let longest = options.limits.maxTime else { return await self(answered) }
        let isOver = Monitor(false)
        let work = Task { await self(answered) }
        let clock = Task {
            try await Task.sleep(for: .seconds(max(0, longest)))
            isOver.withLock { $0 = true }
            work.cancel()
        }
        let result = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            clock.cancel()
            work.cancel()
        }
        clock.cancel()
        guard case .failure(var error) = result, error.reason == .cancelled,
            isOver.withLock({ $0 })
        else { return result }
        error.reason = .timeIsUp(seconds: longest)
        return .failure(error)
    }

    /// Refuses a file that is larger than it may be.
    ///
    /// - Throws: `tooLarge`.
    func checkSize(_ finding: Probe.Finding) throws(DownloadError.Reason) {
        guard isTooLarge(finding), let most = options.limits.maxSize else { return }
        throw .tooLarge(size: finding.file.size, limit: most)
    }

    /// Refuses a file that is larger than it may be; what a `HEAD` says has to be said by a `GET`.
    ///
    /// - Throws: `tooLarge`, or why there is no answer.
    func checkSize(_ primary: inout Primary) async throws(DownloadError.Reason) {
        guard isTooLarge(primary.finding) else { return }
        if !primary.finding.isProven {
            primary.finding = try await find(
                primary.probe, byGet: true, range: Probe.firstByte, after: primary.finding)
        }
        try checkSize(primary.finding)
    }

    /// Whether what was found is larger than it may be.
    func isTooLarge(_ finding: Probe.Finding) -> Bool {
        guard let size = finding.file.size, let most = options.limits.maxSize else { return false }
        return size > most
    }
}
