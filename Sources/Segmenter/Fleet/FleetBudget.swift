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

    private struct State {
        /// The refusals that are known, by their names; `nil` before the first look.
        var known: Set<String>?
        /// The refusals to tell the others.
        var news: [FleetRefusal] = []
        /// The servers of the active files.
        var origins: [Int: String] = [:]
        var looked = -Double.infinity
    }

    private let fleet: Fleet
    private let session: DownloadSession
    private let state = Monitor(State())

    init(_ fleet: Fleet, _ session: DownloadSession) {
        (self.fleet, self.session) = (fleet, session)
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
        let (claims, names, refusals) = await offLoop("fleet") { [fleet] () throws(Never) in
            let own = Set(turn.news.compactMap { fleet.tell($0) })
            let found = fleet.refusals(but: (turn.known ?? []).union(own))
            return (fleet.runningAttempts, found.names, found.new)
        }
        // Earlier refusals, from before this worker began, are over.
        let isFirst = state.withLock { state in
            defer { state.known = names }
            return state.known == nil
        }
        session.boundConnections(max(1, (fleet.connections ?? Self.connections) / claims))
        session.limitRequests(fleet.requests.map { $0.divided(by: claims) })
        guard !isFirst else { return }
        for refusal in refusals { session.pause(refusal.origin, for: refusal.seconds) }
    }
}
