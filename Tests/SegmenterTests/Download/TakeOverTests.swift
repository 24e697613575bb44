import Assembler
import Testing

@testable import Segmenter

@Suite struct TakeOverTests {
    @Test(
        arguments: [
            // What may count, size, control file, remote size, digest: what it counts for.
            (.nothing, 9, true, 9, true, .none), (.controlled, 9, false, 9, true, .none),
            (.controlled, 9, true, 9, true, .adopt), (.controlled, 9, true, 9, false, .replace),
            (.controlled, 5, true, nil, true, .replace),
            (.complete, 9, false, 9, false, .compareSample),
            (.complete, 5, false, 9, true, .none), (.complete, 10, false, 9, true, .none),
            (.begun, 5, false, 9, true, .adopt), (.begun, 5, false, 9, false, .replace),
            (.begun, 0, false, 9, true, .adopt), (.begun, 9, false, 9, true, .compareSample),
            (.begun, 10, false, 9, true, .none), (.begun, 5, false, nil, true, .none),
        ] as [(TakeOver, Int64, Bool, Int64?, Bool, TakeOverDecision)])
    func decidesByTheLengths(
        takesOver: TakeOver, size: Int64, isControlled: Bool, remote: Int64?, hasDigest: Bool,
        decision: TakeOverDecision
    ) {
        func decide(resumes: Bool) -> TakeOverDecision {
            TakeOverDecision(
                takesOver, size: size, isControlled: isControlled, remote: remote,
                hasDigest: hasDigest, resumes: resumes)
        }
        #expect(decide(resumes: true) == decision)
        #expect(decide(resumes: false) == (decision == .adopt ? .replace : decision))
    }

    /// A bound for a number that is found holds with a bound by the size.
    @Test(
        arguments: [(100, nil, 8), (100, 30, 3), (100, 101, 1), (nil, 30, 8), (0, 30, 1)]
            as [(Int64?, Int64?, Int)])
    func aConnectionIsWorthSoManyBytes(size: Int64?, least: Int64?, connections: Int) {
        let job = PlanTests.job {
            $0.connections = .upTo(8)
            $0.minSplitSize = least
        }
        #expect(job.connections(for: size) == connections)
    }
}
