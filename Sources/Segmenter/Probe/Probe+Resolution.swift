import Assembler

// Resolving the original URL again.
extension Probe {
    /// Replies that must agree before a file that has changed is fetched in segments again.
    private static let consistencyChecks = 4

    /// The outcome of resolving the original URL again.
    enum Resolution: Sendable {
        /// It leads to the same version of the file, here.
        case same(WebURL)
        /// It leads to another version.
        case changed(ContractBreach)
        /// It leads nowhere.
        case failed(DownloadError.Reason)
    }

    /// Resolves the original URL again, because the effective one was refused, and checks that the
    /// file is still the one of `identity`.
    ///
    /// Trouble that may pass is waited out, as in every other request.
    func resolveAgain(
        _ identity: RemoteIdentity, by method: RequestMethod = .get, fresh: Bool = false
    ) async -> Resolution {
        do throws(DownloadError.Reason) {
            let asked = method == .get ? Self.firstByte : nil
            let check = ResponseCheck(asked: asked, identity: identity, sentIfRange: false)
            var (attempts, failures) = (0, 0)
            while true {
                var landing = try await follow(
                    method, range: asked, fresh: fresh, turn: failures)
                // The head is enough.
                landing.exchange.paused = nil
                let exchange = landing.exchange
                let failure: TransferFailure
                switch exchange.reply.map(check.verdict) {
                case .accept?: return .same(landing.url)
                case .breach(let breach)? where breach.isAnotherVersion: return .changed(breach)
                case .breach(let breach)?: failure = .breach(breach)
                case .status?, nil: failure = try Self.failure(of: exchange)
                }
                failures += 1
                if !(await isOneTooMany(failure, at: landing.url)) { attempts += 1 }
                guard policy.allows(attempts) else { throw .transfer(failure, attempts: attempts) }
                try await pause(failures, exchange.reply?.retryAfter, failure)
            }
        } catch {
            return .failed(error)
        }
    }

    /// Whether several replies in a row, each on a connection of its own, tell of the same version:
    /// servers behind one address may disagree.
    func isConsistent(_ identity: RemoteIdentity) async -> Bool {
        for _ in 0..<Self.consistencyChecks {
            if case .changed = await resolveAgain(identity, fresh: true) { return false }
        }
        return true
    }
}
