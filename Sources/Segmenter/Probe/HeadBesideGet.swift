import Assembler

/// `HEAD`, and where the server is far away a ranged `GET` at the same time, on a connection of its own:
/// either may answer first.
struct HeadBesideGet {
    /// Seconds between two looks whether the connection of `HEAD` is made, how many there are, and how
    /// many at most before it is under way.
    ///
    /// The server is far away if it is not made then. Nearby, a second connection would gain nothing.
    private static let looks = (interval: 0.0015, count: 3, early: 20)
    /// Seconds after which `GET` may have been asked for.
    private static let near = looks.interval * Double(looks.count)
    /// Part of the time to the first answer that the other one is waited for, and at least so long,
    /// in seconds.
    private static let grace = (part: 0.5, least: 0.1)

    typealias Answer = Result<Probe.Landing, DownloadError.Reason>

    /// What became of one of the two.
    private enum Event: Sendable {
        case head(Answer)
        /// `nil`: it was not made.
        case get(Answer?)
        case late
    }

    /// The answers to both; those that came in time.
    struct Answers: Sendable {
        var head: Answer?
        var get: Answer?
    }

    let probe: Probe

    /// Asks.
    ///
    /// - Parameter range: What `GET` asks for; `nil` for no `GET`.
    /// - Returns: What was answered; a body that `GET` brings waits.
    func ask(_ range: ByteRange?) async -> Answers {
        guard let range else { return Answers(head: await probe.landing(.head, nil)) }
        let started = monotonicSeconds()
        return await withTaskGroup(of: Event.self) { group in
            group.addTask { .head(await probe.landing(.head, nil)) }
            group.addTask { .get(await isFarAway() ? await probe.landing(.get, range) : nil) }
            var (answers, isAsked, isOver) = (Answers(), true, false)
            for await event in group {
                switch event {
                // What comes too late counts as not asked for.
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

    /// Whether the connection of `HEAD` takes its time, and the server is not known to serve one only.
    ///
    /// Each look is in a later turn of the loop than the one before: a connection that was made in
    /// between has been noticed, however busy the machine is.
    private func isFarAway() async -> Bool {
        var (looks, early) = (0, 0)
        while looks < Self.looks.count, early < Self.looks.early {
            try? await Task.sleep(for: .seconds(Self.looks.interval))
            guard !Task.isCancelled else { return false }
            switch await isConnecting() {
            case true?: looks += 1
            case false?: return false
            // `HEAD` has not gone out, on a machine that is busy, or is over.
            case nil: if looks > 0 { return false } else { early += 1 }
            }
        }
        return looks == Self.looks.count
    }

    private func isConnecting() async -> Bool? {
        await probe.loop.ask(otherwise: false) { [url = probe.url] worker in
            let mayHaveTwo = worker.servers.limits[url.origin]?.limit.map { $0 > 1 } ?? true
            return mayHaveTwo ? worker.isConnecting(.head, to: url) : false
        }
    }
}

extension Result where Success == Probe.Landing {
    /// Whether a server has answered.
    fileprivate var hasReply: Bool {
        if case .success(let landing) = self { landing.exchange.reply != nil } else { false }
    }
}
