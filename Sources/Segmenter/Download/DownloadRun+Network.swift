import Assembler

// A network that is away, and is waited for.
extension DownloadRun {
    /// Asks the first question until the network is there, as an earlier run's part is continued.
    func askUntilBack<Carrier: PlanCarrier>(
        _ carrier: Carrier, _ probe: Probe, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        let known = await job.begunPart().map {
            Probe.Known(identity: $0.identity, hasRanges: $0.isOneStream != true)
        }
        while true {
            var before = state
            before.answered = nil
            do throws(DownloadError.Reason) {
                let primary = try await ask(carrier, probe, &state)
                // A page in place of the part must not even name the file.
                let offered = primary.finding.file.identity
                // A new link may lead elsewhere: there, it is no page in place of the file.
                guard let known, !job.options.continuesOtherURL,
                    known.identity.obstacle(toContinuingWith: offered) != nil,
                    await probe.canary(known) == .occupied
                else { return primary }
                before.mirrors = state.mirrors
                state = before
                try await waitOut(probe, known, cause: nil, isOccupied: true, &state)
            } catch {
                state.answered = nil
                try await wait(for: probe, known, after: error, &state)
            }
        }
    }

    /// Asks the first question of a download of which nothing is there; as long as there is no route to any of its
    /// servers, that is waited for.
    func askWhenThereIsARoute<Carrier: PlanCarrier>(
        _ carrier: Carrier, _ probe: Probe, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        while true {
            do throws(DownloadError.Reason) {
                return try await ask(carrier, probe, &state)
            } catch {
                guard error.isNetworkLoss, await !hasRoute(probe, state) else { throw error }
                state.answered = nil
                try await waitOut(
                    probe, nil, cause: error.transferFailure, endsWithRoute: true, &state)
            }
        }
    }

    /// Whether there is a route to any server of the file.
    private func hasRoute(_ probe: Probe, _ state: DownloadState) async -> Bool {
        for probe in [probe] + (state.mirrors?.book.probes ?? []) {
            if await probe.hasRoute() { return true }
        }
        return false
    }

    /// Asks what is offered now of the version that is being fetched.
    ///
    /// - Parameters:
    ///   - primary: Where it comes from.
    ///   - mirrors: Those of several URLs that were in use before the network was lost.
    ///   - state: What the download knows.
    /// - Returns: The primary with what it offers now.
    /// - Throws: Why there is no answer.
    func askAgain(
        _ primary: Primary, mirrors: [Int], _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        state.mirrors?.book.revive(mirrors)
        var primary = primary
        primary.probe = await withRest(primary.probe, state)
        let isSegmented = primary.finding.file.transfer == .segments
        let range = isSegmented ? Probe.firstByte : Probe.firstRange
        primary.finding = try await inquiry.find(
            primary.probe, byGet: true, range: state.attempts.isRangeless ? nil : range,
            again: primary.finding)
        state.attempts.take(primary.finding.file)
        return primary
    }

    /// How a fetch has ended, after a look whether another version is not a login page: nothing that is
    /// there is given up for one.
    func settled(
        _ outcome: Fetch.Outcome, _ primary: Primary, _ state: DownloadState
    ) async -> Fetch.Outcome {
        guard state.network.isWaitedFor, case .changed(let breach) = outcome,
            await primary.probe.canary(Probe.Known(primary.finding.file)) == .occupied
        else { return outcome }
        return .failed(.contract(breach))
    }

    /// Waits until the network is back, when it is that.
    ///
    /// - Parameters:
    ///   - primary: Where the file comes from.
    ///   - reason: Why the download cannot go on.
    ///   - cause: What has led to that.
    ///   - state: What the download knows.
    /// - Throws: The reason, when it is something else; `cancelled`.
    func wait(
        for primary: Primary, after reason: DownloadError.Reason,
        or cause: DownloadError.Reason? = nil, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        let isCause = !reason.isNetworkLoss && cause?.isNetworkLoss == true
        do throws(DownloadError.Reason) {
            try await wait(
                for: primary.probe, Probe.Known(primary.finding.file),
                after: isCause ? cause ?? reason : reason, &state)
        } catch {
            if error == .cancelled { throw error }
            throw reason
        }
    }

    private func wait(
        for probe: Probe, _ known: Probe.Known?, after reason: DownloadError.Reason,
        _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        guard state.network.isWaitedFor, probe.endsWithNetwork,
            // A server that answers canaries and brings nothing else is no network that is away.
            state.network.needless(at: state.attempts.received) <= probe.policy.retries
        else { throw reason }
        guard !reason.isNetworkLoss else {
            try await waitOut(probe, known, cause: reason.transferFailure, &state)
            return
        }
        // Perhaps somebody else answers in place of the server.
        guard reason.mayBePortal else { throw reason }
        let end = await probe.canary(known)
        guard end != .back else { throw reason }
        try await waitOut(probe, known, cause: nil, isOccupied: end == .occupied, &state)
    }

    /// Waits until a canary meets the server, or with `endsWithRoute` anybody, and then at the latest until there is
    /// a route to it.
    ///
    /// - Throws: `cancelled`.
    private func waitOut(
        _ probe: Probe, _ known: Probe.Known?, cause: TransferFailure?, isOccupied: Bool = false,
        endsWithRoute: Bool = false, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        let watch = NetworkWatch()
        var isOccupied = isOccupied
        // One that stalls may as well be the server's doing.
        var isNeeded = isOccupied || cause?.isStall != true
        var refusals = 0
        let others = state.mirrors?.book.probes.filter { $0.url.text != probe.url.text } ?? []
        var wait = state.network.begin(
            NetworkWatch.now, date: secondsSince1970(), after: cause,
            received: state.attempts.received)
        report(
            .notice(.waitingForNetwork(since: Int64(state.network.since.date), cause: cause)))
        if isOccupied { report(.notice(.networkOccupied)) }
        if let moment = state.network.waiting { report(.progress(moment)) }
        waiting: while true {
            guard !Task.isCancelled else { throw .cancelled }
            switch wait.next(NetworkWatch.now) {
            case .rest(let due, let listensFrom):
                let wake = await watch.wait(until: due, listeningFrom: listensFrom)
                if wake == .changed { wait.changed(NetworkWatch.now) }
            case .canary(let listensFrom):
                watch.forget()
                let end = await canary([probe] + others, known, watch, listensFrom)
                refusals = end == .refused ? refusals + 1 : 0
                // Portals refuse, too; whoever does so again and again is the server.
                guard end != .back, refusals <= probe.policy.retries else { break waiting }
                isNeeded = true
                if endsWithRoute, let end {
                    // The ordinary rules are for whoever answers, and for a server that does not.
                    if end != .nothing { break waiting }
                    if await hasRoute(probe, state) { break waiting }
                }
                if end == .occupied, !isOccupied {
                    isOccupied = true
                    report(.notice(.networkOccupied))
                }
                if end == nil {
                    wait.changed(NetworkWatch.now)
                } else {
                    wait.failed(NetworkWatch.now)
                }
            }
        }
        state.network.end(wait, isNeeded: isNeeded)
        let away = max(0, NetworkWatch.now.boot - state.network.since.boot)
        report(.notice(.networkIsBack(after: Duration(seconds: away))))
    }

    /// Sends a canary to each URL of the file.
    ///
    /// - Returns: What they have met, the best of it; `nil` when a change of routes made them void.
    private func canary(
        _ probes: [Probe], _ known: Probe.Known?, _ watch: NetworkWatch, _ listensFrom: Double
    ) async -> Probe.CanaryEnd? {
        await withTaskGroup(of: Probe.CanaryEnd?.self) { group in
            for probe in probes { group.addTask { await probe.canary(known) } }
            group.addTask {
                _ = await watch.wait(until: .infinity, listeningFrom: listensFrom)
                return nil
            }
            var ends: Set<Probe.CanaryEnd> = []
            for _ in probes {
                guard let end = await group.next() ?? nil else {
                    group.cancelAll()
                    return nil
                }
                ends.insert(end)
                if end == .back { break }
            }
            group.cancelAll()
            return [.back, .occupied, .refused].first(where: ends.contains) ?? .nothing
        }
    }
}

extension TransferFailure {
    /// Whether nothing came for the stall timeout.
    fileprivate var isStall: Bool { if case .stalled = self { true } else { false } }
}

extension DownloadError.Reason {
    /// Whether it looks as if the network was away.
    package var isNetworkLoss: Bool {
        // Its interface may be.
        self == .access(.unusable(.interface)) || transferFailure?.isNetworkLoss == true
    }

    /// What became of the last request, if it is that.
    fileprivate var transferFailure: TransferFailure? {
        if case .transfer(let failure, _) = self { failure } else { nil }
    }

    /// Whether somebody may have answered in place of the server.
    fileprivate var mayBePortal: Bool {
        switch self {
        case .untrusted, .unsafeRedirect, .tooManyRedirects, .contract, .remoteChanged,
            .notContinued, .transfer(.breach, _):
            true
        default: false
        }
    }
}
