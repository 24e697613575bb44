/// Decides when the caller is asked for a new link to replace a refused one.
///
/// Pure: no I/O and no clock.
package struct LinkRefresh: Sendable {
    /// The least time between two queries, in seconds.
    package static let interval = 60.0
    /// The longest time that the caller may take to answer, in seconds.
    package static let patience = 30.0
    /// The number of new links in a row without a received byte after which no more are requested.
    package static let most = 3

    /// The step that follows when a link is refused.
    package enum Decision: Hashable {
        /// Ask for a new link after this number of seconds.
        case ask(after: Double)
        /// Use the link that was kept.
        case use(String)
        /// Give up; the fault is `nil` if it has already been reported.
        case giveUp(LinkFault?)
    }

    private var asked: Double?
    /// Whether the last query returned no link.
    private var hasFailed = false
    /// A link that was received and has not been used yet.
    private var kept: String?
    /// The number of links since bytes were last received.
    private var inVain = 0
    /// The number of bytes that had been received when a link was last refused.
    private var received: Int64 = 0

    package init() {}

    /// Returns the step that follows when a link is refused.
    ///
    /// - Parameters:
    ///   - refused: The refused link, in full.
    ///   - received: The number of bytes received so far; `nil` if the caller gives up on its own
    ///     when none arrive.
    ///   - now: The time in seconds.
    /// - Returns: The step to take.
    package mutating func step(refused: String, received: Int64?, now: Double) -> Decision {
        if let link = kept {
            kept = nil
            if link != refused { return .use(link) }
        }
        if let received {
            if received > self.received { inVain = 0 }
            self.received = received
            guard inVain < Self.most else { return .giveUp(.inVain(inVain)) }
        }
        // If the last query returned no link, do not wait to repeat it.
        if hasFailed, let asked, now < asked + Self.interval { return .giveUp(nil) }
        return .ask(after: asked.map { max(0, $0 + Self.interval - now) } ?? 0)
    }

    /// Records a query for a new link; `counts` is whether the link counts towards `most`.
    package mutating func ask(now: Double, counts: Bool) {
        asked = now
        hasFailed = false
        if counts { inVain += 1 }
    }

    /// Records that a query returned no link.
    package mutating func fail() { hasFailed = true }

    /// Keeps a received link for the next time that a link is refused.
    package mutating func keep(_ link: String) { kept = link }
}
