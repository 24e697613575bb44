/// The servers that the file is downloaded from: which of them are used, and how connections are
/// divided among them.
///
/// The first one is the primary. The connections are passed in as arguments.
package struct Sources: RandomAccessCollection, MutableCollection {
    private var all: [Source]
    /// The bytes that each server has sent, and the faults of dropped servers.
    package private(set) var ledger = MirrorLedger()

    /// Creates the list with the primary server.
    init(_ first: Source) { all = [first] }

    package var startIndex: Int { 0 }
    package var endIndex: Int { all.count }
    package subscript(index: Int) -> Source {
        get { all[index] }
        // Modifies in place, so that the strings and sets of a server are not copied at each
        // change.
        _modify { yield &all[index] }
    }

    /// The indices of the servers that are in use.
    private var used: [Int] { indices.filter { all[$0].standing != .dropped } }
    /// The number of bytes that finished transfers have written.
    package var received: Int64 { reduce(0) { $0 + $1.received } }
    /// Whether no response's body has been accepted yet.
    var haveNothing: Bool { allSatisfy { $0.accepted == 0 } }
    /// Whether a server has refused a link with a known expiry.
    ///
    /// Running transfers are then left alone.
    var isAnyRefused: Bool { contains { $0.link.isRefused } }
    /// Returns the outcome of a fetch that has received the whole file.
    package func complete(size: Int64) -> FetchMachine.Outcome {
        // Several servers are used together only if a strong ETag or a digest identifies the
        // version.
        .complete(
            size: size, isUndated: count == 1 && all[0].dates.isUndated,
            vouchedDates: reduce(into: []) { $0.formUnion($1.dates.vouched) })
    }

    /// Returns whether a connection may take work from another, which it has to request again.
    func maySteal(date: Double) -> Bool {
        // A shortened range could not be compared with its digest, which a server that sent wrong
        // bytes requires.
        !contains { $0.trust.isForging || $0.link.mayBeOver(date: date) }
    }

    // MARK: Joining and dropping

    /// Adds a server, unless it is in the list already.
    ///
    /// - Returns: Its index; `nil` if it was not added.
    package mutating func join(_ mirror: FetchMachine.Mirror) -> Int? {
        guard !contains(where: { $0.mirror.number == mirror.number }) else { return nil }
        all.append(Source(mirror))
        return all.count - 1
    }

    /// Marks a server as proven: its bytes are used from now on.
    ///
    /// - Returns: Whether this is the first time.
    package mutating func prove(_ source: Int) -> Bool {
        defer { all[source].hasJoined = true }
        all[source].standing = .proven
        return !all[source].hasJoined
    }

    /// Drops a server.
    ///
    /// If it was the last one, the fetch ends.
    ///
    /// - Parameters:
    ///   - source: The index of the server.
    ///   - fault: The reason.
    /// - Returns: The outcome of the fetch; `nil` if other servers remain.
    package mutating func drop(_ source: Int, _ fault: MirrorFault) -> FetchMachine.Outcome? {
        let isLast = used == [source]
        // The primary server stays, so that a new probe can find out what it offers now.
        if count == 1 || isLast && source == 0 && !fault.outcome.isFailure {
            return fault.outcome
        }
        all[source].standing = .dropped
        ledger.faults[all[source].mirror.number] = fault
        return isLast ? .failed(fault.reason) : nil
    }

    /// Returns whether no other server is in use.
    package func isAlone(_ source: Int) -> Bool { used == [source] }

    // MARK: Shares

    /// Records the bytes that a connection's writer has written.
    package mutating func wrote(_ range: ByteRange, by source: Int) {
        all[source].received += range.count
        ledger.note(range, by: all[source].mirror.number)
    }

    /// Returns the servers in use, with their connections and rates.
    func balance(_ slots: Slots) -> MirrorBalance {
        var shares: [Int: MirrorBalance.Share] = [:]
        for source in used {
            let mine = slots.filter { $0.source == source }
            let rates = mine.map(\.rate).filter { $0 > 0 }
            shares[source] = MirrorBalance.Share(
                connections: mine.count,
                rate: rates.isEmpty ? nil : rates.reduce(0, +) / Double(rates.count),
                isProven: all[source].standing == .proven)
        }
        return MirrorBalance(shares: shares)
    }

    /// Returns the connection that another server gives to one with too few; `nil` for none.
    func donated(to source: Int, _ slots: Slots) -> Int? {
        guard let donor = balance(slots).donor(for: source) else { return nil }
        let theirs = slots.indices(of: donor).filter { all[donor].sampling != $0 }
        return theirs.first { !slots[$0].isBusy } ?? theirs.last
    }

    /// Returns whether to keep waiting for a server after a failure.
    ///
    /// One of several servers is given up sooner than the only one, if the others make progress. If
    /// no other server has sent bytes since, and no untested one is available, the fault is
    /// probably not this server's.
    ///
    /// - Parameters:
    ///   - source: The index of the server.
    ///   - backoff: The failures of its connection.
    ///   - others: The number of bytes that all other servers have sent.
    ///   - slots: All connections.
    /// - Returns: Whether to keep waiting.
    package func waits(
        for source: Int, _ backoff: Slot.Backoff, others: Int64, _ slots: Slots
    ) -> Bool {
        guard backoff.barren >= FetchMachine.patience else { return true }
        guard others <= backoff.othersAtFailure else { return false }
        return !indices.contains { other in
            guard other != source, all[other].standing == .unproven else { return false }
            return slots.allSatisfy { $0.source != other || $0.backoff.failures == 0 }
        }
    }

    /// Returns the sample for a new server: any bytes that can be read back, otherwise an extent
    /// with a known checksum.
    package func sample(
        _ done: RangeSet, _ slots: Slots, _ facts: some FetchFacts
    ) -> MirrorSample {
        let moreComes = contains { $0.standing == .proven } || slots.isServed
        return facts.canReadBack
            ? MirrorSample(done: done, moreComes: moreComes, random: facts.random())
            : MirrorSample(extents: facts.recorded, moreComes: moreComes)
    }
}
