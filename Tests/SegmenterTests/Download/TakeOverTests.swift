import Assembler
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct TakeOverTests {
    @Test(
        arguments: [
            // Each row: files that may count, size, size in the control file, remote size, whether
            // there is a digest, and the expected decision.
            (.nothing, 9, 9, 9, true, .none), (.controlled, 9, nil, 9, true, .none),
            (.controlled, 9, 9, 9, true, .adopt), (.controlled, 9, 9, 9, false, .replace),
            (.controlled, 5, 9, 9, true, .adopt), (.controlled, 9, 8, 9, true, .none),
            (.controlled, 5, 5, nil, true, .none), (.complete, 9, nil, 9, false, .compareSample),
            (.complete, 9, 8, 9, false, .compareSample), (.complete, 5, nil, 9, true, .none),
            (.complete, 10, nil, 9, true, .none), (.begun, 5, nil, 9, true, .adopt),
            (.begun, 5, nil, 9, false, .replace), (.begun, 0, nil, 9, true, .adopt),
            (.begun, 9, nil, 9, true, .compareSample), (.begun, 10, nil, 9, true, .none),
            (.begun, 5, nil, nil, true, .none),
        ] as [(TakeOver, Int64, Int64?, Int64?, Bool, TakeOverDecision)])
    func decidesBySizes(
        takesOver: TakeOver, size: Int64, controlledSize: Int64?, remote: Int64?, hasDigest: Bool,
        decision: TakeOverDecision
    ) {
        #expect(
            TakeOverDecision(
                takesOver, size: size, controlledSize: controlledSize, remote: remote,
                hasDigest: hasDigest, resumes: true) == decision)
    }

    /// Without `resume`, aria2's control file is ignored.
    @Test(
        arguments: [(.controlled, 5, .none), (.complete, 9, .compareSample), (.begun, 5, .replace)]
            as [(TakeOver, Int64, TakeOverDecision)])
    func noResumeIgnoresControlFile(takesOver: TakeOver, size: Int64, decision: TakeOverDecision) {
        #expect(
            TakeOverDecision(
                takesOver, size: size, controlledSize: 9, remote: 9, hasDigest: true, resumes: false
            )
                == decision)
    }

    /// `minSplitSize` limits an automatic number of connections too.
    @Test(
        arguments: [(100, nil, 8), (100, 30, 3), (100, 101, 1), (nil, 30, 8), (0, 30, 1)]
            as [(Int64?, Int64?, Int)])
    func minSplitSizeLimitsConnections(size: Int64?, least: Int64?, connections: Int) {
        let job = PreparationTests.job {
            $0.connections = .upTo(8)
            $0.minSplitSize = least
        }
        #expect(job.connections(for: size) == connections)
    }
}
