import Assembler
import Glibc

/// One download from its URL to its published file: probe, part, fetch, publish, and what to begin
/// again when one of them says so.
final class DownloadRun: Sendable {
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
    typealias Target = FileTarget

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
        /// What earlier attempts have shown.
        var attempts = Attempts()
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
            path: state.target?.path ?? state.stream?.destination,
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
            state.target = Target(path: path)
            isNameFinal = !options.naming.numbersTaken
            if isNameFinal, let file = try await before(&state, probe.url, started) { return file }
        }
        if let file = try await settleByTime(probe, &state, started) { return file }
        state.mirroring = try makeBook(probe).map { Mirroring(book: $0) }
        defer { state.mirroring?.book.cancel() }
        var primary = try await firstPrimary(probe, state)
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
                try await confirm(&primary.finding, primary.probe, &state)
                try await compareSample(primary, &state)
                if let file = try await attempt(&primary, started, &state) { return file }
            } catch {
                // What it may have left waiting nobody wants.
                primary.finding = primary.finding.released
                primary = try await successor(of: primary, after: error, &state)
            }
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
        state.attempts.opened(hasStartedOver: assembly.startedOver != nil)
        state.hasBegun = true
        state.generation = (assembly as? Assembly)?.generation
        state.mirroring?.opened(assembly)
        if let reason = assembly.startedOver { report(.notice(.startedOver(reason))) }
        if let problem = (assembly as? Assembly)?.allocationProblem {
            report(.notice(.spaceNotReserved(errno: problem)))
        }
        report(.started(start(finding, assembly, state)))
        let earlier = state.attempts.received
        let (outcome, last, ledger) = await fetch(primary, assembly, started, state)
        state.mirroring?.take(ledger)
        finding.firstReply = nil
        let received = last?.bytesReceived ?? earlier
        state.kept = assembly.bytesKept
        var step = state.attempts.next(
            after: outcome, of: finding.file, received: received, policy: probe.policy,
            isSurplus: await isSurplus(outcome, primary))
        if step == .askForDate {
            step = state.attempts.next(
                after: await stillOffered(primary, outcome), of: finding.file, received: received,
                policy: probe.policy, isDateConfirmed: true)
        }
        if case .publish(let size, let isChecked) = step {
            state.resumed = state.stream == nil ? size - (received - earlier) : 0
            let repair = state.stream == nil ? repair(size: size, state) : nil
            state.mirroring?.repair = repair
            let check = isChecked ? nil : try endCheck(primary, started, state)
            let file = try await publish(assembly, size, last, started, check, &state)
            if let file { return file }
            guard let breach = check?.breach else { throw .cancelled }
            guard state.stream == nil else { throw .remoteChanged(breach) }
            step = state.attempts.next(
                after: .changed(breach), of: finding.file, received: received, policy: probe.policy)
        }
        if case .end(.tooLarge(size: nil, _)) = step, let assembly = assembly as? Assembly {
            // No run continues a file of unknown size.
            try await onDisk { () throws(AssemblyError) in try assembly.discard() }
            state.kept = 0
        } else if state.stream == nil {
            // What has gone out may be continued yet.
            try await close(assembly)
        }
        try await carryOut(step, outcome, &finding, probe, &state)
        return nil
    }

    /// Asks the server what is to be asked after an attempt, or ends the download.
    private func carryOut(
        _ step: Attempts.Step, _ outcome: Fetch.Outcome, _ finding: inout Probe.Finding,
        _ probe: Probe, _ state: inout State
    ) async throws(DownloadError.Reason) {
        outcome.notice.map { report(.notice($0)) }
        let question: Attempts.Question
        switch step {
        case .end(let reason): throw reason
        case .publish, .askForDate: return
        case .find(let next): question = next
        case .pause(let failures, let retryAfter, let failure, let next):
            try await probe.pause(failures, retryAfter, failure)
            question = next
        }
        var asking = probe
        // A host that serves nothing is not asked for long because `HEAD` is fine.
        if question.isBeginning { asking.beginning = beginning }
        finding = try await find(
            asking, byGet: true, range: question.range,
            after: question.earlier == .hint ? finding : nil,
            again: question.earlier == .forgotten ? nil : finding)
        state.attempts.take(finding.file)
    }

    /// Whether a stream broke because the request was one more than the server serves at a time.
    private func isSurplus(_ outcome: Fetch.Outcome, _ primary: Primary) async -> Bool {
        guard case .streamBroken(let failure, _, let reached) = outcome else { return false }
        return await primary.probe.isOneTooMany(
            failure, at: primary.finding.effective, hadReply: reached > 0)
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
