import Assembler
import SegmenterRules
import SegmenterTransport

/// Carries a download out: asks, writes, and publishes the file.
struct LiveRunner: DownloadRunner {
    var work: DownloadWork
    /// When the download began, on the monotonic clock.
    private let started: Double
    private var repair: RepairRun?
    private var adoption: AdoptionRun?
    private var attempt: Attempt?

    /// The attempt that is in progress.
    private struct Attempt {
        let output: any Output
        /// Whether the first response begins an HTML page in place of the file; `nil` if unknown.
        let isPageAtStart: Bool?
        /// The last progress of its fetch.
        var reported: DownloadProgress?
    }

    /// Seconds of a download from which on the file may well have changed meanwhile.
    private static let longEnough = 1.0

    init(_ run: DownloadRun, _ probe: Probe, answered: DownloadRun.Answered?, started: Double) {
        self.started = started
        work = DownloadWork(run, probe, answered: answered)
        work.releasesSlot()
    }

    private var job: DownloadJob { work.job }

    /// Runs the download to its end.
    mutating func result() async -> Result<DownloadedFile, DownloadError> {
        defer { work.place?.leave() }
        do throws(DownloadError.Reason) {
            let file = try await run()
            work.target.map { work.folders.keep($0.folder) }
            if job.options.takesOver > .nothing || job.options.continuesExisting,
                let target = work.target
            {
                // The file is complete, whether or not its control file can be removed.
                _ = await Disk.result { () throws(AssemblyError) in
                    try ForeignPart.removeControlFile(of: target)
                }
            }
            work.report(.finished(file))
            return .success(file)
        } catch {
            var reason = await repair?.undo(error) ?? error
            reason = await adoption?.undo(reason) ?? reason
            let written = await work.stream?.end()
            if !job.isRepair { await work.record.removeIfEmpty(work.target) }
            _ = await Disk.result { [folders = work.folders] () throws(AssemblyError) in
                folders.removeEmpty()
            }
            return .failure(work.error(reason, written: written))
        }
    }

    mutating func act(
        _ act: DownloadMachine.Act
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        switch act {
        case .finish:
            if let file = try await finish() { return file }
            work.machine.preparation.takeNothingToFinish()
        case .leave(let file): return left(file)
        case .ask(let first):
            let overlaps = beginsAtOnce
            try await work.ask(first) {
                [run = work.run] (probe, answered) throws(DownloadError.Reason) in
                var asking = probe
                guard !run.asksForWhole else {
                    asking.collects = true
                    asking.answered = answered?.exchange
                    return try await run.inquiry.find(
                        asking, byGet: true, range: answered?.range ?? Probe.smallRange)
                }
                // The plan of a set already states what `HEAD` would.
                guard run.job.options.pin == nil || run.job.options.checksum == nil else {
                    return try await run.inquiry.find(
                        asking, byGet: true, range: Probe.firstByte)
                }
                asking.overlaps = overlaps
                return try await run.inquiry.find(
                    asking, byGet: false,
                    range: overlaps ? Probe.overlappingRange : Probe.firstRange)
            }
        case .publishWhole:
            if let file = try await work.publishWhole(started) { return file }
            work.machine.preparation.takeDeclined()
        case .makeFolder:
            try await work.makeFolder { (folders, path) throws(AssemblyError) in
                try folders.make(path)
                return nil
            }
        case .prepareRepair:
            let (plan, request) = try await work.repairRequest()
            repair = try await RepairRun(plan, for: request, report: work.report)
            work.machine.preparation.takePrepared()
        case .adopt:
            var adoption = adoption
            defer { self.adoption = adoption }
            try await work.adopt { (part, work) throws(DownloadError.Reason) in
                let request = try work.request()
                let run = try await AdoptionRun(part, for: request, report: work.report)
                adoption = run
                work.machine.attempts.samples.adopt(
                    generation: run.generation, decides: request.expected.isEmpty)
            }
        case .enter:
            try await work.place?.enter(&work.primary.finding)
            work.machine.entered()
        case .attempt(.open): try await open()
        case .attempt(.fetch): try await fetch()
        case .attempt(.publish(let size, let isChecked)):
            return try await publish(size, isChecked: isChecked)
        case .attempt(.close(let discards)): try await close(discards: discards)
        }
        return nil
    }

    // MARK: Before the attempts

    /// Publishes what a killed run had completed; returns `nil` if there is nothing of the kind.
    private func finish() async throws(DownloadError.Reason) -> DownloadedFile? {
        try await work.finish { [job, started] (target, isCancelled) throws(AssemblyError) in
            for url in job.urls {
                let file = try Publishing.recover(
                    folder: target.folder, name: target.name, fullURL: url.text,
                    checksum: job.options.checksum,
                    keepManifest: job.options.files.keepManifest, isCancelled: isCancelled)
                guard let file else { continue }
                return DownloadedFile(
                    path: file.path, size: file.size, crc32: file.crc32,
                    verified: file.verified, bytesReceived: 0, bytesResumed: file.size,
                    duration: Duration(seconds: monotonicSeconds() - started))
            }
            return nil
        }
    }

    private func left(_ file: Preparation.Left) -> DownloadedFile {
        DownloadedFile(
            path: file.path, size: file.size, crc32: file.crc32, verified: file.verified,
            bytesReceived: 0, bytesResumed: 0,
            duration: Duration(seconds: monotonicSeconds() - started),
            unchanged: file.why, isSampled: file.isSampled, isDated: file.isDated)
    }

    /// Whether the first bytes are needed in any case, on more than one connection: nothing exists
    /// at the names that are to be expected.
    ///
    /// Credentials that may be wrong are sent only once.
    private var beginsAtOnce: Bool {
        let probe = work.probe
        guard job.connections > 1, !job.keepsPart, !work.machine.preparation.isCompared,
            work.batch == nil, !probe.connecting.permitted(for: probe.url).access.authenticates
        else { return false }
        guard let target = job.expectedTarget(from: probe.url) else { return true }
        guard let folder = try? Folder(target.folder) else { return false }
        return Assembly.isUntouched(target.name, in: folder)
    }

    // MARK: One attempt

    /// Opens the part, or the stream.
    private mutating func open() async throws(DownloadError.Reason) {
        try work.refuseToStartOver()
        let finding = work.primary.finding
        let isPage = finding.isPage(for: work.target, job)
        if job.options.files.refusesHTML, isPage ?? isPageInStream { throw .htmlPage }
        guard let output = try await output() else { return work.machine.foundNoSpace() }
        work.machine.opened(hasStartedOver: output.startedOver != nil)
        work.record.opened(output, for: finding.file)
        work.mirrors?.opened(output)
        reportStart(output)
        attempt = Attempt(output: output, isPageAtStart: isPage)
    }

    /// Whether the response says that a stream is an HTML page; what was sent out cannot be taken
    /// back, so its bytes are not waited for.
    private var isPageInStream: Bool {
        job.isStream && job.isPage(work.primary.finding.file, for: nil, start: nil)
    }

    /// Opens the part, or the stream; returns `nil` if there is no space for a size that only a
    /// `HEAD` has stated.
    private mutating func output() async throws(DownloadError.Reason) -> (any Output)? {
        switch job.destination {
        case .descriptor(let descriptor):
            let (job, primary, attempts) = (job, work.primary, work.machine.attempts)
            return try await work.stream?.open(descriptor, job, primary, attempts)
        case .null: return try await Disk.run { () throws(AssemblyError) in try NullOutput() }
        case .file, .folder: break
        }
        let request = try work.request()
        let result = await Disk.result { [folders = work.folders] () throws(AssemblyError) in
            try folders.open(request)
        }
        if case .failure(.assembly(.noSpace)) = result, !work.primary.finding.isProven {
            return nil
        }
        return try result.get()
    }

    private func reportStart(_ output: any Output) {
        let (file, samples) = (work.primary.finding.file, work.machine.attempts.samples)
        if let reason = output.startedOver { work.report(.notice(.startedOver(reason))) }
        if let problem = (output as? Assembly)?.allocationProblem {
            work.report(.notice(.spaceNotReserved(errno: problem)))
        }
        let isUnverified =
            samples.generation != nil && samples.areNeeded && output.startedOver == nil
            && output.bytesKept > 0
        work.report(
            .started(
                DownloadStart(
                    path: output.destination, size: file.identity.size,
                    resumedBytes: output.bytesKept,
                    connections: file.transfer == .segments
                        ? job.connections(for: file.size) : 1,
                    transfer: file.transfer,
                    identity: isUnverified
                        ? "unverified" : file.identity(with: job.options.checksum),
                    mirrors: work.mirrors?.book.usable.count ?? 1)))
    }

    /// The attempt in progress; each of its steps comes after `open`.
    private func current() -> Attempt {
        guard let attempt else { preconditionFailure("no attempt") }
        return attempt
    }

    /// Downloads until all bytes have arrived or nothing more can be done.
    private mutating func fetch() async throws(DownloadError.Reason) {
        let (attempts, links) = (work.machine.attempts, work.links)
        let link = PrimaryLink(work.primary, links)
        let fetch = FetchRun(
            loop: work.loop,
            setup: Fetch.Setup(
                job, work.primary, attempts, hasLinks: links != nil, set: work.batch?.set
            ) {
                await link.resolve()
            },
            output: current().output, started: started, earlier: attempts.received,
            report: work.report, present: work.run.present)
        let (outcome, last, ledger) = await fetch {
            [primary = work.primary, mirrors = work.mirrors] join in
            await mirrors?.gather(for: primary, join: join)
        }
        work.mirrors?.take(ledger)
        link.apply(to: &work.primary)
        work.primary.finding.firstReply = nil
        attempt?.reported = last
        work.last = last ?? work.last
        work.record.kept = current().output.bytesKept
        work.machine.fetched(
            outcome, received: last?.bytesReceived ?? attempts.received,
            isSurplus: await isSurplus(outcome))
    }

    /// Whether a stream broke because the request exceeded the number that the server serves at a time.
    private func isSurplus(_ outcome: Fetch.Outcome) async -> Bool {
        guard case .streamBroken(let failure, _, let reached) = outcome else { return false }
        return await work.primary.probe.isOverLimit(
            failure, at: work.primary.finding.effective, hadReply: reached > 0)
    }

    /// Closes the part; `discards`: no run can resume it.
    private mutating func close(discards: Bool) async throws(DownloadError.Reason) {
        let output = current().output
        if discards, let assembly = output as? Assembly {
            try await discard(assembly)
        } else {
            try await Disk.run { () throws(AssemblyError) in try output.stop() }
        }
        work.machine.closed()
    }

    private mutating func discard(_ part: Assembly) async throws(DownloadError.Reason) {
        try await Disk.run { () throws(AssemblyError) in try part.discard() }
        work.record.kept = 0
    }

    // MARK: The complete file

    /// Publishes the complete file.
    ///
    /// - Returns: The file; `nil` if the server has another version.
    private mutating func publish(
        _ size: Int64, isChecked: Bool
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        let (output, received) = (current().output, work.machine.attempts.received)
        // All bytes are there: the checks delay no other file of a list.
        let hadPlace = work.place?.leave() ?? false
        if hadPlace { work.batch?.isComplete() }
        // `received` includes the bytes that earlier attempts have received and lost.
        work.record.resumed = job.isStream ? 0 : max(0, size - received)
        if !job.isStream { work.mirrors?.prepareRepair(size: size) }
        let isPage = try await isPage(output)
        if let breach = try await contradiction(of: output, size) {
            await work.contradicted(breach, hadPlace: hadPlace)
            return nil
        }
        let check = isChecked ? nil : try endCheck()
        if var file = try await published(output, size, check) {
            file.isPage = isPage
            return file
        }
        guard let breach = check?.breach else { throw .cancelled }
        await work.contradicted(breach, hadPlace: hadPlace)
        return nil
    }

    /// Whether the complete file is an HTML page in place of the file.
    ///
    /// - Throws: `htmlPage` if the user refuses one.
    private mutating func isPage(
        _ output: any Output
    ) async throws(DownloadError.Reason) -> Bool {
        let file = work.primary.finding.file
        guard let part = output as? Assembly, job.promisesFile(file, for: work.target) else {
            return current().isPageAtStart ?? isPageInStream
        }
        let start = try await Disk.run { () throws(AssemblyError) in
            part.firstBytes(PageForFile.length)
        }
        let isPage = job.isPage(file, for: work.target, start: start)
        if isPage, job.options.files.refusesHTML {
            try await discard(part)
            throw .htmlPage
        }
        return isPage
    }

    /// Starts the request whether the server still offers the complete file; `nil` if a digest decides, the
    /// server was given up for others, hardly any time has passed, or every request may count.
    private func endCheck() throws(DownloadError.Reason) -> EndCheck? {
        let primary = work.primary
        let finding = primary.finding
        guard monotonicSeconds() - started > Self.longEnough, job.destination != .null,
            !primary.probe.asksOnce, !finding.file.isDecoded, try !isShownByDigest()
        else { return nil }
        if let book = work.mirrors?.book, !book.usable.contains(primary.number) { return nil }
        let vouchedDates = work.machine.attempts.samples.vouchedDates
        let turn = Monitor(0.0)
        return EndCheck(turn: turn) {
            await primary.probe.recheck(finding, vouchedDates: vouchedDates, turn: turn)
        } report: { [report = work.report] in
            report(.notice($0))
        }
    }

    /// Whether a digest decides whether the file is right.
    private func isShownByDigest() throws(DownloadError.Reason) -> Bool {
        guard job.options.checksum == nil, work.primary.finding.file.digests.isEmpty else {
            return true
        }
        guard work.target != nil else { return false }
        let request = try work.request()
        return !request.advertised.isEmpty || !request.required.isEmpty
    }

    /// Compares the complete file with the server's once more, if its date changed during the download and its
    /// strong tag did not.
    ///
    /// The sample that confirmed the other date may have been taken while the file was still being written: what
    /// arrived before and after is then of two versions.
    ///
    /// - Returns: What the server contradicts; `nil` if it sends the same, or nothing is compared.
    /// - Throws: `cancelled`, and why the server does not send the bytes.
    private func contradiction(
        of output: any Output, _ size: Int64
    ) async throws(DownloadError.Reason) -> ContractBreach? {
        let (primary, samples) = (work.primary, work.machine.attempts.samples)
        guard let date = samples.datesMidway.max(), try !isShownByDigest() else { return nil }
        let places: [ByteRange]
        let agrees: @Sendable (Extent) -> Bool
        if let part = output as? Assembly {
            places = ResumeSample.places(in: RangeSet(ByteRange(0, size))) {
                .random(in: 0..<1)
            }
            agrees = { part.agrees(with: $0) }
        } else {
            // A stream cannot be read again; its beginning arrived first.
            let first = output.recorded.extents.first
            places = first.map { [$0.range] } ?? []
            agrees = { $0 == first }
        }
        for place in places
        where !(try await primary.agrees(at: place, vouchedDates: samples.vouchedDates, agrees)) {
            return .otherLastModified(
                expected: primary.finding.file.identity.lastModified, got: date)
        }
        return nil
    }

    /// Gives the complete file its name.
    ///
    /// - Returns: The file; `nil` if `check` found another version.
    private mutating func published(
        _ output: any Output, _ size: Int64, _ check: EndCheck?
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        let phase: @Sendable (DownloadProgress.Phase) -> Void = {
            [report = work.report, last = current().reported, started] phase in
            guard var progress = last else { return }
            progress.phase = phase
            progress.elapsed = Duration(seconds: monotonicSeconds() - started)
            report(.progress(progress))
        }
        phase(.verifying)
        let keeping = work.mirrors?.repair?.keeps
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
            work.record.isPublished = assembly.isPublished
        }
        guard let published = try outcome.get() else { return nil }
        if let problem = published.attributesProblem {
            work.report(.notice(.attributesNotWritten(errno: problem)))
        }
        for notice in DownloadNotice.ofPublishing(published) { work.report(.notice(notice)) }
        let attempts = work.machine.attempts
        return DownloadedFile(
            path: published.path, size: published.size, crc32: published.crc32,
            verified: published.verified, bytesReceived: attempts.received,
            bytesResumed: work.record.resumed,
            duration: Duration(seconds: monotonicSeconds() - started),
            isSampled: attempts.samples.areNeeded,
            isSynchronized: published.syncProblem == nil)
    }
}

extension DownloadNotice {
    /// The features that the file system lacked when a file got its name.
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
