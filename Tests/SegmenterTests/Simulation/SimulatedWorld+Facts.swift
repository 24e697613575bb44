import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

extension SimulatedWorld: FetchFacts {
    var date: Double { 1_800_000_000 + now }

    // MARK: The request of a connection

    private func line(_ slot: Int) -> Line { slot < lines.count ? lines[slot] : Line() }

    func position(of slot: Int) -> Int64? {
        guard slot < lines.count, let writer = lines[slot].writer else { return nil }
        guard let request = lines[slot].request else { return writer.position }
        sync(request)
        return max(writer.start, writer.position - lag)
    }

    func state(of slot: Int) -> FetchMachine.RequestState? {
        guard slot < lines.count, let request = lines[slot].request else { return nil }
        return .init(
            quiet: request.stallClock.ofServer(now), stalledFor: request.stallClock.ofBody(now),
            pause: request.count == 0 ? 0 : request.stallClock.ofOwnBody(now),
            isAnswered: request.isAnswered, isConnected: now >= request.connectedAt,
            isPaused: request.isPaused)
    }

    func peer(of slot: Int) -> FetchMachine.Peer? {
        guard let request = line(slot).request else { return nil }
        let isMade = now >= request.connectedAt
        return .init(
            address: isMade ? ways[request.link].address : nil,
            httpVersion: request.isAnswered ? "1.1" : nil)
    }

    func isSatisfied(_ slot: Int) -> Bool {
        guard let request = line(slot).request, let writer = request.writer else { return false }
        sync(request)
        return writer.position >= request.limit && request.limit < request.replyEnd
    }

    func share(of origin: String, _ use: HostGovernor.Use) -> Int { use.most }
    func takeHeldBack(_ slot: Int) -> Bool { false }
    func settleProof(_ slot: Int) -> Bool? { nil }

    func sample(of slot: Int) -> ByteRange {
        line(slot).sampler.map { ByteRange($0.start, $0.position) } ?? ByteRange(0, 0)
    }

    func sampleAgrees(_ slot: Int, _ expected: Extent?) -> Bool {
        guard let link = line(slot).link else { return false }
        return !server.liars.contains(ways[link].origin)
    }

    func hedgeFits(_ slot: Int, _ count: Int64, _ digest: Digest?) -> Bool {
        hedges[slot]?.count == count
    }

    // MARK: A server

    func network(to origin: String) -> FetchMachine.NetworkState {
        let segments = segments
        return .init(
            roundTrip: network.roundTrip, segments: segments.all, disordered: segments.disordered,
            presentRoundTrip: network.roundTrip * (isCrowded ? 2 : 1), downloads: downloads(now))
    }

    subscript(limitOf origin: String) -> ServerLimit? {
        get { limits[origin] }
        set { limits[origin] = newValue }
    }

    subscript(quotaOf origin: String) -> RequestQuota? {
        get { quotas[origin] }
        set { quotas[origin] = newValue }
    }

    func othersLoad(at origin: String) -> ServerLimit.Load { .init(served: servedOthers(now)) }
    func servesOthers(_ origin: String) -> Bool { false }
    func meaningOf403(_ origin: String) -> Forbidding.Meaning? { nil }
    func addresses(of origin: String) -> [String] {
        network.addresses.count > 1 ? network.addresses.map(\.name) : []
    }
    func hasServed(_ origin: String) -> Bool { log.received > 0 }
    func isGivenUp(_ origin: String) -> Bool { false }
    func needsHTTP2(_ origin: String) -> Bool { false }
    func isRefusedVersion(_ failure: TransferFailure, _ url: WebURL) -> Bool? { nil }

    // MARK: The output

    func takeWindow() -> OutputWindow? { reader?.takeWindow(front) }
    var bytesKept: Int64 { log.written.count }
    var bytesInOrder: Int64 { position(of: 0) ?? log.written.front }
    var recorded: [Extent] { [] }
    var canReadBack: Bool { reader == nil }

    /// The start of the first gap in the written bytes.
    var front: Int64 {
        var written = log.written
        for case let writer? in lines.map(\.writer) {
            written.insert(ByteRange(writer.start, writer.position))
        }
        return written.front
    }

    var writtenPath: String { "file" }
    var certificateFailure: DownloadError.Reason { .certificateFile(path: "") }
}
