import Assembler

// Names, and what would be done; none of this writes anything.
extension DownloadRun {
    /// Finds out what this download would do.
    ///
    /// Asks the server for no more than a probe does, and for the sample of `resumeUnverified`.
    func preview() async -> Result<DownloadPreview, DownloadError> {
        var state = DownloadState(job)
        do throws(DownloadError.Reason) {
            return .success(try await preview(&state))
        } catch {
            return .failure(state.error(error))
        }
    }

    private func preview(
        _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadPreview {
        let (probe, started) = (try makeProbe(), monotonicSeconds())
        var isNameFinal = false
        if case .file(let path) = job.destination {
            state.target = FileTarget(path: path)
            isNameFinal = !job.options.naming.numbersTaken
            if isNameFinal, let end = try await previewEnd(&state) { return end }
        }
        if let file = try await settleByTime(probe, &state, started) { return Self.left(file) }
        state.mirrors = try MirrorSet(inquiry, probe)
        defer { state.mirrors?.book.cancel() }
        var primary: Primary
        if let mirrors = state.mirrors {
            primary = try await mirrors.next { [state] primary throws(DownloadError.Reason) in
                try state.loses(primary)
            }
        } else {
            var asking = probe
            asking.beginning = inquiry.beginning
            primary = Primary(
                probe: probe,
                finding: try await inquiry.find(asking, byGet: false, range: Probe.firstByte))
        }
        try await inquiry.checkSize(&primary)
        state.target = job.target(for: primary.finding.file, from: probe.url)
        guard state.target != nil else {
            return DownloadPreview(
                action: .begin, path: "-", file: primary.finding.file, bytesKept: 0,
                connections: primary.finding.file.plan == .segments ? job.connections : 1)
        }
        let parent = try await missingParent(state.target)
        if !isNameFinal {
            // In a folder that is missing, all names are free but those of the batch.
            if parent == nil || batch != nil { state.target = try await named(state.target) }
            if let end = try await previewEnd(&state) { return end }
        }
        if let parent, let target = state.target {
            return try await preview(primary, target, in: parent)
        }
        if let file = try await settle(&primary, &state, started) {
            return Self.left(file)
        }
        try await confirm(&primary, &state)
        var request = try state.request(primary)
        var decision = await decide(request)
        if case .failure(.assembly(.noSpace)) = decision, !primary.finding.isProven {
            // A size that only a `HEAD` has told.
            primary.finding = try await inquiry.prove(primary)
            request = try state.request(primary)
            decision = await decide(request)
        }
        var preview = DownloadPreview(
            action: .begin, path: FileTarget(folder: request.folder, name: request.name).path,
            file: primary.finding.file, bytesKept: 0,
            connections: primary.finding.file.plan == .segments ? job.connections : 1)
        switch try decision.get() {
        case .begin, .refuse: break
        case .startOver(let reason): preview.action = .startOver(reason)
        case .resume(let manifest):
            preview.action = .resume
            preview.bytesKept = manifest.extents.covered.count
        }
        return preview
    }

    private func missingParent(_ target: FileTarget?) async throws(DownloadError.Reason) -> String?
    {
        guard let target else { return nil }
        return try await Disk.run { [folders] () throws(AssemblyError) in
            try folders.parent(ofMissing: target.folder)
        }
    }

    /// What would be done with an earlier run's part, once there is room for the file.
    private func decide(
        _ request: Assembly.Request
    ) async -> Result<ResumeDecision, DownloadError.Reason> {
        await Disk.result { () throws(AssemblyError) -> ResumeDecision in
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
        _ state: inout DownloadState
    ) async throws(DownloadError.Reason) -> DownloadPreview? {
        guard let target = state.target, try await missingParent(target) == nil else { return nil }
        let (options, urls) = (job.options, job.urls)
        let pending = try await Disk.run { () throws(AssemblyError) -> Int64? in
            for url in urls where options.resume {
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
        let found = try await Disk.runUntilCancelled {
            (isCancelled: () -> Bool) throws(AssemblyError) -> Found? in
            try Self.look(at: target, options, isCancelled)
        }
        return try take(found, &state, monotonicSeconds()).map(Self.left)
    }

    /// What would be done with a file whose folder is missing.
    func preview(
        _ primary: Primary, _ target: FileTarget, in parent: String
    ) async throws(DownloadError.Reason) -> DownloadPreview {
        var finding = primary.finding
        var room = await room(for: finding, target, in: parent)
        if case .failure(.assembly(.noSpace)) = room, !finding.isProven {
            // A size that only a `HEAD` has told.
            finding = try await inquiry.find(
                primary.probe, byGet: true, range: Probe.firstByte)
            room = await self.room(for: finding, target, in: parent)
        }
        try room.get()
        return DownloadPreview(
            action: .begin, path: target.path, file: finding.file, bytesKept: 0,
            connections: finding.file.plan == .segments ? job.connections : 1,
            missingFolder: target.folder)
    }

    private func room(
        for finding: Probe.Finding, _ target: FileTarget, in parent: String
    ) async -> Result<Void, DownloadError.Reason> {
        await Disk.result { () throws(AssemblyError) in
            try Assembly.checkSpace(
                for: finding.file.identity.size, in: parent, path: target.path)
        }
    }
}
