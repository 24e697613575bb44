/// The rate limits of a session and of its downloads, and the distribution of shares.
///
/// Used on the loop thread only.
package struct Pacing {
    /// Seconds between two distributions of shares.
    package static let interval = 0.02

    /// The current limit of the session.
    package private(set) var limit = RateLimit(nil)
    /// The monotonic time in seconds of the next distribution; infinity without a limit.
    private(set) var nextTurn = Double.infinity
    private var bucket: TokenBucket?
    /// The buckets of the downloads that have a separate limit, by owner or by group.
    private var buckets: [Int: TokenBucket] = [:]
    /// The groups of downloads that share a bucket, by owner.
    private var groups: [Int: Int] = [:]
    private var meter = RateMeter()
    /// The number of bytes that ended transfers received.
    private var ended: Int64 = 0
    /// The rate of all transfers over the last five seconds, in bytes per second.
    package private(set) var measured = 0.0

    /// Replaces the limit of the session; `now` is the monotonic time in seconds.
    package mutating func change(to limit: RateLimit, now: Double) {
        self.limit = limit
        if let rate = limit.bytesPerSecond {
            if bucket == nil { bucket = TokenBucket(rate: rate, now: now) }
            bucket?.change(to: rate, now: now)
        } else {
            bucket = nil
        }
        schedule(now)
    }

    /// Sets or removes the limit of one download.
    ///
    /// - Parameters:
    ///   - owner: The number of the download.
    ///   - rate: The limit in bytes per second; `nil` to remove it.
    ///   - group: The number of the downloads that share the limit; `nil` for this one alone.
    ///   - now: The monotonic time in seconds.
    package mutating func limit(
        _ owner: Int, to rate: Double?, with group: Int? = nil, now: Double
    ) {
        let rate = RateLimit(rate).bytesPerSecond
        let last = self.group(of: owner)
        guard rate != nil || buckets[last] != nil else { return }
        groups[owner] = nil
        if !groups.values.contains(last) { buckets[last] = nil }
        if let rate {
            groups[owner] = group
            let number = group ?? owner
            if buckets[number] == nil { buckets[number] = TokenBucket(rate: rate, now: now) }
        }
        schedule(now)
    }

    /// Returns whether a rate limit applies to the transfers of a download.
    package func isLimited(_ owner: Int) -> Bool {
        bucket != nil || buckets[group(of: owner)] != nil
    }

    /// Returns the number of the bucket of a download.
    private func group(of owner: Int) -> Int { groups[owner] ?? owner }

    private mutating func schedule(_ now: Double) {
        nextTurn = bucket == nil && buckets.isEmpty ? .infinity : min(nextTurn, now + Self.interval)
    }

    /// Counts the bytes of an ended transfer, and returns its unused share to the buckets.
    package mutating func retire(_ transfer: Transfer) {
        ended += transfer.received
        _ = settle(transfer)
    }

    /// Returns the unused share of a transfer to the buckets.
    ///
    /// - Returns: The number of bytes that the transfer used of its share.
    private mutating func settle(_ transfer: Transfer) -> Int64 {
        let (used, left) = transfer.pace.settle()
        bucket?.giveBack(left)
        buckets[group(of: transfer.owner)]?.giveBack(left)
        return used
    }

    /// Updates `measured`; called in each tick.
    package mutating func measure(_ transfers: some Sequence<Transfer>, now: Double) {
        let bytes = transfers.reduce(ended) { $0 + $1.received }
        measured = meter.rate(bytes: bytes, now: now)
    }

    /// Distributes the bytes that are available under the limits.
    ///
    /// Transfers that wait for bytes get equal shares. Any other transfer gets at most twice the
    /// bytes that it used of its last share. A slow server thus reserves no bytes that others could
    /// use. Unclaimed bytes are lent to all transfers until the next distribution, so that a limit
    /// that is not reached slows down no transfer.
    ///
    /// - Returns: The transfers to resume.
    mutating func distribute(_ transfers: some Sequence<Transfer>, now: Double) -> [Transfer] {
        guard bucket != nil || !buckets.isEmpty else { return [] }
        nextTurn = now + Self.interval
        // If there are fewer bytes than transfers, those that wait longest are served first.
        let paced = transfers.filter { $0.isTaking && $0.pace.isOn }.sorted {
            ($0.pace.servedAt, $0.id) < ($1.pace.servedAt, $1.id)
        }
        bucket?.refill(now: now)
        for owner in buckets.keys { buckets[owner]?.refill(now: now) }
        let claims = paced.map { transfer in
            let used = settle(transfer)
            let wish = transfer.pace.isWaiting ? .max : 2 * min(used, .max / 2)
            return FairShare.Claim(
                group: group(of: transfer.owner), demand: min(wish, max(1, transfer.remaining)))
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
    /// Sets the rate limit of all current and future transfers together.
    package func limitRate(_ limit: RateLimit) {
        let now = monotonicSeconds()
        let isLimited = limit.bytesPerSecond != nil
        // Shares of the old rate are void, including those of waiting transfers.
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

    /// Distributes shares if that is due, and resumes the transfers that waited for them.
    package func pace(_ now: Double) {
        guard now >= pacing.nextTurn else { return }
        for transfer in pacing.distribute(transfers.values, now: now) { goOn(transfer) }
    }
}
