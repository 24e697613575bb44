extension ResumeDecision {
    /// The options of a later run of the same command that affect resuming.
    package struct NextRun {
        /// Whether the run wants to resume.
        package var wantsResume: Bool
        /// Whether the caller's checksum verifies the whole file.
        package var hasChecksum: Bool
        /// Whether a matching sample replaces a validator.
        package var acceptsSample: Bool

        package init(wantsResume: Bool, hasChecksum: Bool, acceptsSample: Bool) {
            self.wantsResume = wantsResume
            self.hasChecksum = hasChecksum
            self.acceptsSample = acceptsSample
        }
    }

    /// Returns why a later run of the same command would start over if the server's offer stays the
    /// same.
    ///
    /// Pure.
    ///
    /// - Parameters:
    ///   - header: The header of the part's manifest.
    ///   - offered: The version that the server offers; validators that prove nothing are marked as
    ///     blank.
    ///   - servesRanges: Whether the server serves ranges.
    ///   - next: The options of the later run.
    /// - Returns: The reason; `nil` if the run would continue.
    package static func obstacle(
        toContinuing header: Manifest.Header, offered: RemoteIdentity, servesRanges: Bool,
        by next: NextRun
    ) -> StartOverReason? {
        // Without ranges, the remaining bytes cannot be requested.
        guard servesRanges else { return .noRanges }
        let obstacle = header.identity.obstacle(toContinuingWith: offered)
        // If the part already depends on a sample, each later run compares one.
        let isSampled = next.acceptsSample || header.isSampled == true
        let isHeldByChecksum = header.needsChecksum == true
        let isProven =
            next.hasChecksum || isSampled && !isHeldByChecksum
            || !header.required.isEmpty && !isHeldByChecksum && header.isSampled != true
        if let obstacle, obstacle != .noValidator || !isProven { return obstacle }
        return next.wantsResume ? nil : .notWanted
    }
}
