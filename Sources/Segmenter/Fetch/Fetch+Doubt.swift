import Assembler

// A strong tag that stays while the date changes: the tag may be out of date, or the date means nothing.
extension Fetch {
    /// Most dates of one server that samples are compared for.
    private static let mostDoubts = 16
    /// Replies of another date in a row after which the date that is doubted counts as gone.
    private static let mostMisses = 8

    /// The check of the replies to a request; `isSample`: whether these decide about a date.
    func check(
        _ source: Int, _ request: TransferRequest, isSample: Bool = false
    ) -> ResponseCheck {
        var dates = sources[source].vouchedDates
        if isSample, let doubted = sources[source].doubted { dates.insert(doubted.date) }
        return ResponseCheck(
            asked: request.range, identity: sources[source].mirror.identity,
            sentIfRange: request.ifRange != nil, vouchedDates: dates, isDecoded: setup.isDecoded)
    }

    /// A reply had the same strong tag and another date: nothing more of this server's is used before a
    /// sample of what is there has been compared.
    func doubt(_ index: Int, _ breach: ContractBreach) {
        let source = slots[index].source
        guard case .otherLastModified(_, let date?) = breach,
            sources[source].doubts < Self.mostDoubts
        else {
            drop(source, .changed(breach), orFinish: .changed(breach))
            return
        }
        scheduler.release(index)
        // Another one is doubted already: that comes first. Or it is good by now, and was not when the request
        // went out.
        if sources[source].doubted == nil, !sources[source].vouchedDates.contains(date) {
            sources[source].doubts += 1
            sources[source].doubted = (date, 0)
            sources[source].standing = .unproven
        }
        pump(monotonicSeconds())
    }

    /// What is of the date that is doubted is another version: a sample differs, or nothing is there that
    /// could tell.
    func another(_ source: Int) {
        let breach = ContractBreach.otherLastModified(
            expected: sources[source].mirror.identity.lastModified,
            got: sources[source].doubted?.date)
        drop(source, .changed(breach), orFinish: .changed(breach))
    }

    /// A sample was asked for and did not come from where the date is another one.
    func sampleMissed(_ index: Int, _ breach: ContractBreach) {
        let source = slots[index].source
        sources[source].doubted?.misses += 1
        if sources[source].doubted?.misses ?? 0 >= Self.mostMisses {
            // Should it come again, it is doubted again.
            sources[source].doubted = nil
            if sources[source].hasJoined { sources[source].standing = .proven }
        }
        slots[index].wantsFreshConnection = true
        retry(index, .breach(breach), isHasty: true)
    }
}
