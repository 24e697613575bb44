import Assembler

extension Fetch: FetchFacts {
    var date: Double { secondsSince1970() }
    func random() -> Double { .random(in: 0..<1) }

    // MARK: Requests

    /// Returns the transfer and writers of a connection; empty before its first request.
    func line(_ slot: Int) -> Line { slot < lines.count ? lines[slot] : Line() }

    func position(of slot: Int) -> Int64? {
        slot < lines.count ? lines[slot].writer?.position : nil
    }

    func state(of slot: Int) -> FetchMachine.RequestState? {
        line(slot).transfer.map { transfer in
            FetchMachine.RequestState(
                quiet: transfer.stallClock.ofServer(now),
                stalledFor: transfer.stallClock.ofBody(now),
                pause: transfer.received == 0 ? 0 : transfer.stallClock.ofOwnBody(now),
                isAnswered: transfer.reply != nil, isConnected: transfer.isConnected,
                isPaused: transfer.isPaused)
        }
    }

    func peer(of slot: Int) -> FetchMachine.Peer? {
        line(slot).transfer.map { transfer in
            let address = transfer.address
            return .init(
                address: address, httpVersion: transfer.httpVersion,
                roundTrip: address.flatMap {
                    worker.sockets.roundTrip(from: transfer.ownPort, to: $0)
                })
        }
    }

    func isSatisfied(_ slot: Int) -> Bool { line(slot).transfer?.isSatisfied ?? false }

    func takeHeldBack(_ slot: Int) -> Bool { line(slot).transfer?.pace.takeHeldBack() ?? false }

    func settleProof(_ slot: Int) -> Bool? { line(slot).writer?.settleProof() }

    func sample(of slot: Int) -> ByteRange {
        line(slot).sampler.map { ByteRange($0.start, $0.position) } ?? ByteRange(0, 0)
    }

    func sampleAgrees(_ slot: Int, _ expected: Extent?) -> Bool {
        guard let sent = line(slot).sampler?.takeUnrecorded() else { return false }
        return (output as? Assembly)?.agrees(with: sent) ?? (sent == expected)
    }

    func hedgeFits(_ slot: Int, _ count: Int64, _ digest: Digest?) -> Bool {
        guard let bytes = hedges[slot]?.collecting.bytes, Int64(bytes.count) == count else {
            return false
        }
        return digest.map { $0.fits(bytes) } ?? true
    }

    // MARK: Servers

    func network(to origin: String) -> FetchMachine.NetworkState {
        FetchMachine.NetworkState(
            roundTrip: servers.roundTrips[origin], segments: worker.sockets.segments,
            disordered: worker.sockets.disordered, presentRoundTrip: worker.sockets.roundTrip,
            load: worker.load.share, isRateLimited: worker.pacing.isLimited(id),
            downloads: worker.clients.count)
    }

    subscript(limitOf origin: String) -> ServerLimit? {
        get { servers.limits[origin] }
        set { servers.limits[origin] = newValue }
    }

    subscript(quotaOf origin: String) -> RequestQuota? {
        get { servers.quotas[origin] }
        set { servers.quotas[origin] = newValue }
    }

    func othersLoad(at origin: String) -> ServerLimit.Load {
        servers.load(of: origin, now: now, but: id)
    }

    func servesOthers(_ origin: String) -> Bool { worker.serves(origin, but: id) }
    func meaningOf403(_ origin: String) -> Forbidding.Meaning? {
        servers.forbidding[origin]?.meaning
    }
    func addresses(of origin: String) -> [String] { servers.addresses.spread(origin) }
    func hasServed(_ origin: String) -> Bool { worker.hasServed(origin) }
    func isGivenUp(_ origin: String) -> Bool { servers.contacts.isGivenUp(origin, now: now) }

    func needsHTTP2(_ origin: String) -> Bool {
        setup.connecting.memory.versions.needsHTTP2(origin)
    }

    func isRefusedVersion(_ failure: TransferFailure, _ url: WebURL) -> Bool? {
        setup.connecting.memory.versions.explains(
            failure, of: TransferRequest(url: url, connecting: setup.connecting))
    }

    // MARK: The output

    func takeWindow() -> OutputWindow? { output.takeWindow() }
    var bytesKept: Int64 { output.bytesKept }
    var bytesInOrder: Int64 { output.recorded.covered.front + output.unrecorded }
    var recorded: [Extent] { output.recorded.extents }
    var canReadBack: Bool { output is Assembly }
    var writtenPath: String { output.writtenPath }
    var certificateFailure: DownloadError.Reason { setup.connecting.certificateFailure }
}

extension Worker {
    /// Returns the fetch with an identifier, if it is not over.
    func fetch(_ id: Int) -> Fetch? { clients[id] as? Fetch }
}
