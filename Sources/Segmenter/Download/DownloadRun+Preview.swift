import Assembler

// Names, and what would be done; none of this writes anything.
extension DownloadRun {
    /// Most numbers that are tried for a name that is taken.
    private static let highestNumber = 9999

    /// The name for a file that goes into a folder.
    func name(_ finding: Probe.Finding, _ probe: Probe) -> String {
        options.naming.usesURL
            ? FileName.suggested(disposition: nil, url: probe.url) : finding.file.suggestedName
    }

    /// The target with its final name.
    ///
    /// That is, where it was asked for, the first of the numbered names that is free, or that an
    /// earlier run of the same URL has begun; of several files each one has a name of its own.
    func named(
        _ state: State, _ url: WebURL
    ) async throws(DownloadError.Reason) -> Target? {
        guard var target = state.target else { return nil }
        let urls = ([url] + options.mirrors.compactMap { WebURL($0) }).map(\.text)
        if let naming = batch?.naming {
            target.name = try await naming(target, urls)
            return target
        }
        guard options.naming.numbersTaken else { return target }
        let wanted = target
        return try await onDisk { () throws(AssemblyError) -> Target? in
            for number in 0...Self.highestNumber {
                let name = FileName.numbered(wanted.name, number)
                if try Assembly.isFree(name, folder: wanted.folder, urls: urls) {
                    return Target(folder: wanted.folder, name: name)
                }
            }
            throw .destinationExists(path: wanted.path)
        }
    }

    /// Finds out what this download would do.
    ///
    /// Asks the server for no more than a probe does, and for the sample of `resumeUnverified`.
    func preview() async -> Result<DownloadPreview, DownloadError> {
        var state = State()
        do throws(DownloadError.Reason) {
            return .success(try await preview(&state))
        } catch {
            return .failure(failure(error, state))
        }
    }

    private func preview(
        _ state: inout State
    ) async throws(DownloadError.Reason) -> DownloadPreview {
        let (probe, started) = (try makeProbe(), monotonicSeconds())
        var asking = probe
        asking.beginning = beginning
        var isNameFinal = false
        if case .file(let path) = destination {
            state.target = Target(path: path)
            isNameFinal = !options.naming.numbersTaken
            if isNameFinal, let end = try await previewEnd(&state, probe.url) { return end }
        }
        if let file = try await settleByTime(probe, &state, started) { return Self.left(file) }
        state.mirroring = try makeBook(probe).map { Mirroring(book: $0) }
        defer { state.mirroring?.book.cancel() }
        var primary =
            state.mirroring == nil
            ? Primary(
                probe: probe,
                finding: try await find(asking, byGet: false, range: Probe.firstByte))
            : try await nextPrimary(state)
        try await checkSize(&primary)
        if case .folder(let folder) = destination {
            state.target = Target(folder: folder, name: name(primary.finding, probe))
        }
        guard state.target != nil else {
            return DownloadPreview(
                action: .begin, path: "-", file: primary.finding.file, bytesKept: 0,
                connections: primary.finding.file.plan == .segments ? connections : 1)
        }
        let parent = try await missingParent(state.target)
        if !isNameFinal {
            // In a folder that is missing, all names are free but those of the batch.
            if parent == nil || batch != nil { state.target = try await named(state, probe.url) }
            if let end = try await previewEnd(&state, probe.url) { return end }
        }
        if let parent, let target = state.target {
            return try await preview(primary, target, in: parent)
        }
        if let file = try await settle(&primary.finding, primary.probe, &state, started) {
            return Self.left(file)
        }
        try await confirm(&primary.finding, primary.probe, &state)
        try await compareSample(primary, &state)
        var request = try request(primary.finding, primary.probe.url, state)
        var decision = await decide(request)
        if case .failure(.assembly(.noSpace)) = decision, !primary.finding.isProven {
            // A size that only a `HEAD` has told.
            primary.finding = try await find(
                primary.probe, byGet: true, range: Probe.firstByte, after: primary.finding)
            request = try self.request(primary.finding, primary.probe.url, state)
            decision = await decide(request)
        }
        var preview = DownloadPreview(
            action: .begin, path: Target(folder: request.folder, name: request.name).path,
            file: primary.finding.file, bytesKept: 0,
            connections: primary.finding.file.plan == .segments ? connections : 1)
        switch try decision.get() {
        case .begin, .refuse: break
        case .startOver(let reason): preview.action = .startOver(reason)
        case .resume(let manifest):
            preview.action = .resume
            preview.bytesKept = manifest.extents.covered.count
        }
        return preview
    }

    private func missingParent(_ target: Target?) async throws(DownloadError.Reason) -> String? {
        guard let target else { return nil }
        return try await onDisk { [self] () throws(AssemblyError) in
            try parentOfMissingFolder(target)
        }
    }

    /// What would be done with an earlier run's part, once there is room for the file.
    private func decide(
        _ request: Assembly.Request
    ) async -> Result<ResumeDecision, DownloadError.Reason> {
        await onDiskResult { () throws(AssemblyError) -> ResumeDecision in
            let decision = try Assembly.preview(request)
            if case .refuse(let path) = decision { throw .foreignPart(path: path) }
            try Assembly.checkSpace(request)
            return decision
        }
    }

    /// The preview of a download that fetches nothing.
    private static func left(_ file: DownloadedFile) -> DownloadPreview {
        DownloadPreview(
            action: .leave(file.unchanged ?? .alreadyComplete), path: file.path, file: nil,
            bytesKept: file.size, connections: 0)
    }

    /// What can be told without asking the server: what a killed run left to be finished, or that
    /// the file is there.
    private func previewEnd(
        _ state: inout State, _ url: WebURL
    ) async throws(DownloadError.Reason) -> DownloadPreview? {
        guard let target = state.target, try await missingParent(target) == nil else { return nil }
        let options = options
        let pending = try await onDisk { () throws(AssemblyError) -> Int64? in
            for url in [url] + options.mirrors.compactMap({ WebURL($0) }) where options.resume {
                let size = try Publishing.pending(
                    folder: target.folder, name: target.name, fullURL: url.text,
                    hasChecksum: options.checksum != nil)
                if let size { return size }
            }
            return nil
        }
        if let pending {
            return DownloadPreview(
                action: .finish, path: target.path, file: nil, bytesKept: pending,
                connections: 0)
        }
        let found = try await onDiskUntilCancelled {
            (isCancelled: () -> Bool) throws(AssemblyError) -> Found? in
            try Self.look(at: target, options, isCancelled)
        }
        return try take(found, &state, monotonicSeconds()).map(Self.left)
    }
}
