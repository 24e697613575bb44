import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests whether and when a connection retries.
@Suite struct SlotBackoffTests {
    private let policy = RetryPolicy(retries: 2)

    private func failed(_ times: Int) -> Slot.Backoff {
        var backoff = Slot.Backoff()
        for _ in 0..<times {
            backoff.failures += 1
            backoff.note(received: 0, others: 0)
        }
        return backoff
    }

    private func step(
        _ backoff: Slot.Backoff, _ failure: TransferFailure = .status(503),
        retryAfter: Double? = nil, isBearable: Bool = true, first: FirstContact.Decision = .asEver
    ) -> Slot.Backoff.Decision {
        backoff.step(
            after: failure, retryAfter: retryAfter, isBearable: isBearable, first: first,
            policy: policy, random: { 0.5 })
    }

    @Test func givesUpAfterAllowedRetries() {
        #expect(step(failed(1)) == .again(after: 0.25))
        #expect(step(failed(2)) == .again(after: 0.5))
        #expect(step(failed(3)) == .giveUp(.transfer(.status(503), attempts: 3)))
    }

    @Test func progressResetsCount() {
        var backoff = failed(2)
        backoff.failures += 1
        backoff.note(received: 1, others: 0)
        #expect(backoff.barren == 1)
        #expect(step(backoff) == .again(after: 1))
    }

    @Test func repeatedBreachGivesUp() {
        let breach = ContractBreach.contentRangeUnusable(nil)
        #expect(
            step(failed(1), .breach(breach), isBearable: false) == .giveUp(.contract(breach)))
    }

    @Test func respectsRetryAfterUpToLimit() {
        #expect(step(failed(1), retryAfter: 60) == .again(after: 60.25))
        let tooLong = DownloadError.Reason.transfer(
            .retryAfterTooLong(.seconds(3601)), attempts: 1)
        #expect(step(failed(1), retryAfter: 3601) == .giveUp(tooLong))
        let backoff = failed(1)
        #expect(backoff.hastyStep(retryAfter: 3601, policy: policy) == .giveUp(tooLong))
        #expect(backoff.hastyStep(retryAfter: 60, policy: policy) == .again(after: 0))
    }

    @Test func firstContactDecides() {
        #expect(step(failed(1), first: .again(after: 9)) == .again(after: 9))
        #expect(
            step(failed(1), first: .giveUp) == .giveUp(.transfer(.status(503), attempts: 1)))
    }
}
