import Assembler

// What a part is given up for: not for a reply or two.
extension DownloadRun {
    /// Times that a server is asked again, after 0.5, 1 and 2 s, before what is there is given up
    /// because of what it says.
    private static let lossChecks = 3
    /// Times in a row, without a byte of the file between them, that it may take that back.
    static let takeBackLimit = 3

    /// A finding that may be acted on: nothing that is there is thrown away because of a `HEAD` alone,
    /// nor because of what a server says for a moment only.
    func confirmed(
        _ finding: Probe.Finding, _ probe: Probe, _ state: inout State
    ) async throws(DownloadError.Reason) -> Probe.Finding {
        var finding = finding
        var asked = 0
        while let reason = try loss(finding, probe, state) {
            let header = state.target.flatMap {
                Assembly.headerRecorded(folder: $0.folder, name: $0.name)
            }
            let begun = header?.identity
            // A sample of the part decides.
            if begun?.isDoubted(by: finding.file.identity) == true { break }
            // That is no news, then: one other reply is enough, and it need not be waited for.
            let isExpected = reason == .noRanges && header?.isOneStream ?? false
            let checks = isExpected ? 1 : Self.lossChecks
            let breach = asked < checks ? reason.breach(begun) : nil
            guard !finding.isProven || breach != nil else {
                try refuseReplacement(of: begun, by: finding, reason)
                break
            }
            finding.paused.map { loop.drop($0.transfer) }
            finding.paused = nil
            if !finding.isProven {
                report(.notice(.headUnusable("said that the part cannot be continued")))
            } else if let breach {
                asked += 1
                if !isExpected { try await probe.pause(asked, nil, .breach(breach), random: 1) }
            }
            finding = try await find(probe, byGet: true, range: Probe.firstByte, after: finding)
        }
        if state.wereRangesIgnored, finding.file.plan != .segments {
            report(.notice(.rangesIgnored))
        }
        state.wereRangesIgnored = false
        return try await settled(finding, probe, &state)
    }

    /// Why what is there would be lost, if this finding were acted on.
    private func loss(
        _ finding: Probe.Finding, _ probe: Probe, _ state: State
    ) throws(DownloadError.Reason) -> StartOverReason? {
        // That is decided already.
        guard !state.isRangeless else { return nil }
        guard state.target == nil else { return try loss(request(finding, probe.url, state)) }
        guard let stream = state.stream, !stream.recorded.covered.isEmpty else { return nil }
        return stream.identity.obstacle(toStreaming: finding.file.identity)
    }

    /// Refuses to give up a part whose version is known by a strong validator for a reply of another
    /// size with no validator and without ranges: that is rather a login or error page.
    private func refuseReplacement(
        of begun: RemoteIdentity?, by finding: Probe.Finding, _ reason: StartOverReason
    ) throws(DownloadError.Reason) {
        let file = finding.file
        guard case .sizeChanged(let was, let now) = reason, begun?.strongValidator != nil,
            file.plan != .segments, file.etag == nil, file.lastModified == nil
        else { return }
        finding.paused.map { loop.drop($0.transfer) }
        throw .contract(.otherSize(expected: was, got: now))
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
    private func settled(
        _ finding: Probe.Finding, _ probe: Probe, _ state: inout State
    ) async throws(DownloadError.Reason) -> Probe.Finding {
        guard let (before, breach) = state.change else { return finding }
        state.change = nil
        var finding = finding
        var isAnother: Bool {
            before.obstacle(toContinuingWith: finding.file.identity) != nil
        }
        if !isAnother, state.takenBack < Self.takeBackLimit {
            state.takenBack += 1
            return finding
        }
        state.restarts += 1
        guard state.restarts <= Self.restartLimit, !isRepair else {
            finding.paused.map { loop.drop($0.transfer) }
            throw .remoteChanged(breach)
        }
        if finding.file.plan == .segments, !(await probe.isConsistent(finding.file.identity)) {
            // Servers that disagree: what one of them sends in one reply is one version.
            finding.paused.map { loop.drop($0.transfer) }
            finding.paused = nil
            state.isRangeless = true
            report(.notice(.serversDisagree))
            finding = try await find(probe, byGet: true, range: nil)
        }
        state.startOver = isAnother ? .changedMidway : nil
        return finding
    }
}

extension StartOverReason {
    /// What of the server's replies this is about, so that asking again may bring another answer.
    ///
    /// - Parameter begun: The version of the part.
    /// - Returns: `nil` when asking again is of no use.
    fileprivate func breach(_ begun: RemoteIdentity?) -> ContractBreach? {
        if self == .noValidator, begun?.strongValidator != nil {
            return .otherLastModified(expected: begun?.lastModified, got: nil)
        }
        return self == .noRanges ? .wholeFileForRange : change
    }

    /// The change of the remote file that is in the way; `nil` when it is something else.
    var change: ContractBreach? {
        switch self {
        case .sizeChanged(let was, let now): .otherSize(expected: was, got: now)
        case .etagChanged(let was, let now): .otherETag(expected: was, got: now)
        case .lastModifiedChanged(let was, let now): .otherLastModified(expected: was, got: now)
        default: nil
        }
    }
}
