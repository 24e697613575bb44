import Assembler

// What a part is given up for: not for a reply or two.
extension DownloadRun {
    /// Asks on until the finding may be acted on: nothing that is there is thrown away because of a
    /// `HEAD` alone, nor because of what a server says for a moment only.
    func confirm(
        _ finding: inout Probe.Finding, _ probe: Probe, _ state: inout State
    ) async throws(DownloadError.Reason) {
        var check = LossCheck()
        while let reason = try loss(finding, probe, state) {
            let begun = state.target.flatMap {
                Assembly.headerRecorded(folder: $0.folder, name: $0.name)
            }
            let step = check.step(
                reason, begun: begun.map { ($0.identity, $0.isOneStream ?? false) },
                offered: finding.file, isProven: finding.isProven)
            if step == .accept { break }
            finding = finding.released
            switch step {
            case .accept: break
            case .refuse(let breach): throw .contract(breach)
            case .prove:
                report(.notice(.headUnusable("said that the part cannot be continued")))
            case .askAgain(let failures, let breach):
                if let failures { try await probe.pause(failures, nil, .breach(breach), random: 1) }
            }
            finding = try await find(probe, byGet: true, range: Probe.firstByte, after: finding)
        }
        if state.attempts.takeRangesIgnored(finding.file) { report(.notice(.rangesIgnored)) }
        try await settle(&finding, probe, &state)
    }

    /// Why what is there would be lost, if this finding were acted on.
    private func loss(
        _ finding: Probe.Finding, _ probe: Probe, _ state: State
    ) throws(DownloadError.Reason) -> StartOverReason? {
        // That is decided already.
        guard !state.attempts.isRangeless else { return nil }
        guard state.target == nil else { return try loss(request(finding, probe.url, state)) }
        guard let stream = state.stream, !stream.recorded.covered.isEmpty else { return nil }
        return stream.identity.obstacle(toStreaming: finding.file.identity)
    }

    /// Asks once more for the date of a complete file, some of whose bytes came without it.
    ///
    /// Perhaps the server ignores `If-Range`. It is asked in the way in which it told that date.
    ///
    /// - Returns: What is to be done with the file.
    func stillOffered(_ primary: Primary, _ complete: Fetch.Outcome) async -> Fetch.Outcome {
        let file = primary.finding.file
        let isByHead = file.probedBy == "HEAD" || !file.identity.headOnly.isEmpty
        let method: TransferRequest.Method = isByHead ? .head : .get
        return switch await primary.probe.resolveAgain(file.identity, by: method) {
        case .same: complete
        case .changed(let breach): .changed(breach)
        case .failed(let reason): .failed(reason)
        }
    }

    /// Decides how to go on after a change, when there was one: with the version that was begun if it
    /// is offered again, else with the other one, once.
    private func settle(
        _ finding: inout Probe.Finding, _ probe: Probe, _ state: inout State
    ) async throws(DownloadError.Reason) {
        switch state.attempts.settle(finding.file.identity, isRepair: isRepair) {
        case .goOn: return
        case .end(let reason): throw reason
        case .startOver: break
        }
        if finding.file.plan == .segments, !(await probe.isConsistent(finding.file.identity)) {
            // Servers that disagree: what one of them sends in one reply is one version.
            finding = finding.released
            state.attempts.distrustRanges()
            report(.notice(.serversDisagree))
            finding = try await find(probe, byGet: true, range: nil)
        }
        state.attempts.startOver(with: finding.file.identity)
    }
}
