import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

struct DescriptorBudgetTests {
    @Test(
        arguments: [
            (1024, Optional(64), Optional(64), Int.max), (1024, nil, nil, .max),
            (64, 20, 5, 2), (64, nil, 4, 2), (256, 20, 11, 14), (30, 20, 1, 2), (8, 4, 1, 2),
            (512, 2, 2, 30),
        ] as [(UInt64, Int?, Int?, Int)])
    func boundsFilesAndConnections(limit: UInt64, asked: Int?, jobs: Int?, connections: Int) {
        let budget = DescriptorBudget(limit: limit)
        #expect(budget.jobs(asked) == jobs)
        #expect(budget.connections == connections)
    }

    @Test(arguments: UInt64(40)..<1024)
    func staysWithinDescriptorLimit(limit: UInt64) throws {
        let budget = DescriptorBudget(limit: limit)
        let jobs = UInt64(try #require(budget.jobs(64)))
        #expect(jobs == 1 || 24 + jobs * (6 + UInt64(budget.connections)) <= limit)
    }
}
