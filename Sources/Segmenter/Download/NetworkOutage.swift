import Assembler
import SegmenterRules
import SegmenterTransport

/// Waits until the network is back.
struct NetworkOutage: Sendable {
    private let outage: DownloadMachine.Outage
    /// Asks each URL of the file; the first is the one that the download is with.
    private let probes: [Probe]
    /// The facts with which a canary compares a response.
    private let known: Probe.Known?
    private let last: DownloadProgress?
    private let report: @Sendable (DownloadEvent) -> Void

    init(
        _ outage: DownloadMachine.Outage, probes: [Probe], known: Probe.Known?,
        last: DownloadProgress?, report: @escaping @Sendable (DownloadEvent) -> Void
    ) {
        self.outage = outage
        self.probes = probes
        self.known = known
        self.last = last
        self.report = report
    }

    /// Waits until a canary reaches the server, or with `endsWithRoute` any host, and then at the latest until
    /// there is a route to it.
    ///
    /// - Parameters:
    ///   - network: What is known of the loss.
    ///   - received: Bytes that the download has received.
    /// - Throws: `cancelled`.
    func callAsFunction(
        _ network: inout NetworkLoss, received: Int64
    ) async throws(DownloadError.Reason) {
        let watch = NetworkWatch()
        var isOccupied = outage.isOccupied
        // A stall may as well be the server's doing.
        var isNeeded = isOccupied || outage.cause?.isStall != true
        var refusals = 0
        var wait = network.begin(
            NetworkWatch.now, date: secondsSince1970(), after: outage.cause, received: received)
        report(
            .notice(.waitingForNetwork(since: Int64(network.since.date), cause: outage.cause)))
        if isOccupied { report(.notice(.networkOccupied)) }
        if var moment = last {
            moment.phase = .waitingForNetwork
            (moment.bytesPerSecond, moment.connections) = (0, 0)
            report(.progress(moment))
        }
        let retries = probes.first?.policy.retries ?? 0
        waiting: while true {
            guard !Task.isCancelled else { throw .cancelled }
            switch wait.next(NetworkWatch.now) {
            case .rest(let due, let listensFrom):
                let wake = await watch.wait(until: due, listeningFrom: listensFrom)
                if wake == .changed { wait.changed(NetworkWatch.now) }
            case .canary(let listensFrom):
                watch.forget()
                let end = await canary(watch, listensFrom)
                refusals = end == .refused ? refusals + 1 : 0
                // Portals refuse, too; a host that does so again and again is the server.
                guard end != .back, refusals <= retries else { break waiting }
                isNeeded = true
                if outage.endsWithRoute, let end {
                    // The ordinary rules apply to a host that responds, and to a server that does not.
                    if end != .nothing { break waiting }
                    if await probes.haveRoute() { break waiting }
                }
                if end == .occupied, !isOccupied {
                    isOccupied = true
                    report(.notice(.networkOccupied))
                }
                if end == nil {
                    wait.changed(NetworkWatch.now)
                } else {
                    wait.failed(NetworkWatch.now)
                }
            }
        }
        network.end(wait, isNeeded: isNeeded)
        let away = max(0, NetworkWatch.now.boot - network.since.boot)
        report(.notice(.networkIsBack(after: Duration(seconds: away))))
    }

    /// Sends a canary to each URL of the file.
    ///
    /// - Returns: The best result; `nil` if a change of routes made them void.
    private func canary(_ watch: NetworkWatch, _ listensFrom: Double) async -> Probe.CanaryEnd? {
        await withTaskGroup(of: Probe.CanaryEnd?.self) { group in
            for probe in probes { group.addTask { await probe.canary(known) } }
            group.addTask {
                _ = await watch.wait(until: .infinity, listeningFrom: listensFrom)
                return nil
            }
            var ends: Set<Probe.CanaryEnd> = []
            for _ in probes {
                guard let end = await group.next() ?? nil else {
                    group.cancelAll()
                    return nil
                }
                ends.insert(end)
                if end == .back { break }
            }
            group.cancelAll()
            return [.back, .occupied, .refused].first(where: ends.contains) ?? .nothing
        }
    }
}

extension [Probe] {
    /// Returns whether there is a route to the server of any of these.
    func haveRoute() async -> Bool {
        for probe in self { if await probe.hasRoute() { return true } }
        return false
    }
}

extension TransferFailure {
    /// Whether no byte arrived for the stall timeout.
    fileprivate var isStall: Bool { if case .stalled = self { true } else { false } }
}
