import Assembler
import Glibc

/// One download from its URL to its published file: probe, part, fetch, publish, and what to begin
/// again when one of them says so.
struct DownloadRun: Sendable {
    /// Times that a download starts over because the remote file changed.
    private static let restartLimit = 1
    /// Times that a server is asked again whether it really serves no ranges.
    static let rangeChecks = 2

    let loop: TransferLoop
    let urlText: String
    let destination: Destination
    let options: DownloadOptions
    let tell: @Sendable (DownloadEvent) -> Void
    /// Chooses the name in the folder, from the one that is suggested and the full URL.
    var naming: @Sendable (Target, String) async throws(DownloadError.Reason) -> String = {
        target, _ in target.name
    }

    /// Where the file goes.
    struct Target: Sendable {
        var folder: String
        var name: String

        /// The path, for messages.
        var path: String { folder == "." ? name : "\(folder)/\(name)" }
    }

    /// What changes from one attempt to the next.
    struct State {
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
            let path = state.target?.path
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
                var target = Target(
                    folder: folder.isEmpty ? "." : folder, name: finding.file.suggestedName)
                target.name = try await naming(target, probe.url.text)
                state.target = target
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
}
