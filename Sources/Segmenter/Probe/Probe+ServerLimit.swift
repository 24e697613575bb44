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
        return await loop.ask(otherwise: false) { worker in
            let load = worker.servers.load(of: origin, now: monotonicSeconds())
            return load.served > 0
        }
    }
}
