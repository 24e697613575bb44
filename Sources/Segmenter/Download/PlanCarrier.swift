import Assembler

/// Whoever goes the way of a plan: a run does what the steps say, a preview leaves out what would change
/// anything.
///
/// What is only asked and looked at, both have in common: it is not here.
protocol PlanCarrier: Sendable {
    /// What comes out in the end.
    associatedtype End: Sendable

    /// Finishes what a killed run had completed; blocks.
    ///
    /// - Returns: The end, or `nil` when there is nothing of the kind.
    func finish(
        _ target: FileTarget, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> End?
    /// Leaves a file as it is.
    func leave(_ file: Plan.Left) -> End
    /// Asks the only URL of the file what it offers, for the first time.
    func ask(
        _ probe: Probe, _ state: DownloadState
    ) async throws(DownloadError.Reason) -> Probe.Finding
    /// Gives a file its name, whose bytes a reply has brought.
    ///
    /// - Returns: The end, or `nil` when it is to be put together like any other one.
    func publishWhole(
        _ primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> End?
    /// Makes a folder, if it is missing; blocks.
    ///
    /// - Returns: The folder in which it would be made; `nil` when it is there.
    func makeFolder(_ path: String) throws(AssemblyError) -> String?
    /// Makes the part of what is intact.
    func prepare(
        _ plan: RepairPlan, for request: Assembly.Request, _ state: inout DownloadState
    ) async throws(DownloadError.Reason)
    /// Makes the part of what another program has begun.
    func adopt(
        _ part: ForeignPart, _ primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason)
    /// Waits until the file may be fetched.
    func enter(
        _ primary: inout Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason)
    /// Makes one attempt to fetch the file.
    ///
    /// - Returns: The end, or `nil` when another attempt is due, with `primary` and `state` set.
    func attempt(
        _ primary: inout Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> End?
}

/// Carries a plan out.
struct RunCarrier: PlanCarrier {
    let run: DownloadRun
    /// When the download began, on the monotonic clock.
    let started: Double

    func finish(
        _ target: FileTarget, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> DownloadedFile? {
        let options = run.job.options
        for url in run.job.urls {
            let file = try Publishing.recover(
                folder: target.folder, name: target.name, fullURL: url.text,
                checksum: options.checksum, keepManifest: options.files.keepManifest,
                isCancelled: isCancelled)
            guard let file else { continue }
            return DownloadedFile(
                path: file.path, size: file.size, crc32: file.crc32, verified: file.verified,
                bytesReceived: 0, bytesResumed: file.size,
                duration: Duration(seconds: monotonicSeconds() - started))
        }
        return nil
    }

    func leave(_ file: Plan.Left) -> DownloadedFile {
        DownloadedFile(
            path: file.path, size: file.size, crc32: file.crc32, verified: file.verified,
            bytesReceived: 0, bytesResumed: 0,
            duration: Duration(seconds: monotonicSeconds() - started),
            unchanged: file.why, isSampled: file.isSampled, isDated: file.isDated)
    }

    func ask(
        _ probe: Probe, _ state: DownloadState
    ) async throws(DownloadError.Reason) -> Probe.Finding {
        var asking = probe
        asking.beginning = run.inquiry.beginning
        guard !run.asksForWhole else {
            asking.collects = true
            asking.answered = state.answered?.exchange
            return try await run.inquiry.find(asking, byGet: true, range: Probe.smallRange)
        }
        asking.overlaps = begins(probe, state)
        let range = asking.overlaps ? Probe.overlappingRange : Probe.firstRange
        return try await run.inquiry.find(asking, byGet: false, range: range)
    }

    /// Whether the first bytes are wanted for certain, and on more than one connection.
    ///
    /// Nothing stands at the names that are to be expected then. Credentials that may be wrong are shown
    /// once only.
    private func begins(_ probe: Probe, _ state: DownloadState) -> Bool {
        guard run.job.connections > 1, !run.job.keepsPart, !state.plan.isCompared,
            run.batch == nil,
            !probe.connecting.permitted(for: probe.url).access.authenticates
        else { return false }
        guard let target = run.job.expectedTarget(from: probe.url) else { return true }
        guard let folder = try? Folder(target.folder) else { return false }
        return Assembly.isUntouched(target.name, in: folder)
    }

    func publishWhole(
        _ primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        try await run.publishWhole(primary, &state, started)
    }

    func makeFolder(_ path: String) throws(AssemblyError) -> String? {
        try run.folders.make(path)
        return nil
    }

    func prepare(
        _ plan: RepairPlan, for request: Assembly.Request, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        try await state.repair.prepare(plan, for: request, report: run.report)
    }

    func adopt(
        _ part: ForeignPart, _ primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        let request = try state.request(primary)
        let taken = try await state.adoption.take(part, for: request, report: run.report)
        state.attempts.samples.adopt(
            generation: taken.generation, decides: request.expected.isEmpty)
    }

    func enter(
        _ primary: inout Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {
        try await state.place.enter(&primary.finding)
    }

    func attempt(
        _ primary: inout Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        try await run.attempt(&primary, started, &state)
    }
}

/// Tells what a plan comes to, and writes nothing.
struct PreviewCarrier: PlanCarrier {
    let run: DownloadRun

    func finish(
        _ target: FileTarget, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> DownloadPreview? {
        for url in run.job.urls {
            let size = try Publishing.pending(
                folder: target.folder, name: target.name, fullURL: url.text,
                hasChecksum: run.job.options.checksum != nil)
            guard let size else { continue }
            return DownloadPreview(
                action: .finish, path: target.path, file: nil, bytesKept: size, connections: 0)
        }
        return nil
    }

    func leave(_ file: Plan.Left) -> DownloadPreview {
        DownloadPreview(
            action: .leave(file.why), path: file.path, file: nil, bytesKept: file.size,
            connections: 0)
    }

    func ask(
        _ probe: Probe, _ state: DownloadState
    ) async throws(DownloadError.Reason) -> Probe.Finding {
        var asking = probe
        asking.beginning = run.inquiry.beginning
        return try await run.inquiry.find(asking, byGet: false, range: Probe.firstByte)
    }

    func publishWhole(
        _ primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadPreview? { nil }

    func makeFolder(_ path: String) throws(AssemblyError) -> String? {
        try run.folders.parent(ofMissing: path)
    }

    func prepare(
        _ plan: RepairPlan, for request: Assembly.Request, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {}

    func adopt(
        _ part: ForeignPart, _ primary: Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) { state.adoption.look(at: part) }

    func enter(
        _ primary: inout Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) {}

    func attempt(
        _ primary: inout Primary, _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadPreview? {
        let file = primary.finding.file
        var preview = DownloadPreview(
            action: .begin, path: state.target?.path ?? "-", file: file, bytesKept: 0,
            connections: file.transfer == .segments ? run.job.connections(for: file.size) : 1,
            missingFolder: state.plan.missingFolder == nil ? nil : state.target?.folder)
        guard state.target != nil else { return preview }
        if let bytes = state.adoption.bytesFound {
            (preview.action, preview.bytesKept) = (.adopt, bytes)
            return preview
        }
        try state.refuseToStartOver(primary)
        let request = try state.request(primary)
        let decision = await decide(request, missingFolder: state.plan.missingFolder)
        if case .failure(.assembly(.noSpace)) = decision, !primary.finding.isProven {
            primary.finding = try await run.proveSize(primary)
            return nil
        }
        switch try decision.get() {
        case .begin, .refuse: break
        case .startOver(let reason): preview.action = .startOver(reason)
        case .resume(let manifest):
            preview.action = .resume
            preview.bytesKept = manifest.extents.covered.count
        }
        return preview
    }

    /// What would be done with an earlier run's part, once there is room for the file.
    private func decide(
        _ request: Assembly.Request, missingFolder parent: String?
    ) async -> Result<ResumeDecision, DownloadError.Reason> {
        await Disk.result { () throws(AssemblyError) -> ResumeDecision in
            if let parent {
                let target = FileTarget(folder: request.folder, name: request.name)
                try Assembly.checkSpace(
                    for: request.identity.size, in: parent, path: target.path)
                return .begin
            }
            let decision = try Assembly.preview(request)
            if case .refuse(let path) = decision { throw .foreignPart(path: path) }
            try Assembly.checkSpace(request)
            return decision
        }
    }
}
