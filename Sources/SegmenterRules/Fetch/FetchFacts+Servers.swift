// The facts about a server that all downloads share, and how one fetch uses them.
extension FetchFacts {
    package var mostActive: Int? { nil }

    // MARK: Servers that have sent nothing yet

    /// Decides after a failed request to a server that has sent nothing in this session, if no
    /// bytes of the file exist.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - failure: The failure of the request.
    ///   - slot: Its connection, which has recorded the failure.
    /// - Returns: The next step.
    func firstStep(
        _ origin: String, after failure: TransferFailure, _ slot: Slot
    ) -> FirstContact.Decision {
        // If the server serves others, the host works, and the fault concerns this file.
        let isItsOwn = failure.isStatus && othersLoad(at: origin).served > 0
        guard bytesKept == 0, !hasServed(origin) || isItsOwn else { return .asEver }
        var contact = FirstContact(failures: slot.backoff.barren - 1)
        return contact.step(
            after: .init(failure, retryAfter: slot.request.retryAfter),
            isGivenUp: isGivenUp(origin), random: random())
    }

    // MARK: Servers with a limit of simultaneous requests

    /// Returns whether a server's limit of simultaneous requests is known.
    package func isLimited(_ origin: String) -> Bool { self[limitOf: origin]?.limit != nil }

    /// Returns whether a server may be sent one more request, given its known limits.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - own: The requests of the fetch at the server.
    /// - Returns: Whether one more request is allowed.
    package func allows(_ origin: String, beside own: @autoclosure () -> ServerLimit.Load) -> Bool {
        guard isDue(origin, beside: own()) else { return false }
        if let mostActive, (othersLoad(at: origin) + own()).active >= mostActive { return false }
        guard let limit = self[limitOf: origin], limit.limit != nil else { return true }
        return limit.allows(beside: othersLoad(at: origin) + own(), now: now)
    }

    /// Records that a request is about to be sent.
    package func asks(_ origin: String, beside own: @autoclosure () -> ServerLimit.Load) {
        self[quotaOf: origin]?.asked(now: now)
        guard isLimited(origin) else { return }
        let load = othersLoad(at: origin) + own()
        self[limitOf: origin]?.asked(beside: load, now: now)
    }

    /// Records that a request sent at the time `asked` is being served.
    package func serves(
        _ origin: String, asked: Double, own: @autoclosure () -> ServerLimit.Load
    ) {
        self[quotaOf: origin]?.answered(isServed: true)
        let load = othersLoad(at: origin) + own()
        self[quotaOf: origin]?.pace.serves(load.served, now: now)
        guard self[limitOf: origin] != nil else { return }
        self[limitOf: origin]?.served(load, asked: asked, now: now)
    }

    /// Returns whether a refusal is that of a request above the known limit.
    func isAboveLimit(
        of origin: String, own: @autoclosure () -> ServerLimit.Load
    ) -> Bool {
        guard let limit = self[limitOf: origin]?.limit else { return false }
        let load = othersLoad(at: origin) + own()
        return load.served > 0 && load.served + load.asking >= limit
    }

    /// Returns whether a refusal may mean that a request exceeded the limit.
    ///
    /// The server must be serving another download.
    func mayBeLimit(of origin: String, _ reason: DownloadError.Reason) -> Bool {
        guard reason == .refused(status: 403), meaningOf403(origin) != .refusal else {
            return false
        }
        return servesOthers(origin)
    }

    /// Updates a server's limit after a failed request.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - request: The request.
    ///   - failure: The failure.
    ///   - isFirst: Whether the connection's previous request did not fail.
    ///   - retryAfter: The wait that the server requested, in seconds.
    ///   - own: The requests of the fetch at the server.
    /// - Returns: Whether the request exceeded the limit, may be retried soon, or failed for
    ///   another reason.
    func turnsAway(
        _ origin: String, _ request: Slot.Request, _ failure: TransferFailure, isFirst: Bool,
        retryAfter: Double?, own: @autoclosure () -> ServerLimit.Load
    ) -> ServerLimit.Verdict {
        guard failure.mayTurnAway(hadReply: request.hasReply) else { return .failure }
        var limit = self[limitOf: origin] ?? ServerLimit()
        let verdict = limit.refused(
            beside: othersLoad(at: origin) + own(), asked: request.since, isFirst: isFirst,
            retryAfter: retryAfter, failure: failure, now: now)
        self[limitOf: origin] = limit
        return verdict
    }

    // MARK: Servers that count requests

    /// Returns whether a server counts requests, so that few requests should ask for many bytes
    /// each.
    func isCounted(_ origin: String) -> Bool { self[quotaOf: origin]?.isKnown ?? false }

    /// Returns whether a server may be sent one more request now.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - own: The requests of the fetch at the server.
    /// - Returns: Whether neither its quota nor a wait that it demanded delays the request.
    func isDue(_ origin: String, beside own: @autoclosure () -> ServerLimit.Load) -> Bool {
        delay(at: origin, beside: own()) <= 0
    }

    private func delay(
        at origin: String, beside own: @autoclosure () -> ServerLimit.Load
    ) -> Double {
        self[quotaOf: origin]?.delay(
            now: now, beside: (othersLoad(at: origin) + own()).active) ?? 0
    }

    /// Records that a request has to wait for its turn, if the server's quota is the reason.
    func awaitsTurn(_ origin: String, beside own: @autoclosure () -> ServerLimit.Load) {
        let delay = delay(at: origin, beside: own())
        if delay > 0 { self[quotaOf: origin]?.waits(for: delay, now: now) }
    }

    /// Returns the seconds until a server that counts requests may be sent one; `nil` for any other
    /// server.
    func dueTime(_ origin: String) -> Double? {
        isCounted(origin) ? self[quotaOf: origin]?.delay(now: now) : nil
    }

    /// Records an overload status of a server that serves no other request, or that is known to
    /// count requests.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - request: The request.
    ///   - failure: The failure.
    ///   - own: The requests of the fetch at the server.
    /// - Returns: Whether the server counts requests and serves others, so that this request was
    ///   sent too early.
    func countsRefusal(
        _ origin: String, _ request: Slot.Request, _ failure: TransferFailure,
        own: @autoclosure () -> ServerLimit.Load
    ) -> Bool {
        guard case .status(let status) = failure, isOverload(status) else { return false }
        let load = othersLoad(at: origin) + own()
        let isAlone = load.served == 0 && load.asking == 0
        guard isAlone || isCounted(origin) else { return false }
        var quota = self[quotaOf: origin] ?? RequestQuota()
        quota.refused(asked: request.since)
        self[quotaOf: origin] = quota
        return !isAlone
    }

    // MARK: Both kinds

    /// Raises a limit that the server no longer enforces.
    ///
    /// - Returns: The change, if it has to be reported.
    func watchLimit(
        of origin: String, own: @autoclosure () -> ServerLimit.Load
    ) -> ServerLimit.News? {
        guard self[limitOf: origin] != nil else { return nil }
        let load = othersLoad(at: origin) + own()
        self[limitOf: origin]?.watch(load, now: now)
        return self[limitOf: origin]?.takeNews(now: now)
    }
}
