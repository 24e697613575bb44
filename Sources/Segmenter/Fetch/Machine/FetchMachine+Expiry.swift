import Assembler

// Links that expire: what is asked for in time arrives, what is asked for later is refused.
//
// So each connection asks for all of its share at once, and from the time on at which the link
// expires, or is refused, nobody takes over what others bring.
extension FetchMachine {
    /// Whether requests to a connection's server ask for all that is theirs at once.
    func asksForAll(_ index: Int) -> Bool { sources[slots[index].source].link.expiry != nil }

    /// Connections among which all that is left is shared at once; `nil` where shares are cut one after
    /// the other.
    func sharers(with index: Int, _ world: some FetchWorld) -> Int? {
        guard window == nil, asksForAll(index) else { return nil }
        return slots.indices.count { other in
            !slots[other].isBusy && slots[other].backoff.until <= world.now && !isSurplus(other)
                && slots[other].source == slots[index].source
        }
    }

    /// Whether a link is refused that tells of its expiry: then what runs is left to run.
    var isAnyRefused: Bool { sources.contains { $0.link.isRefused } }

    /// Whether work may be taken from a connection: whoever takes it has to ask for it.
    func maySteal(_ world: some FetchWorld) -> Bool {
        guard window?.isBehind != true else { return false }
        let date = world.date
        return !sources.contains {
            // Nor what cannot be compared then, from whom it has to be.
            $0.trust.isForging || $0.link.isRefused || $0.link.expiry?.isOver(now: date) == true
        }
    }

    /// A server has refused a request.
    mutating func noteRefusal(_ source: Int) {
        if sources[source].link.expiry != nil { sources[source].link.isRefused = true }
    }

    /// Has the connections that were refused wait until the others have brought what they asked for in
    /// time.
    ///
    /// - Returns: Whether that is what is left to do.
    mutating func waitsForOthers(
        _ source: Int, _ reason: DownloadError.Reason, _ world: some FetchWorld
    ) -> Bool {
        guard sources[source].link.isOver(date: world.date), isServed(source) else { return false }
        sources[source].link.expired = reason
        return true
    }

    /// Once a tick: looks at what has come, and at what does not come.
    ///
    /// What runs is left to run where it could not be asked for again.
    mutating func watchReplies(_ world: some FetchWorld) {
        watchExpired(world)
        settleProofs(world)
        for index in sources.indices { sources[index].trust.confidence.wait(now: world.now) }
        guard !isOver, !isAnyRefused else { return }
        watchAddresses(world)
        watchStalls(world)
        watchLaggards(world)
    }

    /// Once a tick: gives up servers whose link has expired, when nothing comes from them any more.
    private mutating func watchExpired(_ world: some FetchWorld) {
        for source in sources.indices where sources[source].standing != .dropped {
            guard let reason = sources[source].link.expired, !isServed(source) else { continue }
            sources[source].link.expired = nil
            giveUp(source, reason, world)
        }
    }
}
