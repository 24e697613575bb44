import Assembler

@testable import Segmenter

/// What has happened in a simulation, and what should not have.
struct SimulatedRecord {
    /// Requests that went out, of all kinds.
    var requests = 0
    /// Requests that were cut short because another connection took their tail.
    var cuts = 0
    /// Times that a writer was behind where its tail was taken.
    var overruns = 0
    /// Bytes of the file that were written from replies.
    var received: Int64 = 0
    /// Bytes of bodies that came, of all kinds, without what was on its way when a connection was closed.
    var wire: Int64 = 0
    /// What was on its way on connections that were closed: in round trips' worth of bytes.
    var wasted = 0.0
    /// Bytes that were asked for a second time, and of those what came.
    var hedged: Int64 = 0
    var hedgedWire: Int64 = 0
    /// Bytes that came to be compared.
    var sampledWire: Int64 = 0
    /// Bytes that were written by a writer that is retired, or were there.
    var written = RangeSet()
    var notices: [(time: Double, notice: DownloadNotice)] = []
    /// When the server turned a request away.
    var refusals: [Double] = []
    var outcome: FetchMachine.Outcome?
    /// Most connections that had a request under way.
    var mostBusy = 0
    /// What broke a rule.
    var breaches: [String] = []

    /// Notes what a writer has written.
    mutating func wrote(_ range: ByteRange) {
        if written.intersects(range) { breaches.append("\(range) has two writers") }
        written.insert(range)
    }

    /// How many notices there are of a kind.
    func count(_ isMeant: (DownloadNotice) -> Bool) -> Int {
        notices.count { isMeant($0.notice) }
    }

    /// When the first notice of a kind came.
    func time(_ isMeant: (DownloadNotice) -> Bool) -> Double? {
        notices.first { isMeant($0.notice) }?.time
    }

    var rescues: Int { count { if case .outpaced = $0 { true } else { false } } }
    var steals: Int { count { if case .stole = $0 { true } else { false } } }
    var retries: Int { count { if case .retrying = $0 { true } else { false } } }
    var hedges: Int { count { if case .hedged = $0 { true } else { false } } }

    var isComplete: Bool { if case .complete = outcome { true } else { false } }
}
