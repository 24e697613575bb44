import Assembler
import Glibc
import TestSupport

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// A small fetch with failures that are derived from a seed.
struct RandomStory {
    /// The possible failures of a request.
    private enum Trouble: CaseIterable {
        case breaksOff, fallsSilent, silence, reset, overload, retryAfter, failure, ignoresIfRange
        // These may be final.
        case forbidden, otherVersion, ignoresRanges, notFound
    }

    let seed: UInt64
    let size: Int64
    let connections: Int
    /// Whether the download can survive all failures.
    let isSurvivable: Bool
    /// The rate of the slowest connection in bytes per second; only that one may be served.
    let leastRate: Double
    /// The time after which requests no longer fail.
    private let calm: Double
    private let network: SimulatedNetwork
    private let troubles: [Trouble]
    /// The probability of a failure.
    private let share: Double
    /// The number of requests that the server serves at a time.
    private let served: Int
    private let isFound: Bool
    private let lag: Int64
    private let earlier: [(range: ByteRange, isIntact: Bool)]
    /// The time at which another server of the file joins, and whether its bytes differ.
    private let mirror: (joins: Double, lies: Bool)?
    /// The reader that takes the bytes in order.
    private let reader: SimulatedReader?

    init(seed: UInt64) {
        var random = SplitMix64(seed: seed &* 7919 &+ 17)
        func spread(_ range: ClosedRange<Double>) -> Double {
            exp(Double.random(in: log(range.lowerBound)...log(range.upperBound), using: &random))
        }
        func chance(_ part: Double) -> Bool { Double.random(in: 0..<1, using: &random) < part }
        self.seed = seed
        connections = Int(spread(1...10))
        size = Int64(spread(2e5...3e7))
        let seconds = spread(0.5...6)
        let each = Double(size) / seconds / Double(connections)
        var network = SimulatedNetwork(
            roundTrip: spread(0.002...0.2), handshakes: chance(0.5) ? 1 : 2)
        var slowest = each
        let slow = chance(0.3) ? spread(2...50) : 1
        network.cap = { SimulatedCase.dice(seed, $0) < 0.25 ? each / slow : each }
        slowest = each / slow
        if chance(0.3) {
            // Some outages kill the present connections.
            let (from, length) = (spread(0.3...seconds + 1), spread(0.2...8))
            network.capacity = [(0, 1e12), (from, 0), (from + length, 1e12)]
            if chance(0.7) { network.cuts = [from] }
        }
        if chance(0.3) {
            network.addresses = [.init(name: "192.0.2.1"), .init(name: "192.0.2.2")]
            let bad = Int.random(in: 0..<2, using: &random)
            if chance(0.5) {
                network.addresses[bad].isDead = true
            } else {
                network.addresses[bad].cap = each / 20
                slowest = min(slowest, each / 20)
            }
        }
        self.network = network
        leastRate = slowest
        let isSurvivable = chance(0.8)
        let last = isSurvivable ? 8 : 12
        troubles = Trouble.allCases[..<last].filter { _ in chance(0.4) }
        share = troubles.isEmpty ? 0 : [0, 0.05, 0.2, 0.5][Int.random(in: 0..<4, using: &random)]
        calm = spread(1...20)
        served = chance(0.3) ? Int.random(in: 1...connections, using: &random) : .max
        isFound = chance(0.3)
        lag = chance(0.3) ? Int64(spread(1...1e6)) : 0
        mirror = chance(0.2) ? (spread(0.1...seconds), chance(0.3)) : nil
        reader =
            chance(0.2)
            ? SimulatedReader(rate: Double(size) / spread(1...10), size: Int64(spread(1e6...1e7)))
            : nil
        // With another server, the first one is given up sooner than a single one.
        self.isSurvivable = isSurvivable && mirror?.lies != true
        let parts = reader == nil && chance(0.3) ? Int.random(in: 1...4, using: &random) : 0
        let (step, all) = (size / Int64(2 * max(1, parts)), Int64(parts))
        earlier = (0..<all).map { (ByteRange(2 * $0 * step, (2 * $0 + 1) * step), chance(0.7)) }
    }

    /// The number of intact bytes from an earlier run.
    var intact: Int64 { earlier.reduce(0) { $0 + ($1.isIntact ? $1.range.count : 0) } }

    func fetch() -> SimulatedFetch {
        var server = SimulatedServer()
        let (seed, share, served, troubles) = (seed, share, served, troubles)
        let calm = calm
        server.answer = { arrival in
            if arrival.served >= served { return .status(503) }
            let dice = SimulatedCase.dice(seed &+ 1, arrival.number)
            guard arrival.now < calm, dice < share else { return .serve }
            let count = arrival.range?.count ?? 0
            let part = SimulatedCase.dice(seed &+ 2, arrival.number)
            switch troubles[Int(dice / share * Double(troubles.count))] {
            case .breaksOff: return .breakOff(after: Int64(Double(count) * part))
            case .fallsSilent: return .fallSilent(after: Int64(Double(count) * part))
            case .silence: return .silence
            case .reset: return .reset
            case .overload: return .status(503)
            case .retryAfter: return .status(429, retryAfter: 3 * part)
            case .failure: return .status(500)
            case .ignoresIfRange: return arrival.sentIfRange ? .whole : .serve
            case .forbidden: return .status(403)
            case .otherVersion: return .otherVersion
            case .ignoresRanges: return .whole
            case .notFound: return .status(part < 0.5 ? 404 : 410)
            }
        }
        if mirror?.lies == true { server.liars = ["https://b.test:443"] }
        server.thinking = { 0.3 * SimulatedCase.dice(seed &+ 3, $0.number) }
        let fetch = SimulatedFetch(
            network, server, size: size, connections: connections, isFound: isFound,
            isChecked: true, most: most, seed: seed, earlier: earlier)
        fetch.world.lag = lag
        fetch.world.reader = reader
        if let mirror, let url = WebURL(Self.mirror) {
            let identity = RemoteIdentity(size: size, etag: SimulatedFetch.tag)
            let other = FetchMachine.Mirror(number: 1, url: url, identity: identity)
            fetch.world.plan("join", in: mirror.joins) { $0.join(other, $1) }
        }
        return fetch
    }

    private static let mirror = "https://b.test/file"

    /// The maximum number of active requests.
    ///
    /// If the governor finds the number of connections, each of several servers has at least two.
    private var most: Int { isFound && mirror != nil ? max(connections, 4) : connections }
}
