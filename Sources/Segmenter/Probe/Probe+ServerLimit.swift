import Assembler

// Servers that serve only so many requests at a time, and serve other files of the session.
extension Probe {
    /// Whether a request that failed may have been one too many: other files of the session are
    /// being served by the same server at this moment, so that it is no attempt that counts.
    func isOneTooMany(
        _ failure: TransferFailure, at url: WebURL, hadReply: Bool = false
    ) async -> Bool {
        guard failure.mayTurnAway(hadReply: hadReply) else { return false }
        let origin = url.origin
        return await Answer.wait { answer in
            let isTaken = loop.perform { worker in
                let load = worker.load(of: origin, now: monotonicSeconds())
                answer.resume(returning: load.served > 0)
            }
            if !isTaken { answer.resume(returning: false) }
        }
    }
}
