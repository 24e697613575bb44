import Assembler
import Glibc

/// One download from its URL to its published file: probe, part, fetch, publish, and what to begin
/// again when one of them says so.
struct DownloadRun: Sendable {
    /// Times that a download starts over because the remote file changed.
    private static let restartLimit = 1
    /// Times that a server is asked again whether it really serves no ranges.
    private static let rangeChecks = 2

    let loop: TransferLoop
    let urlText: String
    let destination: Destination
    let options: DownloadOptions
    let tell: @Sendable (DownloadEvent) -> Void

    /// Where the file goes.
    private struct Target: Sendable {
        var folder: String
        var name: String
    }

    /// What a fetch and whoever waits for it share.
    private struct FetchTicket: Sendable {
        var fetch: Int?
        var isCancelled = false
        var end: (Fetch.Outcome, DownloadProgress?) = (.cancelled, nil)
    }

    /// What changes from one attempt to the next.
    private struct State {
        var target: Target?
        var startOver: StartOverReason?
        var restarts = 0
        /// Whether the file is asked for whole from now on.
        var isRangeless = false
        var streamFailures = 0
        var streamReached: Int64 = 0
        var received: Int64 = 0
        var resumed: Int64 = 0
        var kept: Int64 = 0
    }

    func callAsFunction() async -> Result<DownloadedFile, DownloadError> {
        var state = State()
        do throws(DownloadError.Reason) {
            let file = try await run(&state)
            tell(.finished(file))
            return .success(file)
        } catch {
            let path = state.target.map { $0.folder == "." ? $0.name : "\($0.folder)/\($0.name)" }
            if state.kept == 0, let target = state.target {
                state.kept = Assembly.bytesRecorded(folder: target.folder, name: target.name)
            }
            return .failure(
                DownloadError(
                    reason: error, url: WebURL(urlText)?.redacted ?? "", path: path,
                    bytesKept: state.kept))
        }
    }

    /// A probe of the URL, after the options have been checked.
    func makeProbe() throws(DownloadError.Reason) -> Probe {
        guard let url = WebURL(urlText) else { throw .invalidURL(redactedGuess) }
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
        return Probe(
            loop: loop, url: url, headers: options.headers,
            connecting: .init(
                caCertificate: options.caCertificate, connectTimeout: options.connectTimeout,
                stallTimeout: options.stallTimeout),
            policy: RetryPolicy(retries: options.retries)
        ) { [tell] in tell(.notice($0)) }
    }

    /// A text that is no URL, without what may be a secret in it.
    private var redactedGuess: String {
        guard !urlText.contains("@") else { return "(not shown: it may hold a password)" }
        return String(urlText.prefix { $0 != "?" && $0 != "#" })
    }

    // MARK: The way

    private func run(_ state: inout State) async throws(DownloadError.Reason) -> DownloadedFile {
        let started = monotonicSeconds()
        let probe = try makeProbe()
        if case .file(let path) = destination {
            state.target = Self.split(path)
            if let file = try await before(state, probe.url, started) { return file }
        }
        var finding = try await find(probe, byGet: false)
        do throws(DownloadError.Reason) {
            if case .folder(let folder) = destination {
                state.target = Target(
                    folder: folder.isEmpty ? "." : folder, name: finding.file.suggestedName)
                if let file = try await before(state, probe.url, started) { return file }
            }
            finding = try await confirmed(finding, probe, state)
            while true {
                if let file = try await attempt(&finding, probe, started, &state) { return file }
            }
        } catch {
            finding.held.map { loop.drop($0.transfer) }
            throw error
        }
    }

    /// One attempt with one part.
    ///
    /// - Returns: The file, or `nil` when another attempt is due, with `finding` and `state` set.
    private func attempt(
        _ finding: inout Probe.Finding, _ probe: Probe, _ started: Double, _ state: inout State
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard let assembly = try await open(finding, probe, state) else {
            finding = try await find(probe, byGet: true, range: Probe.firstByte)
            return nil
        }
        state.startOver = nil
        if let reason = assembly.startedOver { tell(.notice(.startedOver(reason))) }
        tell(.started(start(finding, assembly)))
        let earlier = state.received
        let (outcome, last) = await fetch(finding, probe, assembly, started, earlier)
        finding.held = nil
        state.received = last?.bytesReceived ?? state.received
        state.kept = assembly.bytesKept
        if case .complete(let size) = outcome {
            state.resumed = size - (state.received - earlier)
            return try await publish(assembly, size, last, started, &state)
        }
        try await close(assembly)
        switch outcome {
        case .complete: break
        case .cancelled: throw .cancelled
        case .failed(let reason): throw reason
        case .contradictsProbe:
            finding = try await find(probe, byGet: true)
        case .rangesIgnored:
            tell(.notice(.rangesIgnored))
            state.isRangeless = true
            finding = try await find(probe, byGet: true, range: nil)
        case .changed(let breach):
            state.restarts += 1
            guard state.restarts <= Self.restartLimit else { throw .remoteChanged(breach) }
            let before = finding.file.identity
            finding = try await find(
                probe, byGet: true, range: state.isRangeless ? nil : Probe.firstRange)
            if finding.file.plan == .segments, !(await probe.isConsistent(finding.file.identity)) {
                // Servers that disagree: what one of them sends in one reply is one version.
                finding.held.map { loop.drop($0.transfer) }
                finding.held = nil
                state.isRangeless = true
                tell(.notice(.serversDisagree))
                finding = try await find(probe, byGet: true, range: nil)
            }
            // Where the version on the disk is offered again, it is continued.
            let isAnother = before.obstacle(toContinuingWith: finding.file.identity) != nil
            state.startOver = isAnother ? .changedMidway : nil
        case .streamBroken(let failure, let retryAfter, let reached):
            state.streamFailures = reached > state.streamReached ? 1 : state.streamFailures + 1
            state.streamReached = max(reached, state.streamReached)
            guard probe.policy.allows(state.streamFailures) else {
                if case .breach(let breach) = failure { throw .contract(breach) }
                throw .transfer(failure, attempts: state.streamFailures)
            }
            if reached > 0 { state.startOver = .streamBroken }
            try await probe.pause(state.streamFailures, retryAfter, failure)
            finding = try await find(
                probe, byGet: true, range: state.isRangeless ? nil : Probe.firstRange)
        }
        return nil
    }

    // MARK: Steps

    private var connections: Int { min(max(1, options.connections), 64) }

    /// What is to be done before anything is asked of the server: finish what a crash left almost
    /// done, and refuse a destination that may not be replaced.
    private func before(
        _ state: State, _ url: WebURL, _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard let target = state.target else { return nil }
        let options = options
        // Whoever does not want to resume does not want an earlier run's file either.
        let isCancelled = Monitor(false)
        let outcome = await withTaskCancellationHandler {
            await onDiskResult { () throws(AssemblyError) -> PublishedFile? in
                if options.resume {
                    let file = try Publishing.recover(
                        folder: target.folder, name: target.name, fullURL: url.text,
                        checksum: options.checksum
                    ) { isCancelled.withLock { $0 } }
                    guard file == nil else { return file }
                }
                try Assembly.checkDestination(
                    folder: target.folder, name: target.name, overwrite: options.overwrite)
                return nil
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
        let published = try outcome.get()
        guard published != nil || !Task.isCancelled else { throw .cancelled }
        return published.map {
            DownloadedFile(
                path: $0.path, size: $0.size, crc32: $0.crc32, verified: $0.verified,
                bytesReceived: 0, bytesResumed: $0.size, seconds: monotonicSeconds() - started)
        }
    }

    private func request(
        _ finding: Probe.Finding, _ url: WebURL, _ state: State
    ) throws(DownloadError.Reason) -> Assembly.Request {
        guard let target = state.target else { preconditionFailure("no destination") }
        var request = Assembly.Request(
            folder: target.folder, name: target.name, fullURL: url.text, url: url.redacted,
            identity: finding.file.identity, servesRanges: finding.file.plan == .segments)
        request.checksum = options.checksum
        request.advertised = finding.file.digests
        request.resume = options.resume
        request.overwrite = options.overwrite
        request.startOver = state.startOver
        request.modified = finding.modified
        return request
    }

    /// A finding that may be acted on: nothing on the disk is thrown away because of a `HEAD` alone,
    /// nor because of a single reply that ignored the range.
    private func confirmed(
        _ finding: Probe.Finding, _ probe: Probe, _ state: State
    ) async throws(DownloadError.Reason) -> Probe.Finding {
        var finding = finding
        var asked = 0
        while let reason = try loss(request(finding, probe.url, state)),
            !finding.isProven || (reason == .noRanges && asked < Self.rangeChecks)
        {
            finding.held.map { loop.drop($0.transfer) }
            finding.held = nil
            if finding.isProven {
                asked += 1
                try await probe.pause(asked, nil, .breach(.wholeFileForRange))
            }
            finding = try await find(probe, byGet: true, range: Probe.firstByte)
        }
        return finding
    }

    /// Why a part would be thrown away because of what the server said; `nil` when none would be.
    private func loss(
        _ request: Assembly.Request
    ) throws(DownloadError.Reason) -> StartOverReason? {
        guard options.resume else { return nil }
        do throws(AssemblyError) {
            guard case .startOver(let reason) = try Assembly.preview(request) else { return nil }
            return reason == .rejected ? nil : reason
        } catch {
            throw .assembly(error)
        }
    }

    /// Probes, and tells what was found.
    private func find(
        _ probe: Probe, byGet: Bool, range: ByteRange? = Probe.firstRange
    ) async throws(DownloadError.Reason) -> Probe.Finding {
        let finding = try await probe.run(byGet: byGet, range: range)
        tell(.probed(finding.file))
        return finding
    }

    /// Opens the part.
    ///
    /// - Returns: `nil` when there is no space for a size that only a `HEAD` has told: a `GET` is to
    ///   say first.
    private func open(
        _ finding: Probe.Finding, _ probe: Probe, _ state: State
    ) async throws(DownloadError.Reason) -> Assembly? {
        let request = try request(finding, probe.url, state)
        let result = await onDiskResult { () throws(AssemblyError) in try Assembly(request) }
        if case .failure(.assembly(.noSpace)) = result, !finding.isProven { return nil }
        return try result.get()
    }

    private func close(_ assembly: Assembly) async throws(DownloadError.Reason) {
        try await onDisk { () throws(AssemblyError) in try assembly.stop() }
    }

    private func fetch(
        _ finding: Probe.Finding, _ probe: Probe, _ assembly: Assembly, _ started: Double,
        _ received: Int64
    ) async -> (Fetch.Outcome, DownloadProgress?) {
        let identity = finding.file.identity
        let setup = Fetch.Setup(
            url: finding.effective, identity: identity,
            isOneStream: finding.file.plan != .segments, isProven: finding.isProven,
            connections: connections, policy: probe.policy, connecting: probe.connecting,
            headers: options.headers, headerOrigin: probe.url.origin, held: finding.held
        ) { await probe.resolveAgain(identity) }
        // The outcome goes through the lock, and with it everything that the loop thread did to the
        // assembly, which is this task's again from here on.
        let ticket = Monitor(FetchTicket())
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isTaken = loop.perform { [loop, tell] worker in
                    let reporter = ProgressReporter(started: started, earlier: received) {
                        tell(.progress($0))
                    }
                    let fetch = Fetch(
                        setup, assembly: assembly, worker: worker, loop: loop, reporter: reporter,
                        tell: { tell(.notice($0)) }
                    ) { outcome in
                        ticket.withLock { $0.end = (outcome, reporter.last) }
                        continuation.resume()
                    }
                    ticket.withLock { $0.fetch = fetch.id }
                    fetch.start(now: monotonicSeconds())
                    if ticket.withLock({ $0.isCancelled }) { worker.fetch(fetch.id)?.cancel() }
                }
                if !isTaken { continuation.resume() }
            }
        } onCancel: {
            ticket.withLock { $0.isCancelled = true }
            loop.perform { worker in
                ticket.withLock { $0.fetch }.flatMap(worker.fetch)?.cancel()
            }
        }
        return ticket.withLock { $0.end }
    }

    private func publish(
        _ assembly: Assembly, _ size: Int64, _ last: DownloadProgress?, _ started: Double,
        _ state: inout State
    ) async throws(DownloadError.Reason) -> DownloadedFile {
        let phase: @Sendable (DownloadProgress.Phase) -> Void = { [tell] phase in
            guard var progress = last else { return }
            progress.phase = phase
            progress.elapsed = monotonicSeconds() - started
            tell(.progress(progress))
        }
        phase(.verifying)
        let outcome = await withTaskCancellationHandler {
            await onDiskResult { () throws(AssemblyError) in
                try assembly.publish(size: size) { phase(.publishing) }
            }
        } onCancel: {
            assembly.interrupt()
        }
        guard let published = try outcome.get() else { throw .cancelled }
        return DownloadedFile(
            path: published.path, size: published.size, crc32: published.crc32,
            verified: published.verified, bytesReceived: state.received,
            bytesResumed: state.resumed, seconds: monotonicSeconds() - started)
    }

    private func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable () throws(AssemblyError) -> Value
    ) async throws(DownloadError.Reason) -> Value {
        try await onDiskResult(body).get()
    }

    private func onDiskResult<Value: Sendable>(
        _ body: @escaping @Sendable () throws(AssemblyError) -> Value
    ) async -> Result<Value, DownloadError.Reason> {
        do throws(AssemblyError) {
            return .success(try await offLoop("disk", body))
        } catch {
            return .failure(.assembly(error))
        }
    }

    private func start(_ finding: Probe.Finding, _ assembly: Assembly) -> DownloadStart {
        let kind = finding.file.identity.kind
        return DownloadStart(
            path: assembly.destination, size: finding.file.identity.size,
            resumedBytes: assembly.bytesKept,
            connections: finding.file.plan == .segments ? connections : 1,
            plan: finding.file.plan,
            identity: kind == "none" && options.checksum != nil ? "checksum" : kind)
    }

    private static func split(_ path: String) -> Target {
        guard let slash = path.lastIndex(of: "/") else { return Target(folder: ".", name: path) }
        let folder = path[..<slash]
        return Target(
            folder: folder.isEmpty ? "/" : String(folder),
            name: String(path[path.index(after: slash)...]))
    }
}
