import Assembler

// A server of which nothing is known but what it has answered to `HEAD`.
extension FetchMachine {
    /// What comes after a request that failed for so many times in a row on its connection, as long as
    /// the server has sent nothing in this session, and nothing of the file is there.
    func firstStep(
        after failure: TransferFailure, _ index: Int, attempts: Int, _ world: some FetchWorld
    ) -> FirstContact.Step {
        let origin = sources[slots[index].source].origin
        // What the others of several servers, or addresses, bring is not known yet.
        guard setup.isBeginning, sources.count == 1, sources[0].places.book == nil,
            world.bytesKept == 0, !world.hasServed(origin)
        else { return .asEver }
        var contact = FirstContact(failures: attempts - 1)
        let step = contact.step(
            after: .init(failure, retryAfter: slots[index].request.retryAfter),
            isGivenUp: world.isGivenUp(origin), random: world.random())
        if step == .giveUp { world.gaveUp(origin) }
        return step
    }
}
