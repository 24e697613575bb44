// What a repair decides by: pure.
extension RepairPlan {
    /// What of a finished file is to be fetched again.
    ///
    /// Where every piece seems right and the whole is wrong, no piece can be trusted. A file that is only
    /// longer than it should be is not intact, though nothing of it is to be fetched.
    ///
    /// - Parameters:
    ///   - facts: What the kept manifest says.
    ///   - size: The file's present length in bytes.
    ///   - check: What reading all of it has found.
    /// - Returns: Extents in ascending order; `nil` when the file is intact.
    static func lost(of facts: FinishedFacts, size: Int64, _ check: ContentCheck) -> [Extent]? {
        guard check.damaged.isEmpty, size == facts.size else { return check.damaged }
        return facts.digests.allSatisfy(check.digests.contains) ? nil : facts.extents
    }

    /// Why the rest cannot be had from what is offered now; `nil` when it is the same version.
    ///
    /// - Parameter request: What would be downloaded.
    /// - Returns: The first condition for resuming that does not hold.
    package func obstacle(to request: Assembly.Request) -> StartOverReason? {
        var header = facts.header
        header.size = facts.size
        return ResumeDecision.obstacle(
            header,
            .init(
                manifest: nil, partSize: facts.size, offered: request.identity,
                fullURL: request.fullURL, url: request.url, servesRanges: request.servesRanges,
                checksum: request.checksum, wantsResume: true, mayOverwrite: true,
                advertised: request.advertised))
    }
}
