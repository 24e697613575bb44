import Assembler
import SegmenterRules
import SegmenterURLs
import SegmenterValues

/// The part of each host's budget that this worker uses.
///
/// Connections and requests are divided by the number of running attempts, and a refusal of one
/// worker slows all of them. Any thread may use it.
final class FleetBudget: Sendable {
    /// The connections to a host over all workers, if the fleet states no number.
    static let connections = 64
    /// The seconds between two looks at the folder, at least.
    private static let interval = 2.0
    /// The seconds after the begin in which workers that have not begun yet count, too, and how many
    /// of them.
    private static let beginning = (seconds: 60.0, most: 16)
    /// The seconds for which an overload (503) that another worker has met lowers the connections, and
    /// the part that remains.
    private static let overload = (seconds: 60.0, part: 0.75, most: 4)
    /// The seconds between two refusals by one server that this worker reports to the others, at least.
    private static let spacing = 10.0

    private struct State {
        /// The refusals that are known, by their names; `nil` before the first look.
        var known: Set<String>?
        /// The refusals to tell the others.
        var news: [FleetRefusal] = []
        /// The servers of the active files.
        var origins: [Int: String] = [:]
        var looked = -Double.infinity
        /// When this worker has last reported a refusal by a server.
        var told: [String: Double] = [:]
        /// When this worker has learned of overloads.
        var overloads: [Double] = []
    }

    private let fleet: Fleet
    private let session: DownloadSession
    /// The number of workers that the caller starts; 1 if it is not known.
    private let workers: Int
    private let start = monotonicSeconds()
    private let state = Monitor(State())

    init(_ fleet: Fleet, _ session: DownloadSession, workers: Int) {
        (self.fleet, self.session, self.workers) = (fleet, session, workers)
    }

    /// Notes what an event says about a server.
    ///
    /// - Returns: Whether a file has ended, so that the budget is to be looked at.
    func take(_ event: BatchEvent) -> Bool {
        state.withLock { state in
            switch event.kind {
            case .begun(let url): state.origins[event.index] = WebURL(url)?.origin
            case .ended:
                state.origins[event.index] = nil
                return true
            case .event(.notice(let notice)):
                guard let origin = state.origins[event.index],
                    let refusal = FleetRefusal(notice, at: origin)
                else { break }
                let now = monotonicSeconds()
                guard now - (state.told[origin] ?? -.infinity) >= Self.spacing else { break }
                state.told[origin] = now
                state.news.append(refusal)
            default: break
            }
            return false
        }
    }

    /// Takes the present part of the budget, unless that was done a moment ago.
    func apply() async {
        let now = monotonicSeconds()
        let turn = state.withLock { state -> (known: Set<String>?, news: [FleetRefusal])? in
            guard now - state.looked >= Self.interval else { return nil }
            state.looked = now
            defer { state.news = [] }
            return (state.known, state.news)
        }
        guard let turn else { return }
        let (open, names, refusals) = await offLoop("fleet") { [fleet] () throws(Never) in
            let own = Set(turn.news.compactMap { fleet.tell($0) })
            let found = fleet.refusals(but: (turn.known ?? []).union(own))
            return (fleet.openShards, found.names, found.new)
        }
        // Earlier refusals, from before this worker began, are over.
        let (isFirst, overloads) = state.withLock { state -> (Bool, Int) in
            let isFirst = state.known == nil
            state.known = names
            state.overloads.removeAll { now - $0 > Self.overload.seconds }
            if !isFirst {
                state.overloads += refusals.filter { $0.status == 503 }.map { _ in now }
            }
            return (isFirst, min(state.overloads.count, Self.overload.most))
        }
        var claims = open.running
        if now - start < Self.beginning.seconds {
            claims = max(claims, min(workers, open.unfinished, Self.beginning.most))
        }
        var total = Double(fleet.connections ?? Self.connections)
        for _ in 0..<overloads { total *= Self.overload.part }
        session.boundConnections(max(1, Int(total) / claims))
        session.limitRequests(fleet.requests.map { $0.divided(by: claims) })
        guard !isFirst else { return }
        // An overload concerns the number of requests; other refusals concern all of them.
        for refusal in refusals where refusal.status != 503 {
            session.pause(refusal.origin, for: refusal.seconds)
        }
    }
}
