// Download: one file from its URL to its name. It knows in which order one file is looked for,
// asked for, fetched and published, and what is begun again; it never knows how a request is made,
// nor how bytes get to the disk.

import Assembler
import Glibc

/// One download from its URL to its published file, or what it would do.
///
/// ``Plan`` and ``Attempts`` decide what is to be done.
final class DownloadRun: Sendable {
    let loop: TransferLoop
    let job: DownloadJob
    /// What a batch does for it; `nil` for a download that is by itself.
    let batch: BatchContext?
    /// Makes the folders that are missing.
    let folders: FolderMaker
    let report: @Sendable (DownloadEvent) -> Void
    /// Where what it fetches is found; `nil` where nobody asks.
    let present: PresentFetch?
    /// What it learns of servers.
    private let memory: DownloadMemory
    /// Gets new links; `nil` where nobody gives any.
    let links: LinkRefresher?

    init(
        loop: TransferLoop, urlText: String, url: WebURL?, destination: Destination,
        options: DownloadOptions, isRepair: Bool = false, refreshURL: RefreshURL? = nil,
        batch: BatchContext? = nil, present: PresentFetch? = nil, jars: CookieJars? = nil,
        parts: BegunParts = BegunParts(),
        report: @escaping @Sendable (DownloadEvent) -> Void
    ) {
        self.loop = loop
        job = DownloadJob(
            urlText: urlText, url: url, destination: destination, options: options,
            isRepair: isRepair, parts: parts)
        links = refreshURL.map { LinkRefresher($0, report: report) }
        memory = DownloadMemory(
            validators: loop.validators, cookies: jars?.cookies(of: options, url) ?? CookieMemory())
        self.batch = batch
        self.present = present
        folders = FolderMaker(options.files, sharing: batch?.folders)
        self.report = report
    }

    /// What asks the server.
    var inquiry: Inquiry { Inquiry(job: job, report: report) }

    /// Runs it to its end; `answered` is what its first request has brought, when it was made already.
    func callAsFunction(_ answered: Answered? = nil) async -> Result<DownloadedFile, DownloadError>
    {
        var state = DownloadState(
            job, batch: batch, answered: answered, refreshesLinks: links != nil)
        defer { state.place.leave() }
        do throws(DownloadError.Reason) {
            let file = try await run(&state)
            state.target.map { folders.keep($0.folder) }
            if job.options.takesOver > .nothing || job.options.continuesExisting,
                let target = state.target
            {
                // The file is complete, whether or not what described it before can be removed.
                _ = await Disk.result { () throws(AssemblyError) in
                    try ForeignPart.removeControlFile(of: target)
                }
            }
            report(.finished(file))
            return .success(file)
        } catch {
            let reason = await state.adoption.undo(await state.repair.undo(error))
            var written: Int64?
            if case .descriptor = job.destination { written = await state.stream.end() }
            if !job.isRepair { await state.record.removeIfEmpty(state.target) }
            _ = await Disk.result { [folders] () throws(AssemblyError) in folders.removeEmpty() }
            return .failure(state.error(reason, written: written))
        }
    }

    /// A probe of the URL, after the options have been checked.
    func makeProbe() throws(DownloadError.Reason) -> Probe {
        let url = try job.checkedURL()
        var probe = Probe(
            loop: loop, url: url, connecting: .init(job.options, url: url, memory: memory),
            policy: RetryPolicy(
                retries: job.options.retries, least: job.options.retryWait.inSeconds)
        ) { [report] in report(.notice($0)) }
        probe.asksOnce = job.options.singleRequest
        if case .folder = job.destination { probe.wantsName = !job.options.naming.usesURL }
        return probe
    }

    /// Runs the download for as long as it may take.
    func withinTime(
        _ answered: Answered? = nil
    ) async -> Result<DownloadedFile, DownloadError> {
        guard let longest = job.options.limits.maxTime else { return await self(answered) }
        let isOver = Monitor(false)
        let work = Task { await self(answered) }
        let clock = Task {
            try await Task.sleep(for: max(.zero, longest))
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
        error.reason = .timeIsUp(after: longest)
        return .failure(error)
    }

    /// Finds out what this download would do.
    ///
    /// Asks the server for no more than a probe does, and for the sample of `resumeUnverified`; writes
    /// nothing.
    func preview() async -> Result<DownloadPreview, DownloadError> {
        var state = DownloadState(job, batch: batch)
        state.network.isWaitedFor = false
        do throws(DownloadError.Reason) {
            return .success(try await follow(PreviewCarrier(run: self), makeProbe(), &state))
        } catch {
            return .failure(state.error(error))
        }
    }

    // MARK: The way

    /// How the file gives up its slot; `nil` where nobody waits for one, or its other URLs are asked as well.
    private func slotRelease(_ state: DownloadState) -> Probe.SlotRelease? {
        guard job.options.mirrors.isEmpty else { return nil }
        if job.options.endsToRest { return .ends }
        return batch.map { batch in
            .stepsAside { [place = state.place] origin, delay in
                await place.leaving { await batch.stepAside(origin, delay) }
            }
        }
    }

    private func run(
        _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadedFile {
        let started = state.answered?.began ?? monotonicSeconds()
        var probe = try makeProbe()
        probe.spreads = job.connections > 1
        probe.slotRelease = slotRelease(state)
        if job.options.access.isInsecure { report(.notice(.certificatesUnchecked)) }
        return try await follow(RunCarrier(run: self, started: started), probe, &state)
    }

    /// Goes the way of the plan, and then makes attempts to fetch the file until one of them ends it.
    private func follow<Carrier: PlanCarrier>(
        _ carrier: Carrier, _ probe: Probe, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Carrier.End {
        if case .file(let path) = job.destination { state.target = FileTarget(path: path) }
        defer { state.mirrors?.book.cancel() }
        while state.plan.next != .probe {
            if let end = try await take(state.plan.next, carrier, probe, &state) { return end }
        }
        var primary = try await firstPrimary(carrier, probe, &state)
        while state.plan.next != .fetch {
            do throws(DownloadError.Reason) {
                if let end = try await take(state.plan.next, carrier, &primary, &state) {
                    return end
                }
            } catch {
                try await wait(for: primary, after: error, &state)
            }
        }
        try await carrier.enter(&primary, &state)
        while true {
            do throws(DownloadError.Reason) {
                try await confirm(&primary, &state)
                if let end = try await carrier.attempt(&primary, &state) { return end }
            } catch {
                // What it may have left waiting nobody wants.
                primary.finding = primary.finding.released
                primary = try await goOn(after: error, from: primary, &state)
            }
        }
    }

    /// The first URL that answers, and what it offers.
    ///
    /// Where an earlier run's part is continued, the download has begun already.
    private func firstPrimary<Carrier: PlanCarrier>(
        _ carrier: Carrier, _ probe: Probe, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        guard state.network.isWaitedFor else { return try await ask(carrier, probe, &state) }
        var probe = probe
        probe.endsWithNetwork = await job.isContinued()
        var primary: Primary
        if probe.endsWithNetwork {
            primary = try await askUntilBack(carrier, probe, &state)
        } else if job.options.waitsForNetworkFirst {
            probe.endsWithoutRoute = true
            primary = try await askWhenThereIsARoute(carrier, probe, &state)
            primary.probe.endsWithoutRoute = false
        } else {
            primary = try await ask(carrier, probe, &state)
        }
        primary.probe.endsWithNetwork = true
        return primary
    }

    /// Asks every URL for the first time, and takes what the primary offers.
    func ask<Carrier: PlanCarrier>(
        _ carrier: Carrier, _ probe: Probe, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        state.mirrors?.book.cancel()
        let probe = await withRest(probe, state)
        state.mirrors = probe.asksOnce ? nil : try MirrorSet(inquiry, probe)
        let primary = try await firstPrimary(probe, &state) {
            [state] () async throws(DownloadError.Reason) -> Primary in
            guard let mirrors = state.mirrors else {
                return Primary(probe: probe, finding: try await carrier.ask(probe, state))
            }
            return try await mirrors.next { primary throws(DownloadError.Reason) in
                try state.loses(primary)
            }
        }
        state.target =
            state.answered?.named ?? job.target(for: primary.finding.file, from: probe.url)
        // A new link may have another name, and a reply to the rest need not repeat it.
        let isRest = probe.rest != nil && primary.finding.file.transfer == .segments
        if isRest || job.isRefreshed(primary.probe.url), let begun = await job.begunTarget() {
            state.target = begun
        }
        if state.answered?.named != nil { state.plan.takeName() }
        state.plan.take(Plan.Offer(primary, isWhole: primary.finding.whole(job.options) != nil))
        state.network.hasAnswered = true
        return primary
    }

    /// Takes a step that needs no answer of the server's.
    ///
    /// - Returns: The end, if this is it.
    private func take<Carrier: PlanCarrier>(
        _ step: Plan.Step, _ carrier: Carrier, _ probe: Probe, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Carrier.End? {
        switch step {
        case .finish:
            if let end = try await finish(carrier, state.target) { return end }
            state.plan.takeNothingToFinish()
        case .survey: try await survey(&state)
        case .seekExisting:
            state.plan.take(existing: try await existing(job.expectedTarget(from: probe.url)))
        case .askIfModified:
            guard let file = state.plan.dated else { preconditionFailure("nothing to compare") }
            state.plan.take(isUnmodified: try await inquiry.isUnmodified(file, probe))
        case .leave(let file): return carrier.leave(file)
        case .refuse(let reason, let doubt):
            if let doubt { report(.notice(.notFinished(doubt))) }
            throw reason
        case .probe, .publishWhole, .makeFolder, .chooseName, .prove, .compareSample,
            .checkContent, .compareDigest, .prepareRepair, .adopt, .replace, .fetch:
            preconditionFailure("taken elsewhere")
        }
        return nil
    }

    /// Takes a step that comes after the first answer.
    ///
    /// - Returns: The end, if this is it.
    private func take<Carrier: PlanCarrier>(
        _ step: Plan.Step, _ carrier: Carrier, _ primary: inout Primary,
        _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> Carrier.End? {
        switch step {
        case .publishWhole:
            if let end = try await carrier.publishWhole(primary, &state) { return end }
            state.plan.takeDeclined()
        case .makeFolder:
            guard let folder = state.target?.folder else { preconditionFailure("no target") }
            var parent: String?
            if folders.makes(folder) {
                parent = try await Disk.run { () throws(AssemblyError) in
                    try carrier.makeFolder(folder)
                }
            }
            state.plan.take(missingFolderIn: parent)
        case .chooseName:
            state.target = try await named(state.target, Plan.Offer(primary))
            state.plan.takeName()
        case .prove:
            primary.finding = try await inquiry.prove(primary)
            state.plan.take(Plan.Offer(primary))
        case .compareSample:
            guard let file = state.survey?.file, let target = state.target else {
                preconditionFailure("nothing to compare")
            }
            var isSame = try await primary.agrees(with: file)
            if isSame, state.plan.mayBeUnwritten {
                isSame = try await primary.agreesInBlanks(of: target, file)
            }
            state.plan.take(isSampleSame: isSame)
        case .checkContent:
            guard let file = state.survey?.file else { preconditionFailure("nothing to check") }
            state.plan.take(try await file.checkedContent())
        case .prepareRepair:
            guard let plan = state.survey?.repair else { preconditionFailure("nothing damaged") }
            let request = try await intactRequest(plan, &primary, state)
            try await carrier.prepare(plan, for: request, &state)
            state.plan.takePrepared()
        case .adopt: try await adopt(carrier, primary, &state)
        case .compareDigest(let digest):
            guard let file = state.survey?.file else { preconditionFailure("nothing to compare") }
            let content = try await Disk.runUntilCancelled {
                (isCancelled: () -> Bool) throws(AssemblyError) -> Plan.Content?? in
                let content = file.content(like: digest, isCancelled)
                return content == nil && isCancelled() ? nil : .some(content)
            }
            state.plan.take(stated: content)
        case .replace(let doubt):
            if let target = state.target {
                try await Disk.run { () throws(AssemblyError) in
                    try ForeignPart.checkUnused(target)
                }
            }
            if let doubt { report(.notice(.notFinished(doubt))) }
            state.plan.takeReplaced()
        case .finish, .survey, .seekExisting, .askIfModified, .probe, .leave, .refuse, .fetch:
            return try await take(step, carrier, primary.probe, &state)
        }
        return nil
    }

    private func finish<Carrier: PlanCarrier>(
        _ carrier: Carrier, _ target: FileTarget?
    ) async throws(DownloadError.Reason) -> Carrier.End? {
        guard let target else { preconditionFailure("no target") }
        return try await Disk.runUntilCancelled {
            [folders] (isCancelled: () -> Bool) throws(AssemblyError) -> Carrier.End?? in
            if try folders.parent(ofMissing: target.folder) != nil { return .some(nil) }
            return .some(try carrier.finish(target, isCancelled))
        }
    }

    private func survey(_ state: inout DownloadState) async throws(DownloadError.Reason) {
        guard let target = state.target else { preconditionFailure("no target") }
        let survey = try await Disk.runUntilCancelled {
            [folders, job] (isCancelled: () -> Bool) throws(AssemblyError) -> Survey? in
            if try folders.parent(ofMissing: target.folder) != nil {
                return Survey(sight: .nothing)
            }
            return try Survey.look(at: target, for: job, isCancelled)
        }
        state.survey = survey
        if let doubt = state.plan.take(survey.sight) { report(.notice(.notFinished(doubt))) }
    }

    /// What is asked of the part that a repair makes; what a `HEAD` alone has against it a `GET` is to say.
    private func intactRequest(
        _ plan: RepairPlan, _ primary: inout Primary, _ state: DownloadState
    ) async throws(DownloadError.Reason) -> Assembly.Request {
        let request = try state.request(primary)
        guard plan.obstacle(to: request) != nil, !primary.finding.isProven else { return request }
        primary.finding = try await inquiry.prove(primary)
        return try state.request(primary)
    }

    /// The target with its final name.
    ///
    /// That is, where it was asked for, the first of the numbered names that is free, or that an
    /// earlier run of the same URL has begun; of several files each one has a name of its own.
    ///
    /// What stands there and may count for the download keeps its name.
    func named(
        _ target: FileTarget?, _ offer: Plan.Offer
    ) async throws(DownloadError.Reason) -> FileTarget? {
        guard var target else { return nil }
        let wanted = target
        var keeps = false
        if job.options.naming.numbersTaken {
            keeps = try await Disk.run { [job] () throws(AssemblyError) in
                job.mayTakeOver(wanted, offer)
            }
        }
        if let naming = batch?.naming {
            target.name = try await naming(target, job.urls.map(\.text), keeps)
            return target
        }
        guard job.options.naming.numbersTaken, !keeps else { return target }
        return try await Disk.run { [job] () throws(AssemblyError) in try job.numbered(wanted) }
    }
}
