/// How often a new link is asked for in place of one that is refused.
///
/// Pure.
struct LinkRefresh: Sendable {
    /// Shortest time from one question to the next, in seconds.
    static let interval = 60.0
    /// Longest time that an answer may take, in seconds.
    static let patience = 30.0
    /// New links in a row that bring nothing before none is asked for any more.
    static let most = 3

    /// What is to be done about a link that is refused.
    enum Step: Hashable {
        /// Ask for a new one, after so many seconds.
        case ask(after: Double)
        /// Take the one that is kept.
        case use(String)
        /// Give up; `nil` where it was said already why.
        case giveUp(LinkFault?)
    }

    private var asked: Double?
    /// Whether there was none when one was asked for last.
    private var hasFailed = false
    /// A link that was given and is yet to be tried.
    private var kept: String?
    /// Links that were given since anything has come.
    private var inVain = 0
    /// Bytes that had come when the last of them was asked for.
    private var received: Int64 = 0

    /// Decides.
    ///
    /// - Parameters:
    ///   - refused: The link that is refused, in full.
    ///   - received: Bytes that have come so far; `nil` where somebody else sees to it that they do.
    ///   - now: In seconds.
    /// - Returns: What is to be done.
    mutating func step(refused: String, received: Int64?, now: Double) -> Step {
        if let link = kept {
            kept = nil
            if link != refused { return .use(link) }
        }
        if let received {
            if received > self.received { inVain = 0 }
            self.received = received
            guard inVain < Self.most else { return .giveUp(.inVain(inVain)) }
        }
        // Who has just had none is not waited for.
        if hasFailed, let asked, now < asked + Self.interval { return .giveUp(nil) }
        return .ask(after: asked.map { max(0, $0 + Self.interval - now) } ?? 0)
    }

    /// A new link is asked for; `counts`: it is one of those that are to bring something.
    mutating func ask(now: Double, counts: Bool) {
        asked = now
        hasFailed = false
        if counts { inVain += 1 }
    }

    /// There was none.
    mutating func fail() { hasFailed = true }

    /// Keeps a link that was given for the next time.
    mutating func keep(_ link: String) { kept = link }
}
