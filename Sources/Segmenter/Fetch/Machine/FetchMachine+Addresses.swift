import Assembler

// Which of a host's addresses connections go to.
extension FetchMachine {
    // MARK: Going out

    /// Decides where the next request of a connection goes: as long as it is open, where it has gone.
    mutating func route(_ index: Int, _ ask: inout Ask, _ world: some FetchWorld) {
        let number = slots[index].source
        let (origin, last) = (sources[number].origin, slots[index].route)
        ask.wantsFreshConnection = slots[index].wantsFreshConnection
        if slots[index].isMade, !ask.wantsFreshConnection, last?.origin == origin {
            ask.address = last?.pin
            return
        }
        var pin = ask.wantsFreshConnection ? sources[number].goodAddress : nil
        // The first one has the connection of the probe.
        if sources[number].places.isAsked, openBook(number, world) {
            let loads = loads(of: number, but: index)
            pin = sources[number].places.book?.choose(
                loads, instead: last?.address, now: world.now)
        }
        sources[number].places.isAsked = true
        slots[index].route = Route(origin: origin, pin: pin, address: pin)
        ask.address = pin
        if let pin { noteUse(of: pin, number, world) }
    }

    /// The address that a second request for what a connection fetches goes to, as `Route.pin`: that of
    /// a connection that has nothing to do, if one leads elsewhere.
    mutating func pin(forHedgeOf index: Int, _ world: some FetchWorld) -> String? {
        let (number, mine) = (slots[index].source, slots[index].route)
        guard openBook(number, world), let book = sources[number].places.book else { return nil }
        let idle = slots.first {
            $0.source == number && !$0.isBusy && $0.isMade
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
    private mutating func openBook(_ number: Int, _ world: some FetchWorld) -> Bool {
        let origin = sources[number].origin
        if sources[number].places.book?.origin == origin { return true }
        sources[number].places.book = nil
        guard !setup.isOneStream else { return false }
        let addresses = world.addresses(of: origin)
        guard !addresses.isEmpty else { return false }
        sources[number].places.book = AddressBook(origin: origin, addresses: addresses)
        for slot in slots where slot.source == number && slot.request.body != nil {
            if let address = slot.route?.address { noteUse(of: address, number, world) }
        }
        return true
    }

    /// The connections that a server's addresses have, and what these bring.
    private func loads(of number: Int, but index: Int?) -> [String: AddressBook.Load] {
        guard let book = sources[number].places.book else { return [:] }
        var loads: [String: AddressBook.Load] = [:]
        var rates: [String: [Double]] = [:]
        for (other, slot) in slots.enumerated() where slot.source == number && other != index {
            guard slot.isBusy || slot.isMade, let route = slot.route,
                route.origin == book.origin
            else { continue }
            // libcurl will have taken the first one that answered.
            let address = route.address ?? book.addresses.first ?? ""
            loads[address, default: .init()].connections += 1
            if slot.rate > 0, !slot.flow.isHeldBack {
                rates[address, default: []].append(slot.rate)
            }
        }
        for (address, rates) in rates {
            loads[address]?.rate = rates.reduce(0, +) / Double(rates.count)
        }
        return loads
    }

    // MARK: What came of it

    /// A reply was accepted: notes where it came from.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - route: Where it leads; its URL may have been resolved again since the request went out.
    ///   - world: The present moment.
    mutating func noteAddress(_ index: Int, _ route: Route?, _ world: some FetchWorld) {
        guard let route, let address = route.address else { return }
        let number = slots[index].source
        sources[number].places.lastGood = (route.origin, address)
        world.reached(address, of: route.origin)
        slots[index].route = route
        guard sources[number].places.book?.origin == route.origin else { return }
        noteUse(of: address, number, world)
    }

    /// Bytes of the file have come over a connection.
    mutating func noteBytes(_ index: Int) {
        guard let route = slots[index].route, let address = route.address else { return }
        let number = slots[index].source
        guard sources[number].places.book?.origin == route.origin else { return }
        sources[number].places.book?.served(address)
    }

    private mutating func noteUse(
        of address: String, _ number: Int, _ world: some FetchWorld
    ) {
        if sources[number].places.book?.use(address) == true {
            world.report(.addressUsed(address))
        }
    }

    /// Leaves the address where a request ended without a byte of the file, if there is another.
    ///
    /// A server that serves others there has only so much to give, or does not like this request.
    ///
    /// - Returns: Whether its connection goes on elsewhere, as if nothing had happened.
    mutating func leaves(
        _ index: Int, because end: TransferEnd, _ world: some FetchWorld
    ) -> Bool {
        let number = slots[index].source
        guard let route = slots[index].route, let address = route.address,
            let cause = fault(index, end), let book = sources[number].places.book,
            book.origin == route.origin, isTheAddressFault(index, cause, address, book, world)
        else { return false }
        let hasOther = leave(
            address, number, .failed(cause), atLeast: slots[index].request.retryAfter, world)
        if hasOther { goElsewhere(index, world) }
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
            switch slots[index].request.refusal {
            // Many answer so to `If-Range`: it is left out next time.
            case .breach(.wholeFileForRange) where slots[index].request.sentIfRange: nil
            case .breach(let breach): .breach(breach)
            case .status(let status): [401, 407].contains(status) ? nil : .status(status)
            default: nil
            }
        default: nil
        }
    }

    private func isTheAddressFault(
        _ index: Int, _ cause: TransferFailure, _ address: String, _ book: AddressBook,
        _ world: some FetchWorld
    ) -> Bool {
        let source = sources[slots[index].source]
        // Where `HEAD` was asked, its contradiction is taken seriously.
        if slots[index].source == 0, !setup.isProven, source.accepted == 0,
            address == book.addresses.first
        {
            return false
        }
        if case .breach = cause { return true }
        return !isServing(address, slots[index].source, but: index, world)
    }

    /// Whether something has come of the body of some reply from an address.
    private func isServing(
        _ address: String, _ number: Int, but index: Int? = nil, _ world: some FetchWorld
    ) -> Bool {
        slots.indices.contains { other in
            other != index && slots[other].source == number
                && slots[other].route?.address == address && written(other, world) > 0
        }
    }

    /// Leaves an address.
    ///
    /// - Returns: Whether another one is good.
    private mutating func leave(
        _ address: String, _ number: Int, _ fault: AddressFault, atLeast: Double? = nil,
        _ world: some FetchWorld
    ) -> Bool {
        let isNews = sources[number].places.book?.leave(
            address, atLeast: atLeast ?? 0, now: world.now)
        let hasOther = sources[number].places.book?.hasOther(than: address) == true
        if hasOther, isNews == true { world.report(.addressLeft(address, why: fault)) }
        return hasOther
    }

    /// Has a connection try another address at once.
    private mutating func goElsewhere(_ index: Int, _ world: some FetchWorld) {
        scheduler.release(index)
        slots[index].flow.forget()
        slots[index].backoff.until = 0
        pump(world)
    }

    // MARK: Watching

    /// Once a tick: leaves addresses that are slow, or silent while others are not.
    mutating func watchAddresses(_ world: some FetchWorld) {
        guard sources.contains(where: { $0.places.book != nil }) else { return }
        let flowing = flowing(world)
        for index in flowing.keys { noteBytes(index) }
        for number in sources.indices where sources[number].places.book != nil {
            leaveSlow(number, flowing, world)
            leaveSilent(number, flowing, world)
        }
    }

    private mutating func leaveSlow(
        _ number: Int, _ flowing: [Int: Rescue.Connection], _ world: some FetchWorld
    ) {
        var rates: [String: [Double]] = [:]
        let warmUp = Rescue.warmUp.seconds + Rescue.warmUp.trips * scheduler.roundTrip
        for (index, connection) in flowing where connection.age >= warmUp {
            guard slots[index].source == number, let address = slots[index].route?.address
            else { continue }
            rates[address, default: []].append(connection.rate)
        }
        let laggards =
            sources[number].places.book?.step(
                rates, roundTrip: scheduler.roundTrip, now: world.now) ?? []
        for laggard in laggards {
            world.report(
                .addressLeft(laggard.address, why: .slow(laggard.rate, others: laggard.peers)))
            reopenAll(laggard.address, number, world)
        }
    }

    /// An address that brings nothing while others do.
    ///
    /// Connections that are not made yet count too: other addresses wait to be used.
    private mutating func leaveSilent(
        _ number: Int, _ flowing: [Int: Rescue.Connection], _ world: some FetchWorld
    ) {
        guard let book = sources[number].places.book,
            flowing.keys.contains(where: {
                slots[$0].source == number && slots[$0].request.body != nil
            })
        else { return }
        for address in book.addresses where book.hasOther(than: address) {
            guard !isServing(address, number, world) else { continue }
            let quiet = slots.indices.compactMap { index -> Double? in
                let slot = slots[index]
                guard slot.source == number, slot.route?.address == address, slot.sample == nil
                else { return nil }
                return world.state(of: index)?.quiet
            }
            guard let longest = quiet.max(), longest >= sources[number].patience else { continue }
            if leave(address, number, .failed(.stalled(seconds: longest)), world) {
                reopenAll(address, number, world)
            }
        }
    }

    private mutating func reopenAll(
        _ address: String, _ number: Int, _ world: some FetchWorld
    ) {
        for index in slots.indices
        where slots[index].source == number && slots[index].route?.address == address {
            reopen(index, world)
        }
    }
}
