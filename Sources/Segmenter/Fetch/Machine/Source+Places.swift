extension Source {
    /// Which of a host's addresses connections go to, and which are left for a while.
    struct Places {
        /// Where the last reply whose body was taken came from.
        private(set) var lastGood: (origin: String, address: String)?
        /// The addresses that connections are spread over; `nil` while no others are known.
        private(set) var book: AddressBook?
        /// Whether a request went out, or the probe's was taken over.
        var isAsked = false
        /// Whether connections may go to several.
        private let isSpread: Bool
        /// What is to be reported of addresses.
        private var news: [DownloadNotice] = []

        init(isSpread: Bool) { self.isSpread = isSpread }

        /// The book, if it is of the host where a connection leads.
        fileprivate func book(for route: FetchMachine.Route?) -> AddressBook? {
            book?.origin == route?.origin ? book : nil
        }

        /// Makes the book, when there are several addresses.
        ///
        /// - Returns: The book, of the host that is asked.
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

        /// A connection goes to an address.
        fileprivate mutating func use(_ address: String) {
            if book?.use(address) == true { news.append(.addressUsed(address)) }
        }

        /// What is to be reported of addresses that are used for the first time, or left, since
        /// this was last asked.
        mutating func takeNews() -> [DownloadNotice] {
            defer { news = [] }
            return news
        }

        /// The URL leads to another place by now.
        mutating func close() { book = nil }

        // MARK: What happened there

        /// A reply was accepted that came over a connection.
        mutating func answered(_ route: FetchMachine.Route, from address: String) {
            lastGood = (route.origin, address)
            if book?.origin == route.origin { use(address) }
        }

        /// Bytes of the file have come over a connection.
        mutating func served(_ route: FetchMachine.Route?) {
            guard let address = route?.address, book(for: route) != nil else { return }
            book?.served(address)
        }

        /// Leaves an address, for which something is wrong there.
        ///
        /// - Parameters:
        ///   - address: Of those in the book.
        ///   - fault: What is wrong.
        ///   - least: Seconds for which it wants to be left.
        ///   - now: The time.
        /// - Returns: Whether another one is good.
        mutating func leave(
            _ address: String, _ fault: AddressFault, atLeast least: Double? = nil, now: Double
        ) -> Bool {
            let isNews = book?.leave(address, atLeast: least ?? 0, now: now) == true
            let hasOther = book?.hasOther(than: address) == true
            if hasOther, isNews { news.append(.addressLeft(address, why: fault)) }
            return hasOther
        }

        /// Any address will do, as they were all slow.
        mutating func forgetGood() { lastGood = nil }

        /// Leaves addresses whose connections are far slower than others.
        ///
        /// - Parameters:
        ///   - flowing: The connections whose body flows.
        ///   - source: The server.
        ///   - slots: All connections.
        ///   - roundTrip: Seconds from a request to its first byte.
        ///   - now: The time.
        /// - Returns: The addresses that are left.
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

    // MARK: Where to go

    /// Decides where the next request of a connection goes: as long as it is open, where it has gone.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - slots: All connections.
    ///   - ask: The request.
    ///   - facts: The present moment.
    mutating func route(
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
        // The first one has the connection of the probe.
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

    /// The address that a second request for what a connection fetches goes to, as `Route.pin`: that of
    /// a connection that has nothing to do, if one leads elsewhere.
    mutating func pin(
        forHedgeOf slot: Slot, _ slots: Slots, _ facts: some FetchFacts
    ) -> String? {
        guard let book = places.makeBook(origin, of: slot.source, slots, facts) else { return nil }
        let mine = slot.route?.address
        let idle = slots.first {
            $0.source == slot.source && !$0.isBusy && $0.isMade
                && $0.route?.origin == book.origin && $0.route?.address != mine
        }
        // None that was left is tried for this.
        return idle?.route?.pin
            ?? book.choose(
                slots.loads(of: slot.source, in: book), instead: mine, now: -.infinity)
    }

    // MARK: What came of it

    /// Finds the address that is to blame where a request ended without a byte of the file.
    ///
    /// A server that serves others there has only so much to give, or does not like this request.
    ///
    /// - Parameters:
    ///   - index: The connection.
    ///   - cause: What went wrong.
    ///   - isProbed: Whether what is known of the file is what this server said to `HEAD`: then its
    ///     contradiction is taken seriously.
    ///   - slots: All connections.
    ///   - facts: The present moment.
    /// - Returns: The address; `nil` for none.
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

    /// Leaves addresses that bring nothing while others do.
    ///
    /// - Parameters:
    ///   - flowing: The connections whose body flows.
    ///   - source: Its place among the servers.
    ///   - slots: All connections.
    ///   - facts: The present moment.
    /// - Returns: The addresses that are left.
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
