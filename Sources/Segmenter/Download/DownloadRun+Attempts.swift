import Assembler

// Attempts to fetch the file: what is checked before each, and what follows from how it ended.
extension DownloadRun {
    /// Asks on until what was found may be acted on, and settles whether what is there is continued.
    ///
    /// Nothing that is there is thrown away because of a `HEAD` alone, nor because of what a server says
    /// for a moment only.
    func confirm(
        _ primary: inout Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        try await inquiry.checkSize(&primary)
        try await leadBack(&primary, state)
        var check = LossCheck(
            isWary: state.network.isWaitedFor, asksAgain: !primary.probe.asksOnce)
        while let reason = try state.loss(primary) {
            let begun = state.target.flatMap {
                Assembly.headerRecorded(folder: $0.folder, name: $0.name)
            }
            // A sample decides, and nothing is started over without it.
            if reason == .noValidator, begun?.isSampled == true || state.isNewLink(primary) {
                break
            }
            if reason == .otherServer, primary.finding.isProven { break }
            let step = check.step(
                reason, begun: begun.map { ($0.identity, $0.isOneStream ?? false) },
                offered: primary.finding.file, isProven: primary.finding.isProven)
            if step == .accept { break }
            primary.finding = primary.finding.released
            switch step {
            case .accept: break
            case .refuse(let breach): throw .contract(breach)
            case .prove:
                report(.notice(.headUnusable("said that the part cannot be continued")))
            case .askAgain(let failures, let breach):
                if let failures {
                    try await primary.probe.pause(failures, nil, .breach(breach), random: 1)
                }
            }
            primary.finding = try await inquiry.prove(primary)
        }
        if state.attempts.takeRangesIgnored(primary.finding.file) {
            report(.notice(.rangesIgnored))
        }
        try await settleChange(&primary, &state)
        try await state.compareSample(primary, report: report)
    }

    /// Decides how to go on after a change, when there was one: with the version that was begun if it
    /// is offered again, else with the other one, once.
    private func settleChange(
        _ primary: inout Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        let identity = primary.finding.file.identity
        let keepsPart = job.keepsPart || job.isRefreshed(primary.probe.url)
        switch state.attempts.settle(identity, keepsPart: keepsPart) {
        case .goOn: return
        case .end(let reason): throw reason
        case .startOver: break
        }
        if primary.finding.file.transfer == .segments, !primary.probe.asksOnce,
            !(await primary.probe.isConsistent(identity))
        {
            // Servers that disagree: what one of them sends in one reply is one version.
            primary.finding = primary.finding.released
            state.attempts.distrustRanges()
            report(.notice(.serversDisagree))
            primary.finding = try await inquiry.find(primary.probe, byGet: true, range: nil)
        }
        state.attempts.startOver(with: primary.finding.file.identity)
    }

    /// The primary after an attempt that failed.
    ///
    /// - Throws: The failure, when there is none.
    func successor(
        of primary: Primary, after reason: DownloadError.Reason, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        guard let mirrors = state.mirrors else { throw reason }
        let kept = state.record.kept
        let alone = try await state.mirrors?.successor(
            of: primary, after: reason, &state.attempts, kept: kept)
        if let alone { return alone }
        return try await mirrors.next { [state] primary throws(DownloadError.Reason) in
            try state.loses(primary)
        }
    }

    // MARK: One attempt

    /// One attempt with one part.
    ///
    /// - Returns: The file, or `nil` when another attempt is due, with `primary` and `state` set.
    func attempt(
        _ primary: inout Primary, _ started: Double, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        try state.refuseToStartOver(primary)
        let isPageAtStart = primary.finding.isPage(for: state.target, job)
        if job.options.files.refusesHTML, isPageAtStart ?? isPageInStream(primary) {
            throw .htmlPage
        }
        guard let output = try await open(primary, &state) else {
            primary.finding = try await proveSize(primary)
            return nil
        }
        state.attempts.opened(hasStartedOver: output.startedOver != nil)
        state.record.opened(output, for: primary.finding.file)
        state.mirrors?.opened(output)
        reportStart(primary.finding, output, state)
        let earlier = state.attempts.received
        let link = PrimaryLink(primary, links)
        let fetch = FetchRun(
            loop: loop,
            setup: Fetch.Setup(job, primary, state.attempts, hasLinks: links != nil) {
                await link.resolve()
            },
            output: output, started: started, earlier: earlier, report: report,
            present: present)
        let (end, last, ledger) = await fetch { [primary, mirrors = state.mirrors] join in
            await mirrors?.gather(for: primary, join: join)
        }
        state.mirrors?.take(ledger)
        link.apply(to: &primary)
        primary.finding.firstReply = nil
        state.network.last = last ?? state.network.last
        let outcome = await settled(end, primary, state)
        let received = last?.bytesReceived ?? earlier
        state.record.kept = output.bytesKept
        var step = state.attempts.next(
            after: outcome, of: primary.finding.file, received: received,
            policy: primary.probe.policy, isSurplus: await isSurplus(outcome, primary))
        if step == .askForDate {
            step = state.attempts.next(
                after: await stillOffered(primary, outcome), of: primary.finding.file,
                received: received, policy: primary.probe.policy, isDateConfirmed: true)
        }
        let isStream = state.stream.output != nil
        if case .publish(let size, let isChecked) = step {
            // What earlier attempts have brought and lost is in `received`, too.
            state.record.resumed = isStream ? 0 : max(0, size - received)
            if !isStream { state.mirrors?.prepareRepair(size: size) }
            var isPage = isPageAtStart ?? isPageInStream(primary)
            if let assembly = output as? Assembly,
                job.promisesFile(primary.finding.file, for: state.target)
            {
                let start = try await Disk.run { () throws(AssemblyError) in
                    assembly.firstBytes(PageForFile.length)
                }
                isPage = job.isPage(primary.finding.file, for: state.target, start: start)
                if isPage, job.options.files.refusesHTML {
                    try await Disk.run { () throws(AssemblyError) in try assembly.discard() }
                    state.record.kept = 0
                    throw .htmlPage
                }
            }
            var breach = try await contradiction(of: output, size, primary, state)
            if breach == nil {
                let check = isChecked ? nil : try endCheck(primary, started, state)
                if var file = try await publish(output, size, last, started, check, &state) {
                    file.isPage = isPage
                    return file
                }
                breach = check?.breach
            }
            guard let breach else { throw .cancelled }
            guard !isStream else { throw .remoteChanged(breach) }
            step = state.attempts.next(
                after: await settled(.changed(breach), primary, state),
                of: primary.finding.file, received: received,
                policy: primary.probe.policy)
        }
        if case .end(.tooLarge(size: nil, _)) = step, let assembly = output as? Assembly {
            // No run continues a file of unknown size.
            try await Disk.run { () throws(AssemblyError) in try assembly.discard() }
            state.record.kept = 0
        } else if !isStream {
            // What has gone out may be continued yet.
            try await Disk.run { () throws(AssemblyError) in try output.stop() }
        }
        try await carryOut(step, outcome, &primary, &state)
        return nil
    }

    /// Opens what the file is put together in, or goes out through.
    ///
    /// - Returns: `nil` when there is no space for a size that only a `HEAD` has stated: a `GET` is
    ///   to say first.
    private func open(
        _ primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> (any Output)? {
        switch job.destination {
        case .descriptor(let descriptor):
            return try await state.stream.open(descriptor, job, primary, state.attempts)
        case .null: return try await Disk.run { () throws(AssemblyError) in try NullOutput() }
        case .file, .folder: break
        }
        let request = try state.request(primary)
        let result = await Disk.result { [folders] () throws(AssemblyError) in
            try folders.open(request)
        }
        if case .failure(.assembly(.noSpace)) = result, !primary.finding.isProven { return nil }
        return try result.get()
    }

    /// Has a `GET` say a size for which there is no space.
    func proveSize(_ primary: Primary) async throws(DownloadError.Reason) -> Probe.Finding {
        report(.notice(.headUnusable("stated a size for which there is no space")))
        return try await inquiry.prove(primary)
    }

    private func reportStart(
        _ finding: Probe.Finding, _ output: any Output, _ state: DownloadState
    ) {
        if let reason = output.startedOver { report(.notice(.startedOver(reason))) }
        if let problem = (output as? Assembly)?.allocationProblem {
            report(.notice(.spaceNotReserved(errno: problem)))
        }
        let isUnverified =
            state.attempts.samples.generation != nil && state.attempts.samples.areNeeded
            && output.startedOver == nil && output.bytesKept > 0
        let identity =
            isUnverified ? "unverified" : finding.file.identity(with: job.options.checksum)
        report(
            .started(
                DownloadStart(
                    path: output.destination, size: finding.file.identity.size,
                    resumedBytes: output.bytesKept,
                    connections: finding.file.transfer == .segments
                        ? job.connections(for: finding.file.size) : 1,
                    transfer: finding.file.transfer,
                    identity: identity,
                    mirrors: state.mirrors?.book.usable.count ?? 1)))
    }

    /// Asks the server what is to be asked after an attempt, or ends the download.
    private func carryOut(
        _ step: Attempts.Step, _ outcome: Fetch.Outcome, _ primary: inout Primary,
        _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        outcome.notice.map { report(.notice($0)) }
        let question: Attempts.Question
        switch step {
        case .end(let reason): throw reason
        case .publish, .askForDate: return
        case .find(let next): question = next
        case .pause(let failures, let retryAfter, let failure, let next):
            if primary.probe.endsWithNetwork, failure.isNetworkLoss {
                throw .transfer(failure, attempts: failures)
            }
            try await primary.probe.pause(failures, retryAfter, failure)
            question = next
        }
        primary.probe = await withRest(primary.probe, state)
        var asking = primary.probe
        // A host that serves nothing is not asked for long because `HEAD` is fine.
        if question.isBeginning { asking.beginning = inquiry.beginning }
        let finding = primary.finding
        primary.finding = try await inquiry.find(
            asking, byGet: true, range: question.range,
            after: question.earlier == .hint ? finding : nil,
            again: question.earlier == .forgotten ? nil : finding)
        state.attempts.take(primary.finding.file)
    }

    /// Whether a stream broke because the request was one more than the server serves at a time.
    private func isSurplus(_ outcome: Fetch.Outcome, _ primary: Primary) async -> Bool {
        guard case .streamBroken(let failure, _, let reached) = outcome else { return false }
        return await primary.probe.isOverLimit(
            failure, at: primary.finding.effective, hadReply: reached > 0)
    }

    // MARK: The end of the file

    /// Asks once more for the date of a complete file, some of whose bytes came without it.
    ///
    /// Perhaps the server ignores `If-Range`. It is asked in the way in which it stated that date.
    ///
    /// - Returns: What is to be done with the file.
    private func stillOffered(
        _ primary: Primary, _ complete: Fetch.Outcome
    ) async -> Fetch.Outcome {
        let file = primary.finding.file
        let isByHead = file.probedBy == "HEAD" || !file.identity.headOnly.isEmpty
        let method: TransferRequest.Method = isByHead ? .head : .get
        return switch await primary.probe.resolveAgain(file.identity, by: method) {
        case .same: complete
        case .changed(let breach): .changed(breach)
        case .failed(let reason): .failed(reason)
        }
    }

    private func publish(
        _ output: any Output, _ size: Int64, _ last: DownloadProgress?, _ started: Double,
        _ check: EndCheck?, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        let phase: @Sendable (DownloadProgress.Phase) -> Void = { [report] phase in
            guard var progress = last else { return }
            progress.phase = phase
            progress.elapsed = Duration(seconds: monotonicSeconds() - started)
            report(.progress(progress))
        }
        phase(.verifying)
        let keeping = state.mirrors?.repair?.keeps
        let outcome = await withTaskCancellationHandler {
            await Disk.result { () throws(AssemblyError) in
                try output.publish(size: size, keeping: keeping) {
                    phase(.publishing)
                } isCurrent: {
                    check?.passes() ?? true
                }
            }
        } onCancel: {
            output.interrupt()
            check?.cancel()
        }
        check?.cancel()
        if case .failure = outcome, let assembly = output as? Assembly {
            state.record.isPublished = assembly.isPublished
        }
        guard let published = try outcome.get() else { return nil }
        if let problem = published.attributesProblem {
            report(.notice(.attributesNotWritten(errno: problem)))
        }
        for notice in DownloadNotice.ofPublishing(published) { report(.notice(notice)) }
        return DownloadedFile(
            path: published.path, size: published.size, crc32: published.crc32,
            verified: published.verified, bytesReceived: state.attempts.received,
            bytesResumed: state.record.resumed,
            duration: Duration(seconds: monotonicSeconds() - started),
            isSampled: state.attempts.samples.areNeeded,
            isSynchronized: published.syncProblem == nil)
    }
}

extension DownloadNotice {
    /// What the file system did not offer when a file got its name.
    fileprivate static func ofPublishing(_ file: PublishedFile) -> [DownloadNotice] {
        let way: DownloadNotice? =
            switch file.naming {
            case .renamed: nil
            case .linked: .namedByLink
            case .checked: .namedUnguarded
            }
        let mode = file.refused.mode.map { DownloadNotice.modeNotSet(errno: $0) }
        let time = file.refused.time.map { DownloadNotice.timeNotSet(errno: $0) }
        return [way, mode, time].compactMap { $0 }
    }
}

extension Attempts.Question {
    /// The range that is asked for; `nil` for the whole file.
    fileprivate var range: ByteRange? {
        switch extent {
        case .firstByte: Probe.firstByte
        case .firstRange: Probe.firstRange
        case .whole: nil
        }
    }
}
