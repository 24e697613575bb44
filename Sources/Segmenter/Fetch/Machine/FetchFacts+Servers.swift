// What all downloads know of a server, and what one fetch does with that.
extension FetchFacts {
    // MARK: A server that has sent nothing yet

    /// What comes after a request that failed, as long as the server has sent nothing in this session, and
    /// nothing of the file is there.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - failure: What happened to the request.
    ///   - slot: Its connection, which has noted that.
    /// - Returns: What is to be done.
    func firstStep(
        _ origin: String, after failure: TransferFailure, _ slot: Slot
    ) -> FirstContact.Step {
        // Where others are served the host is there, and it is the file that is in trouble.
        let isItsOwn = failure.isStatus && othersLoad(at: origin).served > 0
        guard bytesKept == 0, !hasServed(origin) || isItsOwn else { return .asEver }
        var contact = FirstContact(failures: slot.backoff.barren - 1)
        return contact.step(
            after: .init(failure, retryAfter: slot.request.retryAfter),
            isGivenUp: isGivenUp(origin), random: random())
    }

    // MARK: A server that serves only so many requests at a time

    /// Whether a server is known to serve only so many requests at a time.
    func isLimited(_ origin: String) -> Bool { self[limitOf: origin]?.limit != nil }

    /// Whether a server may be asked once more: nothing is above the limit that is known of it.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - own: What the fetch has under way there.
    /// - Returns: Whether there is room.
    func allows(_ origin: String, beside own: @autoclosure () -> ServerLimit.Load) -> Bool {
        if let quota = self[quotaOf: origin], quota.delay(now: now) > 0 { return false }
        guard let limit = self[limitOf: origin], limit.limit != nil else { return true }
        return limit.allows(beside: othersLoad(at: origin) + own(), now: now)
    }

    /// A request is about to go out.
    func asks(_ origin: String, beside own: @autoclosure () -> ServerLimit.Load) {
        self[quotaOf: origin]?.asked(now: now)
        guard isLimited(origin) else { return }
        let load = othersLoad(at: origin) + own()
        self[limitOf: origin]?.asked(beside: load, now: now)
    }

    /// A request is served that went out at `asked`: its body has somewhere to go.
    func serves(
        _ origin: String, asked: Double, own: @autoclosure () -> ServerLimit.Load
    ) {
        self[quotaOf: origin]?.answered(isServed: true)
        guard self[limitOf: origin] != nil else { return }
        let load = othersLoad(at: origin) + own()
        self[limitOf: origin]?.served(load, asked: asked, now: now)
    }

    /// Whether a refusal is that of a connection above a limit that is known.
    func isAboveLimit(
        of origin: String, own: @autoclosure () -> ServerLimit.Load
    ) -> Bool {
        guard let limit = self[limitOf: origin]?.limit else { return false }
        let load = othersLoad(at: origin) + own()
        return load.served > 0 && load.served + load.asking >= limit
    }

    /// Whether a refusal may be that of a request over its limit: other files of the server are
    /// being served.
    func mayBeLimit(of origin: String, _ reason: DownloadError.Reason) -> Bool {
        guard reason == .refused(status: 403), meaningOf403(origin) != .refusal else {
            return false
        }
        return servesOthers(origin)
    }

    /// What a failure of a request says of a server's limit.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - request: The request.
    ///   - failure: What happened to it.
    ///   - isFirst: Whether the connection has not failed before.
    ///   - retryAfter: Seconds that the server asks to wait for.
    ///   - own: What the fetch has under way there.
    /// - Returns: Whether it was turned away, or failed for another reason.
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

    // MARK: A server that counts requests

    /// Whether few requests are to ask a server for much.
    func isCounted(_ origin: String) -> Bool { self[quotaOf: origin]?.isKnown ?? false }

    /// Seconds until a server that counts requests may be sent one; `nil` for any other.
    func dueTime(_ origin: String) -> Double? {
        isCounted(origin) ? self[quotaOf: origin]?.delay(now: now) : nil
    }

    /// Notes that a server had too much to do for a request, if it served no other.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - request: The request.
    ///   - failure: What happened to it.
    ///   - own: What the fetch has under way there.
    /// - Returns: Whether it served others, and is known to count requests: then that was one too soon.
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

    // MARK: Both

    /// Lifts a limit that is no more.
    ///
    /// - Returns: What has changed, when that is to be reported.
    func watchLimit(
        of origin: String, own: @autoclosure () -> ServerLimit.Load
    ) -> ServerLimit.News? {
        guard self[limitOf: origin] != nil else { return nil }
        let load = othersLoad(at: origin) + own()
        self[limitOf: origin]?.watch(load, now: now)
        return self[limitOf: origin]?.takeNews(now: now)
    }
}
