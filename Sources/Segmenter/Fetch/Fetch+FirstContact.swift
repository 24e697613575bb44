import Assembler

// A server of which nothing is known but what it has answered to `HEAD`.
extension Fetch {
    /// What comes after a request that failed for so many times in a row on its connection, as long as
    /// the server has sent nothing in this session, and nothing of the file is there.
    func firstStep(
        after failure: TransferFailure, _ index: Int, attempts: Int
    ) -> FirstContact.Step {
        let origin = sources[slots[index].source].url.origin
        // What the others of several servers, or addresses, bring is not known yet.
        guard setup.isBeginning, sources.count == 1, sources[0].book == nil,
            assembly.bytesKept == 0, !worker.hasServed(origin)
        else { return .asEver }
        let now = monotonicSeconds()
        var contact = FirstContact(failures: attempts - 1)
        let step = contact.step(
            after: .init(failure, retryAfter: slots[index].retryAfter),
            isGivenUp: worker.contacts.isGivenUp(origin, now: now), random: .random(in: 0..<1))
        if step == .giveUp { worker.contacts.gaveUp(origin, now: now) }
        return step
    }
}
