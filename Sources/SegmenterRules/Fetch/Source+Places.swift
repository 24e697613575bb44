extension Source {
    /// The addresses of a host that connections use, and those that they avoid for a while.
    package struct Places {
        /// The origin and the address of the last response whose body was accepted.
        private(set) var lastGood: (origin: String, address: String)?
        /// The addresses that connections are spread over; `nil` unless the host has several.
        package private(set) var book: AddressBook?
        /// Whether a request was sent, or the probe's response was adopted.
        package var isAsked = false
        /// Whether connections may use several addresses.
        private let isSpread: Bool
        /// The notices about addresses that were not reported yet.
        private var news: [DownloadNotice] = []

        package init(isSpread: Bool) { self.isSpread = isSpread }

        /// Returns the address book if it belongs to the origin of the connection.
        fileprivate func book(for route: FetchMachine.Route?) -> AddressBook? {
            book?.origin == route?.origin ? book : nil
        }

        /// Creates the address book if the host has several addresses.
        ///
        /// - Returns: The book of the current origin; `nil` if there is none.
        fileprivate mutating func makeBook(
            _ origin: String, of source: Int, _ slots: Slots, _ facts: some FetchFacts
        ) -> AddressBook? {
            if book?.origin == origin { return book }
            book = nil
            guard isSpread else { return nil }
            let addresses = facts.addresses(of: origin)
            guard !addresses.isEmpty else { return nil }
            book = AddressBook(origin: origin, addresses: addresses)
            for slot in slots where slot.source == source && slot.request.body != nil {
                if let address = slot.route?.address { use(address) }
            }
            return book
        }

        /// Records that a connection uses an address.
        fileprivate mutating func use(_ address: String) {
            if book?.use(address) == true { news.append(.addressUsed(address)) }
        }

        /// Returns and clears the notices about addresses used for the first time, or abandoned.
        package mutating func takeNews() -> [DownloadNotice] {
            defer { news = [] }
            return news
        }

        /// Discards the address book, because the URL now leads to another host.
        package mutating func close() { book = nil }

        // MARK: Events

        /// Records the address from which a connection received an accepted response.
        package mutating func answered(_ route: FetchMachine.Route, from address: String) {
            lastGood = (route.origin, address)
            if book?.origin == route.origin { use(address) }
        }

        /// Records that a connection received bytes of the file.
        package mutating func served(_ route: FetchMachine.Route?) {
            guard let address = route?.address, book(for: route) != nil else { return }
            book?.served(address)
        }

        /// Abandons an address for a while, because of a fault.
        ///
        /// - Parameters:
        ///   - address: An address of the book.
        ///   - fault: The fault.
        ///   - least: The minimum time to avoid the address, in seconds.
        ///   - now: The time.
        /// - Returns: Whether another address is usable.
        package mutating func leave(
            _ address: String, _ fault: AddressFault, atLeast least: Double? = nil, now: Double
        ) -> Bool {
            let isNews = book?.leave(address, atLeast: least ?? 0, now: now) == true
            let hasOther = book?.hasOther(than: address) == true
            if hasOther, isNews { news.append(.addressLeft(address, why: fault)) }
            return hasOther
        }

        /// Forgets the last good address, because all connections were too slow.
        mutating func forgetGood() { lastGood = nil }

        /// Abandons addresses whose connections are far slower than those of the other addresses.
        ///
        /// - Parameters:
        ///   - flowing: The connections that are receiving a body.
        ///   - source: The index of the server.
        ///   - slots: All connections.
        ///   - roundTrip: The time from a request to the first byte of its response, in seconds.
        ///   - now: The time.
        /// - Returns: The addresses that are abandoned.
        mutating func leaveSlow(
            _ flowing: [Int: Rescue.Connection], of source: Int, _ slots: Slots,
            roundTrip: Double, now: Double
        ) -> [String] {
            var rates: [String: [Double]] = [:]
            let warmUp = Rescue.warmUp.seconds + Rescue.warmUp.trips * roundTrip
            for (index, connection) in flowing where connection.age >= warmUp {
                guard slots[index].source == source, let address = slots[index].route?.address
                else { continue }
                rates[address, default: []].append(connection.rate)
            }
            let laggards = book?.step(rates, roundTrip: roundTrip, now: now) ?? []
            for laggard in laggards {
                let fault = AddressFault.slow(laggard.rate, others: laggard.peers)
                news.append(.addressLeft(laggard.address, why: fault))
            }
            return laggards.map(\.address)
        }
    }

    // MARK: Choosing an address

    /// Chooses the address for a connection's next request.
    ///
    /// An open connection keeps its address.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - slots: All connections.
    ///   - ask: The request, which receives the address.
    ///   - facts: The current facts.
    package mutating func route(
        _ index: Int, _ slots: inout Slots, _ ask: inout FetchMachine.Ask,
        _ facts: some FetchFacts
    ) {
        let last = slots[index].route
        ask.wantsFreshConnection = slots[index].wantsFreshConnection
        if slots[index].isMade, !ask.wantsFreshConnection, last?.origin == origin {
            ask.address = last?.pin
            return
        }
        var pin = ask.wantsFreshConnection ? goodAddress : nil
        // The first request uses the probe's connection.
        if places.isAsked,
            let book = places.makeBook(origin, of: slots[index].source, slots, facts)
        {
            let loads = slots.loads(of: slots[index].source, in: book, but: index)
            pin = book.choose(loads, instead: last?.address, now: facts.now)
        }
        places.isAsked = true
        slots[index].route = FetchMachine.Route(origin: origin, pin: pin, address: pin)
        ask.address = pin
        if let pin { places.use(pin) }
    }

    /// Returns the address for a hedge of a connection's segment, as in `Route.pin`.
    ///
    /// An idle connection to another address is preferred.
    package mutating func pin(
        forHedgeOf slot: Slot, _ slots: Slots, _ facts: some FetchFacts
    ) -> String? {
        guard let book = places.makeBook(origin, of: slot.source, slots, facts) else { return nil }
        let mine = slot.route?.address
        let idle = slots.first {
            $0.source == slot.source && !$0.isBusy && $0.isMade
                && $0.route?.origin == book.origin && $0.route?.address != mine
        }
        // Addresses that are being avoided are not tried for a hedge.
        return idle?.route?.pin
            ?? book.choose(
                slots.loads(of: slot.source, in: book), instead: mine, now: -.infinity)
    }

    // MARK: Faults

    /// Returns the address to blame for a request that ended without a byte of the file.
    ///
    /// An address that serves other connections is not to blame: it may be at its limit, or reject
    /// only this request.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - cause: The failure.
    ///   - isProbed: Whether the facts about the file come from a `HEAD` response of this server.
    ///     The first response may then contradict `HEAD`, so the first address is not blamed.
    ///   - slots: All connections.
    ///   - facts: The current facts.
    /// - Returns: The address; `nil` if none is to blame.
    func blamed(
        _ index: Int, for cause: TransferFailure, isProbed: Bool, _ slots: Slots,
        _ facts: some FetchFacts
    ) -> String? {
        guard let route = slots[index].route, let address = route.address,
            let book = places.book(for: route)
        else { return nil }
        if isProbed, accepted == 0, address == book.addresses.first { return nil }
        if case .breach = cause { return address }
        let isServing = slots.isServing(address, of: slots[index].source, but: index, facts)
        return isServing ? nil : address
    }

    /// Abandons addresses from which no bytes arrive while connections to other addresses receive
    /// some.
    ///
    /// - Parameters:
    ///   - flowing: The connections that are receiving a body.
    ///   - source: The index of the server.
    ///   - slots: All connections.
    ///   - facts: The current facts.
    /// - Returns: The addresses that are abandoned.
    mutating func leaveStalled(
        _ flowing: [Int: Rescue.Connection], of source: Int, _ slots: Slots,
        _ facts: some FetchFacts
    ) -> [String] {
        guard let book = places.book,
            flowing.keys.contains(where: {
                slots[$0].source == source && slots[$0].request.body != nil
            })
        else { return [] }
        let (now, least) = (facts.now, patience)
        return book.addresses.filter(book.hasOther(than:)).filter { address in
            guard let longest = slots.stallTime(of: address, of: source, facts),
                longest >= least
            else { return false }
            return places.leave(address, .failed(.stalled(for: .init(seconds: longest))), now: now)
        }
    }
}
