import Assembler

// How long a host is asked from which nothing has come yet.
extension Probe {
    /// What bounds the tries before the first byte of a file.
    struct Beginning: Sendable {
        var contact = FirstContact()
        /// Whether an earlier run's part is continued: then it has begun long ago.
        var isContinued: @Sendable () async -> Bool = { false }
    }

    /// What comes after a request that failed.
    ///
    /// - Parameters:
    ///   - failure: Why it failed.
    ///   - exchange: The request's.
    ///   - url: Where it went.
    ///   - beginning: What has failed before; `nil` from when on the host need not prove that it is there.
    /// - Returns: What is to be done.
    func step(
        after failure: TransferFailure, _ exchange: Exchange, at url: WebURL,
        _ beginning: inout Beginning?
    ) async -> FirstContact.Step {
        guard var begun = beginning else { return .asEver }
        let origin = url.origin
        let known = await loop.contact(with: origin)
        guard !known.hasServed, !(await begun.isContinued()) else {
            beginning = nil
            return .asEver
        }
        var verdict = NameVerdict.noAnswer
        if let name = failure.unresolvedName(host: NamedHost(origin: origin)?.name) {
            verdict = await NameVerdict.of(name, connecting.access.addressFamily)
        }
        let trouble = FirstContact.Trouble(
            failure, retryAfter: exchange.reply?.retryAfter, verdict: verdict)
        let step = begun.contact.step(
            after: trouble, isGivenUp: known.isGivenUp, random: .random(in: 0..<1))
        beginning = begun
        if step == .giveUp {
            loop.perform { $0.servers.contacts.gaveUp(origin, now: monotonicSeconds()) }
        }
        return step
    }
}

extension TransferLoop {
    /// What the session knows of a host.
    fileprivate func contact(with origin: String) async -> (hasServed: Bool, isGivenUp: Bool) {
        await ask(otherwise: (false, false)) { worker in
            let contacts = worker.servers.contacts
            let isGivenUp = contacts.isGivenUp(origin, now: monotonicSeconds())
            return (worker.hasServed(origin), isGivenUp)
        }
    }
}

extension FirstContact.Trouble {
    /// What kind of failure it was.
    ///
    /// - Parameters:
    ///   - failure: Why a request failed.
    ///   - retryAfter: Seconds that the server asked to wait for; `nil` when it did not.
    ///   - verdict: What the resolver says of the name that libcurl could not resolve.
    init(_ failure: TransferFailure, retryAfter: Double?, verdict: NameVerdict = .noAnswer) {
        switch failure {
        case .status(let status):
            self = (500..<600).contains(status) && retryAfter == nil ? .passing : .other
        case _ where failure.isUnresolved:
            self = verdict == .unknown ? .unknownName : .passing
        case _ where failure.isSilentNameServer: self = .silentNameServer
        case _ where failure.isTimedOut: self = .other
        case .network(let code, _): self = isConnectionFailure(code) ? .passing : .other
        case .proxy: self = .passing
        case .stalled, .truncated, .breach, .retryAfterTooLong: self = .other
        }
    }
}
