import Testing

@testable import Segmenter

@Suite struct RequestQuotaTests {
    @Test func nothingIsKnownAtFirst() {
        var quota = RequestQuota()
        quota.asked(now: 0)
        quota.answered(isServed: true)
        #expect(quota.delay(now: 0) == 0)
        #expect(!quota.isKnown && !quota.isStrict)
    }

    // MARK: Requests that are too many in a time

    @Test func aRefusalSpacesRequests() {
        var quota = RequestQuota()
        quota.refused(asked: 10)
        #expect(quota.isKnown && !quota.isStrict)
        #expect(quota.delay(now: 10.25) == 0.75)
        #expect(quota.delay(now: 11) == 0)
        quota.asked(now: 11)
        quota.refused(asked: 11)
        #expect(quota.delay(now: 11) == 2)
    }

    /// Those that had gone out before the last one are not refused for being too soon after it.
    @Test func thoseThatWentOutTogetherAreOneRefusal() {
        var quota = RequestQuota()
        quota.refused(asked: 10)
        quota.refused(asked: 9.9)
        #expect(quota.spacing == RequestQuota.spacings.first)
    }

    @Test func theSpacingHasAnEnd() {
        var quota = RequestQuota()
        for time in 0..<20 { quota.refused(asked: Double(time)) }
        #expect(quota.spacing == RequestQuota.spacings.longest)
    }

    /// What was a hiccup is forgotten after some requests that were served; each time that this was too bold it takes
    /// twice as many.
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

    // MARK: Requests that are forbidden

    /// One refusal in twelve requests, whatever the spacing: the server does not count.
    @Test func troubleNowAndThenSpacesNoFurther() {
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

    @Test func restsLongerEachTimeAndThenGivesUp() {
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
        // Who asks for another file then learns what the server says of that.
        #expect(!quota.isResting(now: now) && quota.rests == 0)
    }

    /// Several downloads are refused at the same time: that is one refusal.
    @Test func aRestIsOneForAll() {
        var quota = RequestQuota()
        #expect(quota.forbidden(now: 0) == .rest(10))
        #expect(quota.forbidden(now: 4) == .rest(6))
        #expect(quota.rests == 1)
    }

    /// Behind a rest one request goes out, and the next ones when it was answered, or was for too long.
    @Test func oneRequestFollowsARest() {
        var quota = RequestQuota()
        _ = quota.forbidden(now: 0)
        quota.asked(now: 10)
        #expect(quota.delay(now: 12) == 8)
        #expect(quota.delay(now: 20) == 0)
        quota.answered(isServed: false)
        #expect(quota.delay(now: 12) == 0)
        #expect(quota.rests == 1)
    }

    @Test func whatIsServedEndsTheRefusals() {
        var quota = RequestQuota()
        _ = quota.forbidden(now: 0)
        quota.asked(now: 10)
        quota.answered(isServed: true)
        #expect(quota.rests == 0 && quota.isStrict && quota.isKnown)
        #expect(quota.forbidden(now: 30) == .rest(RequestQuota.rests[0]))
    }

    @Test func oldRestsAreForgotten() {
        var quota = RequestQuota()
        _ = quota.forbidden(now: 0)
        #expect(quota.forbidden(now: 10 + RequestQuota.memory + 1) == .rest(RequestQuota.rests[0]))
    }
}
