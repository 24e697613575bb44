import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct RequestQuotaTests {
    @Test func startsWithoutDelay() {
        var quota = RequestQuota()
        quota.asked(now: 0)
        quota.answered(isServed: true)
        #expect(quota.delay(now: 0) == 0)
        #expect(!quota.isKnown && !quota.isStrict)
    }

    // MARK: Too many requests in a time

    @Test func refusalSpacesRequests() {
        var quota = RequestQuota()
        quota.refused(asked: 10)
        #expect(quota.isKnown && !quota.isStrict)
        #expect(quota.delay(now: 10.25) == 0.75)
        #expect(quota.delay(now: 11) == 0)
        quota.asked(now: 11)
        quota.refused(asked: 11)
        #expect(quota.delay(now: 11) == 2)
    }

    /// Requests that were sent before the last one are not refused because of the spacing.
    @Test func simultaneousRefusalsCountOnce() {
        var quota = RequestQuota()
        quota.refused(asked: 10)
        quota.refused(asked: 9.9)
        #expect(quota.spacing == RequestQuota.spacings.first)
    }

    @Test func spacingIsBounded() {
        var quota = RequestQuota()
        for time in 0..<20 { quota.refused(asked: Double(time)) }
        #expect(quota.spacing == RequestQuota.spacings.longest)
    }

    /// A temporary failure is forgotten after some served requests.
    ///
    /// Their number doubles whenever the spacing turns out too short.
    @Test func servedRequestsHalveTheSpacing() {
        var quota = RequestQuota()
        quota.refused(asked: 0)
        func serve(_ count: Int) { for _ in 0..<count { quota.answered(isServed: true) } }
        serve(RequestQuota.streaks.first - 1)
        #expect(quota.spacing == 1)
        serve(1)
        #expect(quota.spacing == 0.5)
        quota.refused(asked: 1)
        serve(RequestQuota.streaks.first)
        #expect(quota.spacing == 1)
        serve(RequestQuota.streaks.first)
        #expect(quota.spacing == 0.5)
        serve(20 * RequestQuota.streaks.first)
        #expect(!quota.isKnown && quota.delay(now: 1) == 0)
    }

    // MARK: Forbidden requests

    /// The server refuses one request in twelve, whatever the spacing, so it does not count
    /// requests.
    @Test func occasionalRefusalsDoNotWidenSpacing() {
        var quota = RequestQuota()
        var now = 0.0
        for request in 0..<1200 {
            now += max(quota.delay(now: now), 0.01)
            quota.asked(now: now)
            if request % 12 == 11 {
                quota.refused(asked: now)
            } else {
                quota.answered(isServed: true)
            }
            #expect(quota.spacing <= 2 * RequestQuota.spacings.first)
        }
    }

    @Test func pausesGrowUntilGivingUp() {
        var quota = RequestQuota()
        var now = 100.0
        for rest in RequestQuota.rests {
            #expect(quota.forbidden(now: now) == .rest(rest))
            #expect(quota.isResting(now: now + rest - 0.1) && quota.delay(now: now) == rest)
            now += rest
            #expect(quota.delay(now: now) == 0)
            quota.asked(now: now)
        }
        #expect(quota.forbidden(now: now) == .giveUp)
        // The next download gets the server's own response.
        #expect(!quota.isResting(now: now) && quota.rests == 0)
    }

    /// Several downloads that are refused at the same time count as one refusal.
    @Test func simultaneousForbiddenPauseOnce() {
        var quota = RequestQuota()
        #expect(quota.forbidden(now: 0) == .rest(10))
        #expect(quota.forbidden(now: 4) == .rest(6))
        #expect(quota.rests == 1)
    }

    /// After a pause one request is sent, and further ones after its response or a timeout.
    @Test func oneRequestFollowsPause() {
        var quota = RequestQuota()
        _ = quota.forbidden(now: 0)
        quota.asked(now: 10)
        #expect(quota.delay(now: 12) == 8)
        #expect(quota.delay(now: 20) == 0)
        quota.answered(isServed: false)
        #expect(quota.delay(now: 12) == 0)
        #expect(quota.rests == 1)
    }

    @Test func servedRequestResetsPauses() {
        var quota = RequestQuota()
        _ = quota.forbidden(now: 0)
        quota.asked(now: 10)
        quota.answered(isServed: true)
        #expect(quota.rests == 0 && quota.isStrict && quota.isKnown)
        #expect(quota.forbidden(now: 30) == .rest(RequestQuota.rests[0]))
    }

    @Test func oldPausesAreForgotten() {
        var quota = RequestQuota()
        _ = quota.forbidden(now: 0)
        #expect(quota.forbidden(now: 10 + RequestQuota.memory + 1) == .rest(RequestQuota.rests[0]))
    }
}
