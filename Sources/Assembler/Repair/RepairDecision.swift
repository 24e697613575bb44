// The decisions of a repair; pure.
extension RepairPlan {
    /// Returns the extents of a finished file that must be downloaded again.
    ///
    /// If every extent matches its CRC-32 but the whole file has a wrong digest, no extent can be
    /// trusted. A file that is only too long is not intact, although no extent must be downloaded.
    ///
    /// - Parameters:
    ///   - facts: The facts in the kept manifest.
    ///   - size: The present length of the file in bytes.
    ///   - check: The result of reading the whole file.
    /// - Returns: The extents in ascending order; `nil` if the file is intact.
    static func lost(of facts: FinishedFacts, size: Int64, _ check: ContentCheck) -> [Extent]? {
        guard check.damaged.isEmpty, size == facts.size else { return check.damaged }
        return facts.digests.allSatisfy(check.digests.contains) ? nil : facts.extents
    }

    /// Returns why the damaged extents cannot be downloaded from the current offer.
    ///
    /// - Parameter request: The download that would be started.
    /// - Returns: The first condition for resuming that is not met; `nil` if the version is the
    ///   same.
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
