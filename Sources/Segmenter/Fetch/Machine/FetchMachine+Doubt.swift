import Assembler

// A strong tag that stays while the date changes: the tag may be out of date, or the date means nothing.
extension FetchMachine {
    /// The check of the replies to a request; `isSample`: whether these decide about a date.
    func check(
        _ source: Int, _ range: ByteRange?, _ ifRange: String?, isSample: Bool
    ) -> ResponseCheck {
        var dates = sources[source].dates.vouched
        if isSample, let doubted = sources[source].dates.doubted { dates.insert(doubted) }
        return ResponseCheck(
            asked: range, identity: sources[source].mirror.identity,
            sentIfRange: ifRange != nil, vouchedDates: dates, isDecoded: setup.isDecoded)
    }

    /// A reply had the same strong tag and another date: nothing more of this server's is used before a
    /// sample of what is there has been compared.
    mutating func doubt(_ index: Int, _ breach: ContractBreach, _ world: some FetchWorld) {
        let source = slots[index].source
        guard case .otherLastModified(_, let date?) = breach, sources[source].dates.mayDoubt else {
            drop(source, .changed(breach), orFinish: .changed(breach), world)
            return
        }
        scheduler.release(index)
        if sources[source].dates.doubt(date) { sources[source].standing = .unproven }
        pump(world)
    }

    /// What is of the date that is doubted is another version: a sample differs, or nothing is there that
    /// could tell.
    mutating func another(_ source: Int, _ world: some FetchWorld) {
        let breach = ContractBreach.otherLastModified(
            expected: sources[source].mirror.identity.lastModified,
            got: sources[source].dates.doubted)
        drop(source, .changed(breach), orFinish: .changed(breach), world)
    }

    /// A sample was asked for and did not come from where the date is another one.
    mutating func sampleMissed(
        _ index: Int, _ breach: ContractBreach, _ world: some FetchWorld
    ) {
        let source = slots[index].source
        if sources[source].dates.miss(), sources[source].hasJoined {
            sources[source].standing = .proven
        }
        slots[index].wantsFreshConnection = true
        retry(index, .breach(breach), isHasty: true, world)
    }
}
