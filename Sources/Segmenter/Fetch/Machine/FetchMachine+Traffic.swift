import Assembler

// What is told of the connections and servers of a fetch, when somebody asks.
extension FetchMachine {
    /// Who answers a connection's request, as far as is known.
    struct Peer: Hashable {
        /// The address that the connection leads to.
        var address: String?
        /// The version of HTTP of the reply.
        var httpVersion: String?
        /// The round trip, in seconds.
        var roundTrip: Double?
    }

    /// What is under way at a moment.
    func traffic(_ facts: some FetchFacts) -> DownloadTraffic {
        DownloadTraffic(
            servers: sources.indices.map { server($0, facts) },
            connections: slots.indices.map { connection($0, facts) })
    }

    private func server(_ index: Int, _ facts: some FetchFacts) -> DownloadTraffic.Server {
        DownloadTraffic.Server(
            url: sources[index].mirror.shownURL, standing: sources.standing(of: index),
            bytes: received(from: index, facts),
            connections: slots.count { $0.source == index && $0.isBusy })
    }

    private func connection(
        _ index: Int, _ facts: some FetchFacts
    ) -> DownloadTraffic.Connection {
        let slot = slots[index]
        let activity = activity(of: slot, facts.state(of: index), facts.now)
        let peer = slot.isBusy ? facts.peer(of: index) : nil
        var connection = DownloadTraffic.Connection(
            server: slot.source, activity: activity,
            bytesPerSecond: activity == .receives ? slot.rate : 0,
            address: peer?.address, httpVersion: peer?.httpVersion,
            roundTrip: (peer?.roundTrip).map { .init(seconds: $0) })
        guard slot.isBusy else { return connection }
        let asked = slot.request.asked ?? ByteRange(0, scheduler.size)
        // What others have taken of it since the request went out is not its own any more.
        let segment = slot.sample == nil ? scheduler.segments[index]?.end : nil
        let end = max(asked.start, min(asked.end, segment ?? asked.end))
        let sampled = facts.sample(of: index)
        let reached = slot.sample == nil ? facts.position(of: index) : sampled.end
        connection.range = ByteRange(asked.start, end)
        connection.position = min(max(asked.start, reached ?? asked.start), end)
        return connection
    }

    private func activity(
        of slot: Slot, _ state: RequestState?, _ now: Double
    ) -> DownloadTraffic.Activity {
        guard slot.isBusy else { return slot.backoff.until > now ? .awaitsRetry : .rests }
        guard let state else { return .connecting }
        return state.isAnswered ? .receives : state.isConnected ? .awaitsReply : .connecting
    }
}

extension Sources {
    /// Whether a server's bytes are used.
    fileprivate func standing(of index: Int) -> DownloadTraffic.Standing {
        if let fault = ledger.faults[self[index].mirror.number] { return .dropped(fault) }
        return self[index].standing == .proven ? .used : .awaitsSample
    }
}
