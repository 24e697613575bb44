// The state of the connections and servers, for callers that display it.
extension FetchMachine {
    /// The peer of a connection's request.
    package struct Peer: Hashable {
        /// The address of the peer.
        package var address: String?
        /// The HTTP version of the response.
        package var httpVersion: String?
        /// The round-trip time, in seconds.
        package var roundTrip: Double?

        package init(address: String? = nil, httpVersion: String? = nil, roundTrip: Double? = nil) {
            self.address = address
            self.httpVersion = httpVersion
            self.roundTrip = roundTrip
        }
    }

    /// Returns the present state of all servers and connections.
    package func traffic(_ facts: some FetchFacts) -> DownloadTraffic {
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
        // Bytes that other connections have taken over since the request was sent are excluded.
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
    /// Returns whether a server's bytes are used, or why they are not.
    fileprivate func standing(of index: Int) -> DownloadTraffic.Standing {
        if let fault = ledger.faults[self[index].mirror.number] { return .dropped(fault) }
        return self[index].standing == .proven ? .used : .awaitsSample
    }
}
