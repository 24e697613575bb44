import Assembler

// Which of a host's addresses connections go to.
extension Fetch {
    /// Where a connection leads.
    struct Route: Hashable {
        /// The origin that it was made for.
        var origin: String
        /// The address that it was told to go to; `nil` left that to libcurl.
        ///
        /// libcurl reuses a connection only for requests that are told the same.
        var pin: String?
        /// The address that it leads to, as far as it is known.
        var address: String?
    }

    // MARK: Going out

    /// Decides where the next request of a connection goes: as long as it is open, where it has gone.
    func route(_ index: Int, _ request: inout TransferRequest) {
        let number = slots[index].source
        let (origin, last) = (sources[number].url.origin, slots[index].route)
        request.wantsFreshConnection = slots[index].wantsFreshConnection
        if slots[index].isMade, !request.wantsFreshConnection, last?.origin == origin {
            request.address = last?.pin
            return
        }
        var pin = request.wantsFreshConnection ? sources[number].goodAddress : nil
        // The first one has the connection of the probe.
        if sources[number].isAsked, openBook(number) {
            let loads = loads(of: number, but: index)
            pin = sources[number].book?.choose(
                loads, instead: last?.address, now: monotonicSeconds())
        }
        sources[number].isAsked = true
        slots[index].route = Route(origin: origin, pin: pin, address: pin)
        request.address = pin
        if let pin { noteUse(of: pin, number) }
    }

    /// The address that a second request for what a connection fetches goes to, as `Route.pin`: that of
    /// a connection that has nothing to do, if one leads elsewhere.
    func pin(forHedgeOf index: Int) -> String? {
        let (number, mine) = (slots[index].source, slots[index].route)
        guard openBook(number), let book = sources[number].book else { return nil }
        let idle = slots.first {
            $0.source == number && $0.transfer == nil && $0.isMade
                && $0.route?.origin == book.origin && $0.route?.address != mine?.address
        }
        // None that was left is tried for this.
        return idle?.route?.pin
            ?? book.choose(
                loads(of: number, but: nil), instead: mine?.address, now: -.infinity)
    }

    /// Makes the book of a server's addresses, when there are several.
    ///
    /// - Returns: Whether there is one, of the host that is asked.
    private func openBook(_ number: Int) -> Bool {
        let source = sources[number]
        let origin = source.url.origin
        if source.book?.origin == origin { return true }
        sources[number].book = nil
        guard !setup.isOneStream else { return false }
        let addresses = worker.hosts.spread(origin)
        guard !addresses.isEmpty else { return false }
        sources[number].book = AddressBook(origin: origin, addresses: addresses)
        for slot in slots where slot.source == number && slot.writer != nil {
            if let address = slot.route?.address { noteUse(of: address, number) }
        }
        return true
    }

    /// The connections that a server's addresses have, and what these bring.
    private func loads(of number: Int, but index: Int?) -> [String: AddressBook.Load] {
        guard let book = sources[number].book else { return [:] }
        var loads: [String: AddressBook.Load] = [:]
        var rates: [String: [Double]] = [:]
        for (other, slot) in slots.enumerated() where slot.source == number && other != index {
            guard slot.transfer != nil || slot.isMade, let route = slot.route,
                route.origin == book.origin
            else { continue }
            // libcurl will have taken the first one that answered.
            let address = route.address ?? book.addresses.first ?? ""
            loads[address, default: .init()].connections += 1
            if slot.rate > 0, !slot.isHeldBack { rates[address, default: []].append(slot.rate) }
        }
        for (address, rates) in rates {
            loads[address]?.rate = rates.reduce(0, +) / Double(rates.count)
        }
        return loads
    }

    // MARK: What came of it

    /// A reply was accepted: notes where it came from.
    func noteAddress(_ index: Int, _ transfer: Transfer?) {
        guard let transfer, let address = transfer.address else { return }
        let number = slots[index].source
        // The URL may have been resolved again since the request went out.
        let origin = transfer.request.url.origin
        sources[number].lastGood = (origin, address)
        worker.hosts.reached(address, of: origin)
        slots[index].route = Route(
            origin: origin, pin: transfer.request.address, address: address)
        guard sources[number].book?.origin == origin else { return }
        noteUse(of: address, number)
    }

    /// Bytes of the file have come over a connection.
    func noteBytes(_ index: Int) {
        guard let route = slots[index].route, let address = route.address else { return }
        let number = slots[index].source
        guard sources[number].book?.origin == route.origin else { return }
        sources[number].book?.served(address)
    }

    private func noteUse(of address: String, _ number: Int) {
        if sources[number].book?.use(address) == true { report(.addressUsed(address)) }
    }

    /// Leaves the address where a request ended without a byte of the file, if there is another.
    ///
    /// A server that serves others there has only so much to give, or does not like this request.
    ///
    /// - Returns: Whether its connection goes on elsewhere, as if nothing had happened.
    func leaves(_ index: Int, because end: TransferEnd) -> Bool {
        let number = slots[index].source
        guard let route = slots[index].route, let address = route.address,
            let cause = fault(index, end), let book = sources[number].book,
            book.origin == route.origin, isTheAddressFault(index, cause, address, book)
        else { return false }
        let hasOther = leave(address, number, .failed(cause), atLeast: slots[index].retryAfter)
        if hasOther { goElsewhere(index) }
        return hasOther
    }

    /// What went wrong, where an address may be to blame for it.
    private func fault(_ index: Int, _ end: TransferEnd) -> TransferFailure? {
        switch end {
        case .failed(.proxy): nil
        case .failed(let failure): failure
        case .untrusted(let text): .network(code: 0, message: text)
        case .complete: .network(code: 0, message: "the response had no head")
        case .declined:
            switch slots[index].refusal {
            // Many answer so to `If-Range`: it is left out next time.
            case .breach(.wholeFileForRange) where slots[index].sentIfRange: nil
            case .breach(let breach): .breach(breach)
            case .status(let status): [401, 407].contains(status) ? nil : .status(status)
            default: nil
            }
        default: nil
        }
    }

    private func isTheAddressFault(
        _ index: Int, _ cause: TransferFailure, _ address: String, _ book: AddressBook
    ) -> Bool {
        let source = sources[slots[index].source]
        // Where `HEAD` was asked, its contradiction is taken seriously.
        if slots[index].source == 0, !setup.isProven, source.accepted == 0,
            address == book.addresses.first
        {
            return false
        }
        if case .breach = cause { return true }
        return !isServing(address, slots[index].source, but: index)
    }

    /// Whether something has come of the body of some reply from an address.
    private func isServing(_ address: String, _ number: Int, but index: Int? = nil) -> Bool {
        slots.indices.contains { other in
            other != index && slots[other].source == number
                && slots[other].route?.address == address
                && slots[other].writer.map { $0.position > $0.start } ?? false
        }
    }

    /// Leaves an address.
    ///
    /// - Returns: Whether another one is good.
    private func leave(
        _ address: String, _ number: Int, _ fault: AddressFault, atLeast: Double? = nil
    ) -> Bool {
        let isNews = sources[number].book?.leave(
            address, atLeast: atLeast ?? 0, now: monotonicSeconds())
        let hasOther = sources[number].book?.hasOther(than: address) == true
        if hasOther, isNews == true { report(.addressLeft(address, why: fault)) }
        return hasOther
    }

    /// Has a connection try another address at once.
    private func goElsewhere(_ index: Int) {
        scheduler.release(index)
        slots[index].forgetRate()
        slots[index].waitsUntil = 0
        pump(monotonicSeconds())
    }

    // MARK: Watching

    /// Once a tick: leaves addresses that are slow, or silent while others are not.
    func watchAddresses(_ now: Double) {
        guard sources.contains(where: { $0.book != nil }) else { return }
        let flowing = flowing(now)
        for index in flowing.keys { noteBytes(index) }
        for number in sources.indices where sources[number].book != nil {
            leaveSlow(number, flowing, now)
            leaveSilent(number, flowing, now)
        }
    }

    private func leaveSlow(_ number: Int, _ flowing: [Int: Rescue.Connection], _ now: Double) {
        var rates: [String: [Double]] = [:]
        let warmUp = Rescue.warmUp.seconds + Rescue.warmUp.trips * scheduler.roundTrip
        for (index, connection) in flowing where connection.age >= warmUp {
            guard slots[index].source == number, let address = slots[index].route?.address
            else { continue }
            rates[address, default: []].append(connection.rate)
        }
        let laggards =
            sources[number].book?.step(rates, roundTrip: scheduler.roundTrip, now: now) ?? []
        for laggard in laggards {
            report(.addressLeft(laggard.address, why: .slow(laggard.rate, others: laggard.peers)))
            reopenAll(laggard.address, number)
        }
    }

    /// An address that brings nothing while others do.
    ///
    /// Connections that are not made yet count too: other addresses wait to be used.
    private func leaveSilent(_ number: Int, _ flowing: [Int: Rescue.Connection], _ now: Double) {
        guard let book = sources[number].book,
            flowing.keys.contains(where: { slots[$0].source == number && slots[$0].writer != nil })
        else { return }
        for address in book.addresses where book.hasOther(than: address) {
            guard !isServing(address, number) else { continue }
            let quiet = slots.compactMap { slot -> Double? in
                guard slot.source == number, slot.route?.address == address, slot.sample == nil
                else { return nil }
                return slot.transfer.flatMap(worker.transfer).map { now - $0.heard }
            }
            let limit = max(
                StallDetector.patience, StallDetector.factor * (sources[number].longestWait ?? 0))
            guard let longest = quiet.max(), longest >= limit else { continue }
            if leave(address, number, .failed(.stalled(seconds: longest))) {
                reopenAll(address, number)
            }
        }
    }

    private func reopenAll(_ address: String, _ number: Int) {
        for index in slots.indices
        where slots[index].source == number && slots[index].route?.address == address {
            reopen(index)
        }
    }
}
