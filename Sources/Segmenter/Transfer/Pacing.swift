import Assembler

/// The session's limit of rate, as the loop keeps it.
///
/// Lives on the loop thread.
struct Pacing {
    /// Seconds between two distributions of shares.
    static let interval = 0.02

    /// The limit in force.
    private(set) var limit = RateLimit(nil)
    /// When shares are due, in seconds; infinity without a limit.
    private(set) var nextTurn = Double.infinity
    private var bucket: TokenBucket?
    /// Of the downloads that have a limit of their own, by their number.
    private var buckets: [Int: TokenBucket] = [:]
    private var meter = RateMeter()
    /// Bytes of transfers that are over.
    private var ended: Int64 = 0
    /// Speed of all transfers over the last five seconds, in bytes per second.
    private(set) var measured = 0.0

    /// Puts another limit in force.
    mutating func change(to limit: RateLimit, now: Double) {
        self.limit = limit
        if let rate = limit.bytesPerSecond {
            if bucket == nil { bucket = TokenBucket(rate: rate, now: now) }
            bucket?.change(to: rate, now: now)
        } else {
            bucket = nil
        }
        schedule(now)
    }

    /// Limits one download, or ends its limit; `rate` is in bytes per second.
    mutating func limit(_ owner: Int, to rate: Double?, now: Double) {
        let rate = RateLimit(rate).bytesPerSecond
        guard rate != nil || buckets[owner] != nil else { return }
        buckets[owner] = rate.map { TokenBucket(rate: $0, now: now) }
        schedule(now)
    }

    /// Whether the transfers of a download take their bodies in shares.
    func isLimited(_ owner: Int) -> Bool { bucket != nil || buckets[owner] != nil }

    private mutating func schedule(_ now: Double) {
        nextTurn = bucket == nil && buckets.isEmpty ? .infinity : min(nextTurn, now + Self.interval)
    }

    /// A transfer is over: what it had left of its share is another's.
    mutating func retire(_ transfer: Transfer) {
        ended += transfer.received
        _ = settle(transfer)
    }

    /// Puts back what a transfer has left of its share.
    ///
    /// - Returns: Bytes that it took.
    private mutating func settle(_ transfer: Transfer) -> Int64 {
        let (used, left) = transfer.pace.settle()
        bucket?.giveBack(left)
        buckets[transfer.owner]?.giveBack(left)
        return used
    }

    /// Measures the speed.
    mutating func measure(_ transfers: some Sequence<Transfer>, now: Double) {
        let bytes = transfers.reduce(ended) { $0 + $1.received }
        measured = meter.rate(bytes: bytes, now: now)
    }

    /// Distributes what has gathered.
    ///
    /// Whoever waits gets an equal share; whoever does not, twice what it took of the last one, so
    /// that a connection that its server holds back keeps nothing from others. What nobody asks for
    /// is lent to all until the next turn, so that a limit that is not reached is not felt.
    ///
    /// - Returns: The transfers to be resumed.
    mutating func distribute(_ transfers: some Sequence<Transfer>, now: Double) -> [Transfer] {
        guard bucket != nil || !buckets.isEmpty else { return [] }
        nextTurn = now + Self.interval
        // Who waits longest comes first, when there are fewer bytes than transfers.
        let paced = transfers.filter { $0.isWriting && $0.pace.isOn }.sorted {
            ($0.pace.servedAt, $0.id) < ($1.pace.servedAt, $1.id)
        }
        bucket?.refill(now: now)
        for owner in buckets.keys { buckets[owner]?.refill(now: now) }
        let claims = paced.map { transfer in
            let used = settle(transfer)
            let wish = transfer.pace.isWaiting ? .max : 2 * min(used, .max / 2)
            return FairShare.Claim(
                group: transfer.owner, demand: min(wish, max(1, transfer.remaining)))
        }
        let shares = FairShare.divide(
            bucket?.available, among: claims, most: buckets.mapValues(\.available))
        var taken: [Int: Int64] = [:]
        for (claim, share) in zip(claims, shares) { taken[claim.group, default: 0] += share }
        bucket?.take(upTo: taken.values.reduce(0, +))
        for (owner, share) in taken { buckets[owner]?.take(upTo: share) }
        return zip(paced, shares).filter { $0.pace.grant($1, now: now) }.map(\.0)
    }
}

extension Worker {
    /// Limits the rate of all transfers together, now and from now on.
    func limitRate(_ limit: RateLimit) {
        let now = monotonicSeconds()
        let isLimited = limit.bytesPerSecond != nil
        // Shares of the old rate are void, also for whoever waits.
        pacing.change(to: limit, now: now)
        for transfer in transfers.values {
            if isLimited || pacing.isLimited(transfer.owner) {
                transfer.pace.start()
            } else {
                transfer.pace.lift()
                if transfer.pace.wake() { goOn(transfer) }
            }
        }
    }

    /// Gives out shares when they are due.
    func pace(_ now: Double) {
        guard now >= pacing.nextTurn else { return }
        for transfer in pacing.distribute(transfers.values, now: now) { goOn(transfer) }
    }
}
