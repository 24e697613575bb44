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
    private var meter = RateMeter()
    /// Bytes of transfers that are over.
    private var ended: Int64 = 0
    /// Speed of all transfers over the last five seconds, in bytes per second.
    private(set) var measured = 0.0

    /// Puts another limit in force.
    mutating func change(to limit: RateLimit, now: Double) {
        self.limit = limit
        guard let rate = limit.bytesPerSecond else {
            bucket = nil
            nextTurn = .infinity
            return
        }
        if bucket == nil { bucket = TokenBucket(rate: rate, now: now) }
        bucket?.change(to: rate, now: now)
        nextTurn = now + Self.interval
    }

    /// A transfer is over: what it had left of its share is another's.
    mutating func retire(_ transfer: Transfer) {
        ended += transfer.received
        bucket?.giveBack(transfer.pace.settle().left)
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
        guard var bucket else { return [] }
        defer { self.bucket = bucket }
        nextTurn = now + Self.interval
        // Who waits longest comes first, when there are fewer bytes than transfers.
        let paced = transfers.filter { $0.isWriting && $0.pace.isOn }.sorted {
            ($0.pace.servedAt, $0.id) < ($1.pace.servedAt, $1.id)
        }
        bucket.refill(now: now)
        let claims = paced.map { transfer in
            let (used, left) = transfer.pace.settle()
            bucket.giveBack(left)
            let wish = transfer.pace.isWaiting ? .max : 2 * min(used, .max / 2)
            return FairShare.Claim(
                group: transfer.owner, demand: min(wish, max(1, transfer.remaining)))
        }
        var shares = FairShare.divide(bucket.available, among: claims)
        let spare = bucket.available - shares.reduce(0, +)
        if spare > 0 { shares = shares.map { $0 + spare / Int64(shares.count) } }
        bucket.take(shares.reduce(0, +))
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
            if isLimited {
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
