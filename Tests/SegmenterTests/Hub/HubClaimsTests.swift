import Testing

@testable import Segmenter

/// Which missing blobs a run downloads beside others.
@Suite struct HubClaimsTests {
    private func run(
        _ name: String, _ blobs: Set<String>, _ life: HubClaims.Run.Life = .possible,
        idle: Double = 0
    ) -> HubClaims.Run {
        .init(name: name, blobs: blobs, life: life, idle: idle)
    }

    @Test func claimsOfOthersAreLeftToThem() {
        let claims = HubClaims(
            ["a", "b", "c"], beside: [run("run-1", ["b", "x"]), run("run-2", ["y"])])
        #expect(claims.own == ["a", "c"])
        #expect(claims.waits == ["run-1"])
        #expect(claims.adopted.isEmpty && claims.left.isEmpty)
    }

    @Test func folderOfEndedRunIsTakenOver() {
        let claims = HubClaims(["a"], beside: [run("run-1", ["a"], .over)])
        #expect(claims.own == ["a"])
        #expect(claims.adopted == ["run-1"])
    }

    @Test func claimEndsAfterTenMinutesWithoutChange() {
        let claims = HubClaims(
            ["a", "b"], beside: [run("run-1", ["a"], idle: 600), run("run-2", ["b"], idle: 599)])
        #expect(claims.own == ["a"])
        #expect(claims.left == ["run-1"])
        #expect(claims.waits == ["run-2"])
        #expect(claims.adopted.isEmpty)
    }
}
