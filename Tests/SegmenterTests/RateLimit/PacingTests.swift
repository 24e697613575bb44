import Testing

@testable import SegmenterTransport

@Suite struct PacingTests {
    /// The files of a set share a limit, which ends with the last of them.
    @Test func groupIsLimitedUntilItsLastDownloadEnds() {
        var pacing = Pacing()
        for owner in [1, 2] { pacing.limit(owner, to: 1000, with: -1, now: 0) }
        pacing.limit(3, to: 500, now: 0)
        #expect(pacing.isLimited(1) && pacing.isLimited(2) && pacing.isLimited(3))
        #expect(!pacing.isLimited(4))
        pacing.limit(1, to: nil, now: 1)
        #expect(!pacing.isLimited(1) && pacing.isLimited(2))
        pacing.limit(2, to: nil, now: 2)
        #expect(!pacing.isLimited(2) && pacing.isLimited(3))
        pacing.limit(3, to: nil, now: 3)
        #expect(pacing.nextTurn == .infinity)
    }
}
