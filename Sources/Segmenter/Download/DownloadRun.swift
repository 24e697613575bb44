import Assembler
import Glibc

/// One download from its URL to its published file: probe, part, fetch, publish, and what to begin
/// again when one of them says so.
final class DownloadRun: Sendable {
    let loop: TransferLoop
    let job: DownloadJob
    /// What a batch does for it; `nil` for a download that is by itself.
    let batch: BatchContext?
    /// Makes the folders that are missing.
    let folders: FolderMaker
    let report: @Sendable (DownloadEvent) -> Void
    /// What it learns of servers.
    private let memory = DownloadMemory()

    init(
        loop: TransferLoop, urlText: String, url: WebURL?, destination: Destination,
        options: DownloadOptions, isRepair: Bool = false, batch: BatchContext? = nil,
        report: @escaping @Sendable (DownloadEvent) -> Void
    ) {
        self.loop = loop
        job = DownloadJob(
            urlText: urlText, url: url, destination: destination, options: options,
            isRepair: isRepair)
        self.batch = batch
        folders = FolderMaker(options.files.missingFolders, sharing: batch?.folders)
        self.report = report
    }

    /// What asks the server.
    var inquiry: Inquiry { Inquiry(job: job, report: report) }

    /// Runs it to its end; `answered` is what its first request has brought, when it was made already.
    func callAsFunction(_ answered: Answered? = nil) async -> Result<DownloadedFile, DownloadError>
    {
        var state = DownloadState(job, batch: batch, answered: answered)
        defer { state.place.leave() }
        do throws(DownloadError.Reason) {
            let file = try await run(&state)
            state.target.map { folders.keep($0.folder) }
            report(.finished(file))
            return .success(file)
        } catch {
            let reason = await state.repair.undo(error)
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
            policy: RetryPolicy(retries: job.options.retries)
        ) { [report] in report(.notice($0)) }
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

    // MARK: The way

    private func run(_ state: inout DownloadState) async throws(DownloadError.Reason)
        -> DownloadedFile
    {
        let started = state.answered?.began ?? monotonicSeconds()
        var probe = try makeProbe()
        probe.spreads = job.connections > 1
        if job.options.access.isInsecure { report(.notice(.certificatesUnchecked)) }
        var isNameFinal = false
        if case .file(let path) = job.destination {
            state.target = FileTarget(path: path)
            isNameFinal = !job.options.naming.numbersTaken
            if isNameFinal, let file = try await before(&state, started) { return file }
        }
        if let file = try await settleByTime(probe, &state, started) { return file }
        state.mirrors = try MirrorSet(inquiry, probe)
        defer { state.mirrors?.book.cancel() }
        var primary = try await firstPrimary(probe, state)
        state.target =
            state.answered?.named ?? job.target(for: primary.finding.file, from: probe.url)
        state.isNamed = state.answered?.named != nil
        if let body = primary.finding.whole(job.options),
            let file = try await publishWhole(body, primary.finding, probe.url, &state, started)
        {
            return file
        }
        if let target = state.target, folders.makes(target.folder) {
            try await Disk.run { [folders] () throws(AssemblyError) in
                try folders.make(target.folder)
            }
        }
        if !isNameFinal {
            if !state.isNamed { state.target = try await named(state.target) }
            if let file = try await before(&state, started) { return file }
        }
        if let file = try await settle(&primary, &state, started) { return file }
        if case .damaged(let plan)? = state.standing {
            let request = try await intactRequest(plan, &primary, state)
            try await state.repair.prepare(plan, for: request, report: report)
        }
        try await state.place.enter(&primary.finding)
        while true {
            do throws(DownloadError.Reason) {
                try await confirm(&primary, &state)
                if let file = try await attempt(&primary, started, &state) { return file }
            } catch {
                // What it may have left waiting nobody wants.
                primary.finding = primary.finding.released
                primary = try await successor(of: primary, after: error, &state)
            }
        }
    }

    /// The first URL that answers, and tells what it offers.
    private func firstPrimary(
        _ probe: Probe, _ state: DownloadState
    ) async throws(DownloadError.Reason) -> Primary {
        if let mirrors = state.mirrors {
            return try await mirrors.next { [state] primary throws(DownloadError.Reason) in
                try state.loses(primary)
            }
        }
        var asking = probe
        asking.beginning = inquiry.beginning
        guard !asksForWhole else {
            asking.collects = true
            asking.answered = state.answered?.exchange
            let finding = try await inquiry.find(asking, byGet: true, range: Probe.smallRange)
            return Primary(probe: probe, finding: finding)
        }
        asking.overlaps = begins(probe, state)
        let range = asking.overlaps ? Probe.overlappingRange : Probe.firstRange
        return Primary(
            probe: probe, finding: try await inquiry.find(asking, byGet: false, range: range))
    }

    /// Whether the first bytes are wanted for certain, and on more than one connection.
    ///
    /// Nothing stands at the names that are to be expected then. Credentials that may be wrong are shown
    /// once only.
    private func begins(_ probe: Probe, _ state: DownloadState) -> Bool {
        guard job.connections > 1, !job.isRepair, state.standing == nil, batch == nil,
            !probe.connecting.permitted(for: probe.url).access.authenticates
        else { return false }
        guard let target = job.expectedTarget(from: probe.url) else { return true }
        guard let folder = try? Folder(target.folder) else { return false }
        return Assembly.isUntouched(target.name, in: folder)
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
    func named(_ target: FileTarget?) async throws(DownloadError.Reason) -> FileTarget? {
        guard var target else { return nil }
        if let naming = batch?.naming {
            target.name = try await naming(target, job.urls.map(\.text))
            return target
        }
        guard job.options.naming.numbersTaken else { return target }
        let wanted = target
        return try await Disk.run { [job] () throws(AssemblyError) in try job.numbered(wanted) }
    }
}
