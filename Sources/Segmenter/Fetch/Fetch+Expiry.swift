import Assembler

// Links that expire: what is asked for in time arrives, what is asked for later is refused.
//
// So each connection asks for all of its share at once, and from the time on at which the link
// expires, or is refused, nobody takes over what others bring.
extension Fetch {
    /// Whether requests to a connection's server ask for all that is theirs at once.
    func asksForAll(_ index: Int) -> Bool { sources[slots[index].source].expiry != nil }

    /// Connections among which all that is left is shared at once; `nil` where shares are cut one after
    /// the other.
    func sharers(with index: Int, _ now: Double) -> Int? {
        guard window == nil, asksForAll(index) else { return nil }
        return slots.indices.count { other in
            slots[other].transfer == nil && slots[other].waitsUntil <= now && !isSurplus(other)
                && slots[other].source == slots[index].source
        }
    }

    /// Whether a link is refused that tells of its expiry: then what runs is left to run.
    var isAnyRefused: Bool { sources.contains { $0.isRefused } }

    /// Whether work may be taken from a connection: whoever takes it has to ask for it.
    func maySteal() -> Bool {
        guard window?.isBehind != true else { return false }
        let now = secondsSince1970()
        return !sources.contains {
            // Nor what cannot be compared then, from whom it has to be.
            $0.isForging || $0.isRefused || $0.expiry?.isOver(now: now) == true
        }
    }

    /// A server has refused a request.
    func noteRefusal(_ source: Int) {
        if sources[source].expiry != nil { sources[source].isRefused = true }
    }

    /// Whether a server's link has expired for good: it was refused, and nothing else leads there.
    func isExpired(_ source: Int) -> Bool {
        let (mirror, now) = (sources[source].mirror, secondsSince1970())
        return sources[source].isRefused && mirror.expiry?.isOver(now: now) == true
    }

    /// Has the connections that were refused wait until the others have brought what they asked for in
    /// time.
    ///
    /// - Returns: Whether that is what is left to do.
    func waitsForOthers(_ source: Int, _ reason: DownloadError.Reason) -> Bool {
        guard isExpired(source), isServed(source) else { return false }
        sources[source].expired = reason
        return true
    }

    /// Once a tick: looks at what has come, and at what does not come.
    ///
    /// What runs is left to run where it could not be asked for again.
    func watchReplies(_ now: Double) {
        watchExpired()
        settleProofs()
        for index in sources.indices { sources[index].confidence.wait(now: now) }
        guard !isOver, !isAnyRefused else { return }
        watchAddresses(now)
        watchStalls(now)
        watchLaggards(now)
    }

    /// Once a tick: gives up servers whose link has expired, when nothing comes from them any more.
    private func watchExpired() {
        for source in sources.indices where sources[source].standing != .dropped {
            guard let reason = sources[source].expired, !isServed(source) else { continue }
            sources[source].expired = nil
            giveUp(source, reason)
        }
    }
}
