import Assembler
import Glibc

// Repairing: a part is made of what is intact, and an ordinary download completes it.
extension DownloadRun {
    /// Finds out what of the file is damaged.
    static func survey(
        _ target: Target, _ options: DownloadOptions, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> Found? {
        let finding = try RepairPlan.survey(
            folder: target.folder, name: target.name, isCancelled: isCancelled)
        switch finding {
        case nil: return nil
        case .noManifest(let isFileThere)?:
            return .unrepairable(.noManifest(isFileThere: isFileThere))
        case .part(let manifest)?: return .standing(.begun(required: manifest.header.required))
        case .damaged(let plan)?: return .standing(.damaged(plan))
        case .intact(let facts, let file)?:
            let expected = options.checksum
            let wanted = expected ?? facts.digests.first ?? Digest(crc32: 0)
            guard let found = file.digest(like: wanted, isCancelled: isCancelled) else {
                guard !isCancelled() else { return nil }
                throw .io(operation: "pread", path: file.path, errno: EIO)
            }
            if let expected, found.digest != expected {
                return .unrepairable(.otherDigest(expected: expected, actual: found.digest))
            }
            return .complete(
                path: file.path, size: file.status.size, crc32: found.crc32,
                verified: facts.digests.filter { $0.algorithm != .crc32 && $0 != expected }
                    + [expected].compactMap { $0 })
        }
    }

    /// Makes the part, once it is certain that the server still offers this version.
    func prepareRepair(
        _ finding: inout Probe.Finding, _ probe: Probe, _ state: inout State
    ) async throws(DownloadError.Reason) {
        guard case .damaged(let plan)? = state.standing else { return }
        var obstacle = plan.obstacle(to: try request(finding, probe.url, state))
        if obstacle != nil, !finding.isProven {
            finding = try await find(probe, byGet: true, range: Probe.firstByte, after: finding)
            obstacle = plan.obstacle(to: try request(finding, probe.url, state))
        }
        // Where only the date differs, a sample of what is intact decides.
        let isDoubted = plan.facts.header.identity.isDoubted(by: finding.file.identity)
        if let obstacle, !isDoubted { throw .unrepairable(.otherVersion(obstacle)) }
        for extent in plan.damaged { report(.notice(.damaged(extent.range))) }
        try await onDisk { () throws(AssemblyError) in try plan.prepare() }
        state.prepared = plan
    }

    /// Refuses to throw a part away: what a repair builds on is in it.
    func refuseToStartOver(_ request: Assembly.Request) throws(DownloadError.Reason) {
        let decision: ResumeDecision
        do throws(AssemblyError) {
            decision = try Assembly.preview(request)
        } catch {
            throw .assembly(error)
        }
        if case .startOver(let reason) = decision { throw .unrepairable(.otherVersion(reason)) }
    }

    /// Puts the kept manifest back where a repair has come to nothing that a later one could use.
    ///
    /// - Returns: What to tell in place of `reason`.
    func undoRepair(
        _ state: State, _ reason: DownloadError.Reason
    ) async -> DownloadError.Reason {
        guard let plan = state.prepared else { return reason }
        var reason = reason
        switch reason {
        case .assembly(.digestMismatch(let expected, let actual, _)):
            reason = .unrepairable(.otherDigest(expected: expected, actual: actual))
        case .remoteChanged, .unrepairable: break
        default: return reason
        }
        // That it came to nothing is the error to tell, whatever else fails.
        _ = await onDiskResult { () throws(AssemblyError) in try plan.restore() }
        return reason
    }
}
