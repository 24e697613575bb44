import Assembler

/// A repair: a part is made of what is intact, and an ordinary download completes it.
struct RepairRun: Sendable {
    /// The plan whose part was made.
    private let plan: RepairPlan

    /// Makes the part of a plan, once it is certain that the server still offers this version.
    ///
    /// - Throws: `unrepairable` where it does not.
    init(
        _ plan: RepairPlan, for request: Assembly.Request,
        report: (DownloadEvent) -> Void
    ) async throws(DownloadError.Reason) {
        // Where only the date differs, a sample of what is intact decides.
        let isDoubted = plan.facts.header.identity.isDoubted(by: request.identity)
        if let obstacle = plan.obstacle(to: request), !isDoubted {
            throw .unrepairable(.otherVersion(obstacle))
        }
        for extent in plan.damaged { report(.notice(.damaged(extent.range))) }
        try await Disk.run { () throws(AssemblyError) in try plan.prepare() }
        self.plan = plan
    }

    /// Puts the kept manifest back where a repair has come to nothing that a later one could use.
    ///
    /// - Returns: What to report in place of `reason`.
    func undo(_ reason: DownloadError.Reason) async -> DownloadError.Reason {
        var reason = reason
        switch reason {
        case .assembly(.digestMismatch(let expected, let actual, _)):
            reason = .unrepairable(.otherDigest(expected: expected, actual: actual))
        case .remoteChanged, .unrepairable: break
        default: return reason
        }
        // That it came to nothing is the error to report, whatever else fails.
        _ = await Disk.result { () throws(AssemblyError) in try plan.restore() }
        return reason
    }
}
