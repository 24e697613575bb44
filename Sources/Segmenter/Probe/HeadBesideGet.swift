import Assembler
import SegmenterRules
import SegmenterTransport

/// Sends `HEAD`, and to a distant server a ranged `GET` at the same time.
///
/// The `GET` has its own connection. Either response may arrive first.
struct HeadBesideGet {
    /// The polling of the connection that `HEAD` opens.
    ///
    /// `interval` is the time between two checks, in seconds. If the connection is still not
    /// established after `count` checks, the server is distant. `early` is the highest number of
    /// checks before libcurl starts to connect. A second connection to a nearby server would save
    /// no time.
    private static let looks = (interval: 0.0015, count: 3, early: 20)
    /// The earliest time, in seconds after the start, at which `GET` is sent.
    private static let near = looks.interval * Double(looks.count)
    /// The wait for the second response, as a fraction of the time to the first one.
    ///
    /// `least` is the shortest wait, in seconds.
    private static let grace = (part: 0.5, least: 0.1)

    typealias Answer = Result<Probe.Landing, DownloadError.Reason>

    /// The result of one of the two requests, or the end of the wait for the second one.
    private enum Event: Sendable {
        case head(Answer)
        /// The result of `GET`; `nil` if it was not sent.
        case get(Answer?)
        case late
    }

    /// The results of both requests, as far as they arrived in time.
    struct Answers: Sendable {
        var head: Answer?
        var get: Answer?
    }

    let probe: Probe

    /// Sends the requests and returns their results.
    ///
    /// - Parameter range: The range that `GET` requests; `nil` to send `HEAD` only.
    /// - Returns: The results. The transfer of a body that `GET` receives is paused.
    func ask(_ range: ByteRange?) async -> Answers {
        guard let range else { return Answers(head: await probe.landing(.head, nil)) }
        let started = monotonicSeconds()
        return await withTaskGroup(of: Event.self) { group in
            group.addTask { .head(await probe.landing(.head, nil)) }
            group.addTask { .get(await isFarAway() ? await probe.landing(.get, range) : nil) }
            var (answers, isAsked, isOver) = (Answers(), true, false)
            for await event in group {
                switch event {
                // A result that arrives too late is ignored, as if its request had not been sent.
                case .get(let get) where !isOver: (answers.get, isAsked) = (get, get != nil)
                case .head(let head) where !isOver: answers.head = head
                case .late: isOver = true
                case .get, .head: break
                }
                let elapsed = monotonicSeconds() - started
                if answers.head != nil, answers.get != nil || !isAsked || elapsed <= Self.near {
                    isOver = true
                }
                if isOver {
                    group.cancelAll()
                } else if answers.head != nil || answers.get?.hasReply ?? false {
                    let patience = max(Self.grace.least, Self.grace.part * elapsed)
                    group.addTask {
                        try? await Task.sleep(for: .seconds(patience))
                        return .late
                    }
                }
            }
            return answers
        }
    }

    /// Returns whether `HEAD` connects slowly and a second request is within the server's limit.
    ///
    /// Each check runs in a later iteration of the loop than the previous one. The loop therefore
    /// knows of a connection that was established in between, even on a busy machine.
    private func isFarAway() async -> Bool {
        var (looks, early) = (0, 0)
        while looks < Self.looks.count, early < Self.looks.early {
            try? await Task.sleep(for: .seconds(Self.looks.interval))
            guard !Task.isCancelled else { return false }
            switch await isConnecting() {
            case true?: looks += 1
            case false?: return false
            // Either a busy machine has not started `HEAD` yet, or `HEAD` has ended.
            case nil: if looks > 0 { return false } else { early += 1 }
            }
        }
        return looks == Self.looks.count
    }

    private func isConnecting() async -> Bool? {
        await probe.loop.ask(otherwise: false) { [url = probe.url] worker in
            let servers = worker.servers
            let mayHaveTwo =
                (servers.limits[url.origin]?.limit ?? 2) > 1
                && servers[quotaOf: url.origin]?.isKnown != true
            return mayHaveTwo ? worker.isConnecting(.head, to: url) : false
        }
    }
}

extension Result where Success == Probe.Landing {
    /// Whether the server has sent a response.
    fileprivate var hasReply: Bool {
        if case .success(let landing) = self { landing.exchange.reply != nil } else { false }
    }
}
