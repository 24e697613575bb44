import Assembler

// `HEAD`, and beside it a ranged `GET` whose body is on its way while `HEAD` is judged.
extension Probe {
    /// Bytes that `GET` asks for beside `HEAD`: other connections will fetch, too.
    static let overlappingRange = ByteRange(0, 1 << 20)
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

    /// Seconds without a word after which `HEAD` is not waited for any more: some servers never answer it.
    private static let headPatience = 5.0

    /// What became of one of the two.
    private enum Event: Sendable {
        case head(Result<Landing, DownloadError.Reason>)
        /// `nil`: it was not made.
        case get(Result<Landing, DownloadError.Reason>?)
        case late
    }

    /// The answers to both; those that came in time.
    struct Answers: Sendable {
        var head: Result<Landing, DownloadError.Reason>?
        var get: Result<Landing, DownloadError.Reason>?
    }

    /// Asks with `HEAD`, and where the server is far away with `GET` at the same time, on a connection
    /// of its own: either may answer first.
    ///
    /// - Parameter range: What `GET` asks for; `nil` for no `GET`.
    /// - Returns: What was answered; a body that `GET` brings waits.
    func ask(beside range: ByteRange?) async -> Answers {
        guard let range else { return Answers(head: await landing(.head, nil)) }
        let started = monotonicSeconds()
        return await withTaskGroup(of: Event.self) { group in
            group.addTask { .head(await landing(.head, nil)) }
            group.addTask { .get(await isFarAway() ? await landing(.get, range) : nil) }
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

    func landing(
        _ method: RequestMethod, _ range: ByteRange?
    ) async -> Result<Landing, DownloadError.Reason> {
        do throws(DownloadError.Reason) {
            let patience = method == .head ? Self.headPatience : .infinity
            return .success(try await follow(method, range: range, patience: patience))
        } catch {
            return .failure(error)
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
        await loop.ask(otherwise: false) { [url] worker in
            let mayHaveTwo = worker.servers.limits[url.origin]?.limit.map { $0 > 1 } ?? true
            return mayHaveTwo ? worker.isConnecting(.head, to: url) : false
        }
    }

    /// What both say together.
    ///
    /// `GET` decides, as `HEAD` is a hint: what only `HEAD` tells, such as digests, counts where both tell
    /// of the same version.
    ///
    /// - Parameters:
    ///   - head: What `HEAD` said.
    ///   - first: The answer to `GET`, if there is one.
    ///   - asked: What `GET` asked for.
    /// - Returns: The facts, with the body of `GET` where it can be used; `nil` when `GET` makes the file
    ///   shorter than `HEAD` said.
    func agreed(_ head: Finding, _ first: Landing?, asked: ByteRange?) -> Finding? {
        guard let first, let reply = first.exchange.reply else { return head }
        var asking = Asking(range: asked, said: head.file.identity)
        var finding: Finding
        do throws(ContractBreach) {
            finding = try accept(first, reply, &asking)
        } catch {
            if case .otherSize = error { return nil }
            return head
        }
        // A server that ignores one range may serve others.
        guard finding.firstReply?.range != nil, !finding.file.isDecoded else {
            var head = head
            if finding.isNamed { head.take(nameOf: finding) }
            return head
        }
        if head.isNamed, !finding.isNamed { finding.take(nameOf: head) }
        var same = finding.file.identity
        same.headOnly = []
        guard head.file.identity == same else {
            finding.file.headProblem = Self.contradicted
            report(.headUnusable(Self.contradicted))
            return finding
        }
        guard asked != Self.firstByte else {
            // It was asked for its name alone.
            var head = head
            if finding.isNamed { head.take(nameOf: finding) }
            return head
        }
        for digest in head.file.digests where !finding.file.digests.contains(digest) {
            finding.file.digests.append(digest)
        }
        return finding
    }
}

extension Probe.Finding {
    /// Takes the name that another reply suggested.
    fileprivate mutating func take(nameOf other: Self) {
        file.suggestedName = other.file.suggestedName
        isNamed = true
    }
}

extension Result where Success == Probe.Landing {
    /// Whether a server has answered.
    fileprivate var hasReply: Bool {
        if case .success(let landing) = self { landing.exchange.reply != nil } else { false }
    }
}
