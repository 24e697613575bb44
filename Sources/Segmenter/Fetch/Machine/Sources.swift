import Assembler

/// The servers that the file comes from: which of them are used, and what each connection does most for.
///
/// The first is the primary. It knows their connections as far as it is given them.
struct Sources: RandomAccessCollection, MutableCollection {
    private var all: [Source]
    /// What came from where.
    private(set) var ledger = MirrorLedger()

    /// Begins with the primary server.
    init(_ first: Source) { all = [first] }

    var startIndex: Int { 0 }
    var endIndex: Int { all.count }
    subscript(index: Int) -> Source {
        get { all[index] }
        // In place: the values hold texts and sets, which are not to be copied for each change.
        _modify { yield &all[index] }
    }

    /// The places of those that are in use.
    private var used: [Int] { indices.filter { all[$0].standing != .dropped } }
    /// Bytes that transfers which are over have written.
    var received: Int64 { reduce(0) { $0 + $1.received } }
    /// Whether no reply's body was taken yet.
    var haveNothing: Bool { allSatisfy { $0.accepted == 0 } }
    /// Whether a link is refused that states its expiry: then what runs is left to run.
    var isAnyRefused: Bool { contains { $0.link.isRefused } }
    /// How a fetch ends that has brought all of the file.
    func complete(size: Int64) -> FetchMachine.Outcome {
        // Several servers work together only where a strong tag or a digest decides.
        .complete(
            size: size, isUndated: count == 1 && all[0].dates.isUndated,
            vouchedDates: reduce(into: []) { $0.formUnion($1.dates.vouched) })
    }

    /// Whether work may be taken from a connection: whoever takes it has to ask for it.
    func maySteal(date: Double) -> Bool {
        // Nor what cannot be compared then, from whom it has to be.
        !contains { $0.trust.isForging || $0.link.mayBeOver(date: date) }
    }

    // MARK: Who comes, and goes

    /// Takes another server, if it is not there yet.
    ///
    /// - Returns: Its place.
    mutating func join(_ mirror: FetchMachine.Mirror) -> Int? {
        guard !contains(where: { $0.mirror.number == mirror.number }) else { return nil }
        all.append(Source(mirror))
        return all.count - 1
    }

    /// Uses a server's bytes from now on.
    ///
    /// - Returns: Whether it has joined the others by that.
    mutating func prove(_ source: Int) -> Bool {
        defer { all[source].hasJoined = true }
        all[source].standing = .proven
        return !all[source].hasJoined
    }

    /// Drops a server, unless it is the last: then that ends the fetch.
    ///
    /// - Parameters:
    ///   - source: The server.
    ///   - fault: What is wrong with it.
    /// - Returns: How the fetch ends by that; `nil` when others go on.
    mutating func drop(_ source: Int, _ fault: MirrorFault) -> FetchMachine.Outcome? {
        let isLast = used == [source]
        // The primary one may yet be asked what it offers now.
        if count == 1 || isLast && source == 0 && !fault.outcome.isFailure {
            return fault.outcome
        }
        all[source].standing = .dropped
        ledger.faults[all[source].mirror.number] = fault
        return isLast ? .failed(fault.reason) : nil
    }

    /// Whether no other server is in use.
    func isAlone(_ source: Int) -> Bool { used == [source] }

    // MARK: What they bring

    /// A connection's writer has ended.
    mutating func wrote(_ range: ByteRange, by source: Int) {
        all[source].received += range.count
        ledger.note(range, by: all[source].mirror.number)
    }

    /// The servers that are in use, with their connections and rates.
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

    /// The connection that another server gives to one that has too few; `nil` for none.
    func donated(to source: Int, _ slots: Slots) -> Int? {
        guard let donor = balance(slots).donor(for: source) else { return nil }
        let theirs = slots.indices(of: donor).filter { all[donor].sampling != $0 }
        return theirs.first { !slots[$0].isBusy } ?? theirs.last
    }

    /// Whether a server is waited for after a failure: one of several not as long as the only one, while
    /// others do better.
    ///
    /// When none has brought anything since, and none can be asked that might, the trouble is not this
    /// server's.
    ///
    /// - Parameters:
    ///   - source: The server.
    ///   - backoff: What its connection has noted of the failure.
    ///   - others: Bytes that all others have brought.
    ///   - slots: All connections.
    /// - Returns: Whether it is.
    func waits(
        for source: Int, _ backoff: Slot.Backoff, others: Int64, _ slots: Slots
    ) -> Bool {
        guard backoff.barren >= FetchMachine.patience else { return true }
        guard others <= backoff.othersAtFailure else { return false }
        return !indices.contains { other in
            guard other != source, all[other].standing == .unproven else { return false }
            return slots.allSatisfy { $0.source != other || $0.backoff.failures == 0 }
        }
    }

    /// What a new server is compared with: any bytes that can be read again, else an extent whose
    /// checksum is known.
    func sample(
        _ done: RangeSet, _ slots: Slots, _ facts: some FetchFacts
    ) -> MirrorSample {
        let moreComes = contains { $0.standing == .proven } || slots.isServed
        return facts.canReadBack
            ? MirrorSample(done: done, moreComes: moreComes, random: facts.random())
            : MirrorSample(extents: facts.recorded, moreComes: moreComes)
    }
}
