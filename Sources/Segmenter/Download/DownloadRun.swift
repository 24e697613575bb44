import Assembler
import Glibc

/// One download from its URL to its published file: probe, part, fetch, publish, and what to begin
/// again when one of them says so.
final class DownloadRun: Sendable {
    /// Times that a download starts over because the remote file changed.
    static let restartLimit = 1

    let loop: TransferLoop
    let urlText: String
    /// The URL, if it is one.
    let url: WebURL?
    let destination: Destination
    let options: DownloadOptions
    /// Whether a file is repaired: only what its manifest vouches for is completed.
    let isRepair: Bool
    /// What a batch does for it; `nil` for a download that is by itself.
    let batch: BatchContext?
    /// The folders that it makes, or its batch.
    let folders: MadeFolders
    let report: @Sendable (DownloadEvent) -> Void
    /// What it learns of servers.
    private let memory = DownloadMemory()

    init(
        loop: TransferLoop, urlText: String, url: WebURL?, destination: Destination,
        options: DownloadOptions, isRepair: Bool = false, batch: BatchContext? = nil,
        report: @escaping @Sendable (DownloadEvent) -> Void
    ) {
        self.loop = loop
        self.urlText = urlText
        self.url = url
        self.destination = destination
        self.options = options
        self.isRepair = isRepair
        self.batch = batch
        folders = batch?.folders ?? MadeFolders()
        self.report = report
    }

    /// Where the file goes.
    struct Target: Sendable {
        var folder: String
        var name: String
    }

    /// What changes from one attempt to the next.
    struct State {
        var target: Target?
        /// Whether the target's name is the final one.
        var isNamed = false
        /// What its first request has brought, when it was made already.
        var answered: Answered?
        /// Whether it has taken one of the batch's places for files that are fetched in segments.
        var hasEntered = false
        /// A file that stands at the destination, and may turn out to be the one that is wanted.
        var standing: Standing?
        /// The repair whose part was made.
        var prepared: RepairPlan?
        /// Whether what stands there may be replaced, although `overwrite` was not asked for.
        var mayReplace = false
        var startOver: StartOverReason?
        /// The generation of a part that is continued because a sample of it was the same.
        var sampled: String?
        /// Dates with which the same strong tag came, and a sample was the same.
        var vouchedDates: Set<String> = []
        /// Whether a sample, and not the validator, holds the file together.
        var isSampled = false
        var restarts = 0
        /// The version that was being fetched when a reply told of another, and what it told.
        var change: (before: RemoteIdentity, breach: ContractBreach)?
        /// Times in a row, without a byte of the file between them, that the server took back what
        /// would have cost what is there.
        var takenBack = 0
        /// Whether the server has told of several versions.
        var isDoubted = false
        /// Whether its first ranges contradicted what it had told.
        var hasContradicted = false
        /// Whether ranges came without the date that the version is known by.
        var isUndated = false
        /// Whether the last fetch ended because ranges were ignored.
        var wereRangesIgnored = false
        /// Whether the file is asked for whole from now on.
        var isRangeless = false
        /// Times in a row without progress that the single stream broke: they lengthen the pause.
        var streamBreaks = 0
        /// Those of them that were not one request too many: they are bounded.
        var streamFailures = 0
        var streamReached: Int64 = 0
        var received: Int64 = 0
        var resumed: Int64 = 0
        var kept: Int64 = 0
        /// Where a download to a descriptor goes.
        var stream: StreamOutput?
        /// The full URL that its bytes come from.
        var streamURL: String?
        /// Whether this run has opened a part: what is in it from then on is its own.
        var hasBegun = false
        /// Which part it opened last.
        var generation: String?
        /// Whether the file has its name, whatever failed then.
        var isPublished = false
        /// What broke the attempt before.
        var setback: DownloadError.Reason?
        /// Where the file has several URLs.
        var mirroring: Mirroring?
    }

    /// Runs it to its end; `answered` is what its first request has brought, when it was made already.
    func callAsFunction(_ answered: Answered? = nil) async -> Result<DownloadedFile, DownloadError>
    {
        var state = State()
        state.answered = answered
        state.hasEntered = batch?.isBegun ?? false
        defer { if state.hasEntered { batch?.gate.leave() } }
        do throws(DownloadError.Reason) {
            let file = try await run(&state)
            state.target.map { folders.keep($0.folder) }
            report(.finished(file))
            return .success(file)
        } catch {
            let reason = await undoRepair(state, error)
            let written = await endStream(state)
            await tidyUp(state)
            return .failure(failure(reason, state, written: written))
        }
    }

    /// The error with what is known beside it.
    func failure(
        _ reason: DownloadError.Reason, _ state: State, written: Int64? = nil
    ) -> DownloadError {
        var kept = state.kept
        if kept == 0, let target = state.target {
            kept = Assembly.bytesRecorded(folder: target.folder, name: target.name)
        }
        var error = DownloadError(
            reason: reason, url: url?.redacted ?? "",
            path: state.target.map { Assembly.path(of: $0.name, in: $0.folder) }
                ?? state.stream?.destination,
            bytesKept: kept, bytesWritten: written, mirrors: state.mirroring?.book.failed ?? [])
        error.isPublished = state.isPublished
        error.isLinkExpired =
            reason.isRefusal
            && url.flatMap(LinkExpiry.init)?.isOver(now: secondsSince1970()) == true
        return error
    }

    /// A probe of the URL, after the options have been checked.
    func makeProbe() throws(DownloadError.Reason) -> Probe {
        let url = try Self.usable(url, urlText)
        for header in options.headers {
            do throws(HeaderSyntaxError) {
                try DownloadOptions.check(header: header)
            } catch {
                throw .invalidHeader(error)
            }
        }
        if let file = options.caCertificate, access(file, R_OK) != 0 {
            throw .certificateFile(path: file)
        }
        do throws(AccessProblem) {
            try options.access.check()
        } catch {
            throw .access(error)
        }
        var probe = Probe(
            loop: loop, url: url, connecting: .init(options, url: url, memory: memory),
            policy: RetryPolicy(retries: options.retries)
        ) { [report] in report(.notice($0)) }
        if case .folder = destination { probe.wantsName = !options.naming.usesURL }
        return probe
    }

    /// A text that is no URL, without what may be a secret in it.
    static func redactedGuess(_ text: String) -> String {
        guard !text.contains("@") else { return "(not shown: it may hold a password)" }
        return String(text.prefix { $0 != "?" && $0 != "#" })
    }

    // MARK: The way

    private func run(_ state: inout State) async throws(DownloadError.Reason) -> DownloadedFile {
        let started = state.answered?.began ?? monotonicSeconds()
        var probe = try makeProbe()
        probe.spreads = connections > 1
        if options.access.isInsecure { report(.notice(.certificatesUnchecked)) }
        var isNameFinal = false
        if case .file(let path) = destination {
            state.target = Self.split(path)
            isNameFinal = !options.naming.numbersTaken
            if isNameFinal, let file = try await before(&state, probe.url, started) { return file }
        }
        if let file = try await settleByTime(probe, &state, started) { return file }
        state.mirroring = try makeBook(probe).map { Mirroring(book: $0) }
        defer { state.mirroring?.book.cancel() }
        var primary = try await firstPrimary(probe, state)
        do throws(DownloadError.Reason) {
            state.target = state.answered?.named ?? target(primary.finding, probe)
            state.isNamed = state.answered?.named != nil
            if let body = wholeBody(primary.finding),
                let file = try await publishWhole(body, primary.finding, probe.url, &state, started)
            {
                return file
            }
            try await makeFolder(state.target)
            if !isNameFinal, state.isNamed {
                if let file = try await before(&state, probe.url, started) { return file }
            } else if !isNameFinal {
                state.target = try await named(state, probe.url)
                if let file = try await before(&state, probe.url, started) { return file }
            }
            if let file = try await settle(&primary.finding, primary.probe, &state, started) {
                return file
            }
            if isRepair { try await prepareRepair(&primary.finding, primary.probe, &state) }
            try await enter(&state, &primary.finding)
            while true {
                do throws(DownloadError.Reason) {
                    try await checkSize(&primary)
                    primary.finding = try await confirmed(primary.finding, primary.probe, &state)
                    try await compareSample(primary, &state)
                    if let file = try await attempt(&primary, started, &state) { return file }
                } catch {
                    primary = try await successor(of: primary, after: error, &state)
                }
            }
        } catch {
            primary.finding.paused.map { loop.drop($0.transfer) }
            throw error
        }
    }

    /// One attempt with one part.
    ///
    /// - Returns: The file, or `nil` when another attempt is due, with `primary` and `state` set.
    private func attempt(
        _ primary: inout Primary, _ started: Double, _ state: inout State
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        let probe = primary.probe
        var finding: Probe.Finding {
            get { primary.finding }
            set { primary.finding = newValue }
        }
        if isRepair { try refuseToStartOver(request(finding, probe.url, state)) }
        guard let assembly = try await open(finding, probe, &state) else {
            report(.notice(.headUnusable("told a size for which there is no space")))
            finding = try await find(probe, byGet: true, range: Probe.firstByte, after: finding)
            return nil
        }
        state.startOver = nil
        state.hasBegun = true
        state.generation = (assembly as? Assembly)?.generation
        state.mirroring?.opened(assembly)
        if let reason = assembly.startedOver {
            // What was compared was of another version.
            (state.vouchedDates, state.isSampled) = ([], false)
            report(.notice(.startedOver(reason)))
        }
        if let problem = (assembly as? Assembly)?.allocationProblem {
            report(.notice(.spaceNotReserved(errno: problem)))
        }
        report(.started(start(finding, assembly, state)))
        let earlier = state.received
        var (outcome, last, ledger) = await fetch(primary, assembly, started, state)
        if case .complete(_, isUndated: true, _) = outcome {
            state.isUndated = true
            outcome = await stillOffered(primary, outcome)
        }
        if case .complete(_, _, let vouched) = outcome {
            state.isSampled = state.isSampled || !vouched.isSubset(of: state.vouchedDates)
            state.vouchedDates.formUnion(vouched)
        }
        state.mirroring?.take(ledger)
        finding.paused = nil
        state.received = last?.bytesReceived ?? state.received
        state.kept = assembly.bytesKept
        if case .complete(let size, let isUndated, _) = outcome {
            state.resumed = state.stream == nil ? size - (state.received - earlier) : 0
            let repair = state.stream == nil ? repair(size: size, state) : nil
            state.mirroring?.repair = repair
            let check = isUndated ? nil : try endCheck(primary, started, state)
            let file = try await publish(assembly, size, last, started, check, &state)
            if let file { return file }
            guard let breach = check?.breach else { throw .cancelled }
            guard state.stream == nil else { throw .remoteChanged(breach) }
            outcome = .changed(breach)
        }
        if case .failed(.tooLarge(size: nil, _)) = outcome, let assembly = assembly as? Assembly {
            // No run continues a file of unknown size.
            try await onDisk { () throws(AssemblyError) in try assembly.discard() }
            state.kept = 0
        } else if state.stream == nil, !outcome.isComplete {
            // What has gone out may be continued yet.
            try await close(assembly)
        }
        state.setback = outcome.setback
        if state.received > earlier { state.takenBack = 0 }
        switch outcome {
        case .complete: break
        case .cancelled: throw .cancelled
        case .failed(let reason): throw reason
        case .contradictsProbe:
            (state.isDoubted, state.hasContradicted) = (true, true)
            report(.notice(.headUnusable(Probe.contradicted)))
            var asking = probe
            // A host that serves nothing is not asked for long because `HEAD` is fine.
            if state.received == 0 { asking.beginning = beginning }
            finding = try await find(asking, byGet: true, after: finding, again: finding)
        case .mayBePart:
            report(.notice(.replyRefused(.contentRangeUnusable(nil))))
            state.isRangeless = true
            finding = try await find(probe, byGet: true, range: nil)
        case .rangesIgnored:
            state.wereRangesIgnored = true
            // One that serves the first range only is not believed for ever.
            state.isRangeless = state.takenBack >= Self.takeBackLimit
            state.takenBack += 1
            finding = try await find(
                probe, byGet: true, range: state.isRangeless ? nil : Probe.firstByte, again: finding
            )
        case .changed(let breach):
            state.isDoubted = true
            // Who does so from the start may take it back less often.
            if state.hasContradicted { state.takenBack += 1 }
            state.change = (finding.file.identity, breach)
            // Where ranges do not tell their version, another one is fetched in one reply.
            state.isRangeless = state.isUndated
            finding = try await find(
                probe, byGet: true, range: state.isRangeless ? nil : Probe.firstRange,
                again: finding)
        case .streamBroken(let failure, let retryAfter, let reached):
            let isOneTooMany = await probe.isOneTooMany(
                failure, at: finding.effective, hadReply: reached > 0)
            if reached > state.streamReached { (state.streamFailures, state.streamBreaks) = (0, 0) }
            state.streamBreaks += 1
            if !isOneTooMany { state.streamFailures += 1 }
            state.streamReached = max(reached, state.streamReached)
            // What cannot be decoded is the same again.
            var isHopeless = false
            if case .breach(.contentCoding) = failure { isHopeless = finding.file.isDecoded }
            guard probe.policy.allows(state.streamFailures), !isHopeless else {
                if case .breach(let breach) = failure { throw .contract(breach) }
                throw .transfer(failure, attempts: state.streamFailures)
            }
            try await probe.pause(state.streamBreaks, retryAfter, failure)
            let before = finding.file.identity
            finding = try await find(
                probe, byGet: true, range: state.isRangeless ? nil : Probe.firstRange,
                again: finding)
            // Ranges continue it where they are served by now.
            if reached > 0, finding.file.plan != .segments,
                before.obstacle(toContinuingWith: finding.file.identity)?.change == nil
            {
                state.startOver = .streamBroken
            }
        }
        return nil
    }
}
