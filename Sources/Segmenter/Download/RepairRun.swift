import Assembler
import SegmenterRules
import SegmenterTransport

/// Repairs a file: its intact bytes become a part, which an ordinary download completes.
struct RepairRun: Sendable {
    /// The plan whose part was made.
    private let plan: RepairPlan

    /// Makes the part of a plan, if the server still offers the version of the file.
    ///
    /// - Throws: `unrepairable` where it does not.
    init(
        _ plan: RepairPlan, for request: Assembly.Request,
        report: (DownloadEvent) -> Void
    ) async throws(DownloadError.Reason) {
        // If only the dates differ, a sample of the intact bytes decides.
        let isDoubted = plan.facts.header.identity.isDoubted(by: request.identity)
        if let obstacle = plan.obstacle(to: request), !isDoubted {
            throw .unrepairable(.otherVersion(obstacle))
        }
        for extent in plan.damaged { report(.notice(.damaged(extent.range))) }
        try await Disk.run { () throws(AssemblyError) in try plan.prepare() }
        self.plan = plan
    }

    /// Restores the kept manifest if the repair failed and no later run can use its part.
    ///
    /// - Returns: The error to report in place of `reason`.
    func undo(_ reason: DownloadError.Reason) async -> DownloadError.Reason {
        var reason = reason
        switch reason {
        case .assembly(.digestMismatch(let expected, let actual, _)):
            reason = .unrepairable(.otherDigest(expected: expected, actual: actual))
        case .remoteChanged, .unrepairable: break
        default: return reason
        }
        // The failed repair is the error to report, even if restoring the manifest fails as well.
        _ = await Disk.result { () throws(AssemblyError) in try plan.restore() }
        return reason
    }
}
