import Assembler

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// The events of a simulation, and the rules that were broken.
struct SimulatedRecord {
    /// The number of requests of all kinds.
    var requests = 0
    /// The number of requests that were shortened because another connection stole their tail.
    var cuts = 0
    /// The number of times that a writer had passed the position at which its tail was stolen.
    var overruns = 0
    /// The bytes of the file that were written from responses.
    var received: Int64 = 0
    /// The received bytes of all bodies, without those in flight when a connection was closed.
    var wire: Int64 = 0
    /// The bytes in flight on connections that were closed, in round trips' worth of bytes.
    var wasted = 0.0
    /// The bytes that were requested a second time, and those of them that were received.
    var hedged: Int64 = 0
    var hedgedWire: Int64 = 0
    /// The bytes that were received for comparison.
    var sampledWire: Int64 = 0
    /// The bytes that existed before, or were written by writers that are now retired.
    var written = RangeSet()
    var notices: [(time: Double, notice: DownloadNotice)] = []
    /// The times at which the server refused a request.
    var refusals: [Double] = []
    var outcome: FetchMachine.Outcome?
    /// The maximum number of connections that had an active request.
    var mostBusy = 0
    /// The broken rules.
    var breaches: [String] = []

    /// Records the bytes that a writer has written.
    mutating func wrote(_ range: ByteRange) {
        if written.intersects(range) { breaches.append("\(range) has two writers") }
        written.insert(range)
    }

    /// Returns the number of notices of a kind.
    func count(_ isMeant: (DownloadNotice) -> Bool) -> Int {
        notices.count { isMeant($0.notice) }
    }

    /// Returns the time of the first notice of a kind.
    func time(_ isMeant: (DownloadNotice) -> Bool) -> Double? {
        notices.first { isMeant($0.notice) }?.time
    }

    var rescues: Int { count { if case .outpaced = $0 { true } else { false } } }
    var steals: Int { count { if case .stole = $0 { true } else { false } } }
    var retries: Int { count { if case .retrying = $0 { true } else { false } } }
    var hedges: Int { count { if case .hedged = $0 { true } else { false } } }

    var isComplete: Bool { if case .complete = outcome { true } else { false } }
}
