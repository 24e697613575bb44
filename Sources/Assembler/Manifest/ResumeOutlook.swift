extension ResumeDecision {
    /// What a later run of the same command brings along.
    package struct NextRun {
        /// Whether it wants to continue.
        package var wantsResume: Bool
        /// Whether a digest of the caller's proves the whole file.
        package var hasChecksum: Bool
        /// Whether a sample may stand in for a validator.
        package var acceptsSample: Bool

        package init(wantsResume: Bool, hasChecksum: Bool, acceptsSample: Bool) {
            self.wantsResume = wantsResume
            self.hasChecksum = hasChecksum
            self.acceptsSample = acceptsSample
        }
    }

    /// Why a later run of the same command starts over, as far as it can be known now: if the server then
    /// offers what it has offered.
    ///
    /// Pure.
    ///
    /// - Parameters:
    ///   - header: What the part was begun for.
    ///   - offered: What the server has offered, with the validators that prove nothing marked.
    ///   - servesRanges: Whether the server serves ranges.
    ///   - next: The later run.
    /// - Returns: The reason; `nil` where it continues.
    package static func obstacle(
        toContinuing header: Manifest.Header, offered: RemoteIdentity, servesRanges: Bool,
        by next: NextRun
    ) -> StartOverReason? {
        // No proof helps where the rest cannot be requested.
        guard servesRanges else { return .noRanges }
        let obstacle = header.identity.obstacle(toContinuingWith: offered)
        // Once a sample held the bytes together, each later run compares one.
        let isSampled = next.acceptsSample || header.isSampled == true
        let isHeldByChecksum = header.needsChecksum == true
        let isProven =
            next.hasChecksum || isSampled && !isHeldByChecksum
            || !header.required.isEmpty && !isHeldByChecksum && header.isSampled != true
        if let obstacle, obstacle != .noValidator || !isProven { return obstacle }
        return next.wantsResume ? nil : .notWanted
    }
}
