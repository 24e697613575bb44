import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// A whole download in simulated time.
///
/// It carries out the effects of the program's `DownloadMachine` on a model of a server, a network and
/// a disk; each fetch is a `SimulatedFetch`.
struct SimulatedDownload {
    /// The remote file, the links to it, and the network.
    struct World {
        var size: Int64 = 8_000_000
        /// The times at which the file changes, in seconds and ascending.
        var changes: [Double] = []
        var servesRanges = true
        /// The times at which the first link, and each of the new ones, expires.
        var expiries: [Double] = []
        /// The number of new links that the caller provides.
        var links = 0
        /// The times at which the network is lost, and for how long.
        var outages: [Range<Double>] = []
        /// Bytes of the first version that an earlier run has received.
        var earlier: Int64 = 0

        func version(at time: Double) -> Int { changes.count { $0 <= time } }

        func outage(at time: Double) -> Range<Double>? { outages.first { $0.contains(time) } }
    }

    /// The end of a download.
    enum End: Equatable {
        case published(version: Int)
        case failed(DownloadError.Reason)
    }

    /// The seconds that a request takes.
    static let roundTrip = 0.05
    /// The maximum number of effects before the test considers the download endless.
    private static let most = 2000

    let world: World
    private(set) var machine: DownloadMachine
    private(set) var now = 0.0
    /// The version of the part, and the ranges that it has.
    private(set) var part: (version: Int, covered: RangeSet)?
    /// The number of links that were used up when the part was opened last.
    private var partLink = 0
    /// The version that the primary offered last.
    private var offered = 0
    /// The number of links that were used up.
    private(set) var link = 0
    /// Bytes of the file that all fetches have received.
    private(set) var received: Int64 = 0
    /// The number of discarded parts that were not empty.
    private(set) var discarded = 0
    private(set) var effects: [DownloadMachine.Effect] = []
    private(set) var notices: [DownloadNotice] = []
    /// The rules that were broken.
    private(set) var breaches: [String] = []

    init(
        _ world: World, isPreview: Bool = false,
        _ change: (inout DownloadOptions) -> Void = { _ in }
    ) {
        self.world = world
        let job = PreparationTests.job(change)
        machine = DownloadMachine(
            job, isListed: false, hasLinks: world.links > 0, isPreview: isPreview)
        if world.earlier > 0 { part = (0, RangeSet(ByteRange(0, world.earlier))) }
    }

    /// Carries out effect after effect until the download ends.
    mutating func run() -> End {
        while effects.count < Self.most {
            notices += machine.takeNotices()
            let effect = machine.next
            effects.append(effect)
            do throws(DownloadError.Reason) {
                switch effect {
                case .look(let look): try self.look(look)
                case .act(let act): if let end = try self.act(act) { return end }
                case .fail(let reason): return .failed(reason)
                }
            } catch {
                machine.failed(error)
            }
        }
        breaches.append("no end after \(Self.most) effects")
        return .failed(.cancelled)
    }

    // MARK: Effects

    private mutating func look(
        _ look: DownloadMachine.Look
    ) throws(DownloadError.Reason) {
        switch look {
        case .survey: _ = machine.preparation.take(.nothing)
        case .name: machine.preparation.takeName()
        case .begunPart:
            machine.sought(
                part.map { .init(identity: identity($0.version), hasRanges: true) },
                isContinued: part != nil)
        case .part: machine.looked(at: partSight)
        case .partSample: machine.compared(.none)
        case .servers: machine.compared(serversAgree: true)
        case .prove, .whole, .question, .again: machine.found(try ask())
        case .date: machine.dated(.same(Self.url))
        case .pause(let failures, _, _, _):
            now += Double(failures)
            machine.paused()
        case .newLink:
            guard link < world.links else { return machine.foundNoLink() }
            link += 1
            machine.found(try ask())
        case .canary:
            now += 1
            machine.met(world.outage(at: now) == nil ? .back : .nothing)
        case .route: machine.looked(forRoute: world.outage(at: now) == nil)
        case .network(let outage): wait(outage)
        case .successor(let reason): throw reason
        case .existing, .ifModified, .sample, .content, .digest, .unused, .earlierServer:
            breaches.append("\(look) without a reason")
            throw .cancelled
        }
    }

    private mutating func act(
        _ act: DownloadMachine.Act
    ) throws(DownloadError.Reason) -> End? {
        switch act {
        case .finish: machine.preparation.takeNothingToFinish()
        case .ask: machine.found(try ask())
        case .makeFolder: machine.preparation.take(missingFolderIn: nil)
        case .enter: machine.entered()
        case .attempt(.open): try open()
        case .attempt(.fetch): fetch()
        case .attempt(.publish(let size, _)): return publish(size)
        case .attempt(.close): machine.closed()
        case .leave, .publishWhole, .prepareRepair, .adopt:
            breaches.append("\(act) without a reason")
            throw .cancelled
        }
        return nil
    }

    // MARK: The server and the network

    private static var url: WebURL {
        guard let url = WebURL(PreparationTests.url) else { preconditionFailure("no URL") }
        return url
    }

    private func identity(_ version: Int) -> RemoteIdentity {
        RemoteIdentity(size: world.size, etag: "\"\(version)\"")
    }

    private func hasExpired(at time: Double) -> Bool {
        world.expiries.indices.contains(link) && world.expiries[link] <= time
    }

    /// Asks the primary what it offers.
    private mutating func ask() throws(DownloadError.Reason) -> DownloadMachine.Offered {
        now += Self.roundTrip
        guard world.outage(at: now) == nil else {
            throw .transfer(.network(code: 6, message: "no such host"), attempts: 3)
        }
        guard !hasExpired(at: now) else { throw .refused(status: 403) }
        offered = world.version(at: now)
        let file = RemoteFile(
            url: PreparationTests.url, effectiveURL: PreparationTests.url, redirects: 0,
            identity: identity(offered), acceptsRanges: world.servesRanges, suggestedName: "f",
            digests: [], probedBy: "GET")
        return .init(
            file: file, isProven: true, isRefreshed: link > 0, policy: RetryPolicy(retries: 5),
            offer: .init(
                identity: file.identity, isProven: true, fullURL: PreparationTests.url,
                url: PreparationTests.url))
    }

    private mutating func wait(_ outage: DownloadMachine.Outage) {
        let moment = NetworkWait.Moment(boot: now, monotonic: now)
        let lost = world.outage(at: now)
        guard
            let wait = machine.network?.begin(
                moment, date: now, after: outage.cause, received: machine.attempts.received)
        else {
            breaches.append("a download waits for the network that must not")
            return machine.networkIsBack()
        }
        now = (lost?.upperBound ?? now) + 1
        machine.network?.end(wait, isNeeded: lost != nil)
        machine.networkIsBack()
    }

    // MARK: The part

    private var partSight: DownloadMachine.FoundPart {
        guard let part, !part.covered.isEmpty else { return .nothing }
        let begun = (identity(part.version), !world.servesRanges, false)
        if part.version != offered {
            let reason = StartOverReason.etagChanged(
                was: "\"\(part.version)\"", now: "\"\(offered)\"")
            return .lost(.init(reason: reason, begun: begun))
        }
        return world.servesRanges ? .resumable : .lost(.init(reason: .noRanges, begun: begun))
    }

    private mutating func open() throws(DownloadError.Reason) {
        let isKept = part.map { $0.version == offered && world.servesRanges } ?? false
        let isEmpty = part?.covered.isEmpty ?? true
        // `DownloadWork.refuseToStartOver` keeps a part that another link has begun.
        if world.links > 0, link > partLink, !isEmpty, let part, part.version != offered {
            throw .notContinued(
                .etagChanged(was: "\"\(part.version)\"", now: "\"\(offered)\""))
        }
        partLink = link
        if !isKept || machine.attempts.startOver != nil {
            if !isEmpty {
                discarded += 1
                if part?.version == offered, world.servesRanges {
                    breaches.append("a part of the offered version is discarded")
                }
            }
            part = (offered, RangeSet())
            machine.opened(hasStartedOver: !isEmpty)
        } else {
            machine.opened(hasStartedOver: false)
        }
    }

    private mutating func fetch() {
        var network = SimulatedNetwork(roundTrip: Self.roundTrip)
        network.cap = { _ in 1e6 }
        let began = now
        for outage in world.outages where outage.upperBound > began {
            let start = max(0, outage.lowerBound - began)
            network.capacity += [(start, 0), (outage.upperBound - began, .infinity)]
            network.cuts.append(start)
        }
        var server = SimulatedServer()
        server.answer = { [self] arrival in
            let time = began + arrival.now
            if hasExpired(at: time) { return .status(403) }
            if world.version(at: time) != offered { return .otherVersion }
            return world.servesRanges ? .serve : .whole
        }
        let waits = machine.network != nil
        var fetch = SimulatedFetch(
            network, server, size: world.size, connections: 4, isChecked: true,
            earlier: part?.covered.ranges.map { ($0, true) } ?? []
        ) { setup in
            setup.endsWithNetwork = waits
            setup.isOneStream = !world.servesRanges
            setup.primary.mayRest = false
        }
        guard let seconds = fetch.run(limit: 3600), let outcome = fetch.log.outcome else {
            breaches.append("no end of a fetch")
            return machine.failed(.cancelled)
        }
        now += seconds
        breaches += fetch.log.breaches
        for range in fetch.log.written.ranges { part?.covered.insert(range) }
        received += fetch.log.received
        machine.fetched(outcome, received: received)
    }

    private mutating func publish(_ size: Int64) -> End? {
        guard let part, part.covered == RangeSet(ByteRange(0, size)), size == world.size else {
            breaches.append("an incomplete file is published")
            return .failed(.cancelled)
        }
        // The check at the end of the file.
        let present = world.version(at: now)
        guard present == part.version || world.outage(at: now) != nil || hasExpired(at: now)
        else {
            machine.contradicted(
                .otherETag(expected: "\"\(part.version)\"", got: "\"\(present)\""))
            return nil
        }
        return .published(version: part.version)
    }
}
