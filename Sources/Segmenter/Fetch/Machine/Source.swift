import Assembler

/// The state of one server that has the file.
///
/// A server is identified by its index in `Sources`, and has no access to other servers.
struct Source {
    enum Standing { case unproven, proven, dropped }

    let mirror: FetchMachine.Mirror
    /// The URL that requests go to, and its expiry.
    var link: Link
    /// The `Last-Modified` dates of its responses.
    var dates: Dates
    /// How far its responses are trusted.
    var trust = Trust()
    /// The addresses that its connections use.
    var places: Places
    /// The time before which no further connection may send a request, because the server sent
    /// `Retry-After`.
    var restsUntil = -Double.infinity
    /// Whether its bytes may be used.
    ///
    /// A mirror is proven by comparing a sample of its bytes.
    var standing = Standing.unproven
    /// Whether its bytes were used before, so that a new sample only checks a changed date.
    var hasJoined = false
    /// The connection that downloads the sample.
    var sampling: Int?
    /// The number of responses whose body was accepted.
    var accepted = 0
    /// The longest time from a request to the first byte of its response, in seconds; `nil` before
    /// the first response.
    private(set) var longestTimeToFirstByte: Double?
    /// The number of bytes that finished transfers have written.
    var received: Int64 = 0

    /// - Parameters:
    ///   - mirror: The server.
    ///   - isOneStream: Whether one response delivers the whole file. All of the file then comes
    ///     from one address.
    init(_ mirror: FetchMachine.Mirror, isOneStream: Bool = false) {
        self.mirror = mirror
        link = Link(mirror.url, given: mirror.expiry)
        dates = Dates(isUndated: !mirror.identity.headOnly.isEmpty)
        places = Places(isSpread: !isOneStream)
    }

    /// Creates the primary server, whose bytes may be used without a sample.
    init(primary setup: FetchMachine.Setup) {
        self.init(setup.primary, isOneStream: setup.isLeftAlone)
        (standing, hasJoined) = (.proven, true)
        dates.vouched = setup.vouchedDates
        trust = Trust(
            isProven: setup.isProven && !setup.isDoubted, hasRanges: !setup.isLeftAlone)
    }

    var url: WebURL { link.url }
    var origin: String { link.url.origin }

    /// An address of the current host that has served the file.
    ///
    /// The value is `nil` if the address belongs to another host: a request's URL may contain
    /// secrets, and must not be sent to another host.
    var goodAddress: String? {
        places.lastGood?.origin == origin ? places.lastGood?.address : nil
    }

    /// The time without a response after which a connection counts as slow, in seconds: four times
    /// the longest time to first byte.
    var stallLimit: Double { longestTimeToFirstByte.map { max(1, 4 * $0) } ?? .infinity }
    /// The time without a byte after which a connection counts as stalled, in seconds.
    var patience: Double {
        max(StallDetector.patience, StallDetector.factor * (longestTimeToFirstByte ?? 0))
    }

    // MARK: Events

    /// Records that the head of a response was accepted.
    ///
    /// - Parameter isUndated: Whether the response lacked the `Last-Modified` date that identifies
    ///   the version.
    mutating func accepted(isUndated: Bool) {
        trust.accepted()
        link.accepted()
        if isUndated { dates.isUndated = true }
    }

    /// Records that a connection received bytes of the file.
    mutating func hasProgressed(by route: FetchMachine.Route?) {
        places.served(route)
        trust.hasProgressed()
    }

    /// Records the URL that resolving the original URL again has returned.
    ///
    /// - Returns: Whether requests go to another URL from now on.
    mutating func lead(to url: WebURL) -> Bool {
        let isElsewhere = link.lead(to: url)
        if isElsewhere { places.close() }
        return isElsewhere
    }

    /// Records the time from a request to the first byte of its response, in seconds.
    mutating func answered(after wait: Double) {
        longestTimeToFirstByte = max(longestTimeToFirstByte ?? 0, wait)
    }

    /// Returns a request for bytes of the file, with the check for its response.
    ///
    /// - Parameters:
    ///   - range: The bytes to request; `nil` for the whole file.
    ///   - skipsIfRange: Whether to leave out `If-Range`.
    ///   - isSample: Whether these bytes decide about a doubted date.
    ///   - isDecoded: Whether the body is decoded. Its length and validators are then not those of
    ///     the file.
    /// - Returns: The request, without the properties that its connection adds.
    func ask(
        _ range: ByteRange?, skipsIfRange: Bool = false, isSample: Bool = false, isDecoded: Bool
    ) -> FetchMachine.Ask {
        let ifRange = range == nil || skipsIfRange ? nil : mirror.identity.ifRange
        return FetchMachine.Ask(
            url: url, range: range, ifRange: ifRange,
            check: ResponseCheck(
                asked: range, identity: mirror.identity, sentIfRange: ifRange != nil,
                vouchedDates: dates.accepted(isSample: isSample), isDecoded: isDecoded))
    }
}

extension Source {
    /// The URL that requests to a server go to, and its expiry.
    struct Link {
        /// The URL for requests.
        ///
        /// The URL changes if the original URL, resolved again, redirects to another one.
        private(set) var url: WebURL
        /// The expiry of the original URL.
        let given: LinkExpiry?
        /// The expiry that applies to requests: that of the current URL, otherwise that of the
        /// original URL.
        private(set) var expiry: LinkExpiry?
        /// Whether the server has refused the link since it last accepted a request.
        private(set) var isRefused = false
        /// The reason to give up the server once no connection receives bytes from it any more.
        var expired: DownloadError.Reason?
        /// Whether the URL is being resolved again.
        ///
        /// Connections whose requests were refused wait for the result.
        var isResolving = false
        /// The number of times in a row that the URL was resolved again without bytes received in
        /// between.
        private(set) var resolutions = 0
        private(set) var receivedAtResolution: Int64 = -1

        init(_ url: WebURL, given: LinkExpiry?) {
            self.url = url
            self.given = given
            expiry = LinkExpiry(url) ?? given
        }

        /// Records the URL for requests, which may be unchanged.
        ///
        /// - Returns: Whether the URL differs from the previous one.
        mutating func lead(to url: WebURL) -> Bool {
            let isElsewhere = url.text != self.url.text
            self.url = url
            expiry = LinkExpiry(url) ?? given
            // The new URL has not been refused yet.
            if isElsewhere { isRefused = false }
            return isElsewhere
        }

        /// Records that the server accepted a request.
        mutating func accepted() { isRefused = false }

        /// Records a refusal that an expired link could have caused.
        mutating func refused() { if expiry != nil { isRefused = true } }

        /// Records that the URL is resolved again, because a request was refused.
        ///
        /// - Parameter received: The number of bytes that the server has sent.
        /// - Returns: The number of times in a row, including this one, without bytes received in
        ///   between.
        mutating func resolvesAgain(received: Int64) -> Int {
            resolutions = received == receivedAtResolution ? resolutions + 1 : 1
            receivedAtResolution = received
            return resolutions
        }

        /// Returns whether the original link has expired for good: it was refused, and its expiry
        /// has passed.
        func isOver(date: Double) -> Bool { isRefused && given?.isOver(now: date) == true }

        /// Returns whether a repeated request could fail because the link has expired.
        func mayBeOver(date: Double) -> Bool { isRefused || expiry?.isOver(now: date) == true }
    }

    /// The `Last-Modified` dates that a server sends, with or instead of a strong ETag.
    ///
    /// If the date changes while the strong ETag stays the same, either the ETag is out of date or
    /// the date is meaningless. A sample decides.
    struct Dates {
        /// The maximum number of dates of one server for which samples are compared.
        private static let mostDoubts = 16
        /// The number of responses in a row with another date after which the doubted date is
        /// dropped.
        private static let mostMisses = 8

        /// Whether an accepted response lacked the `Last-Modified` date that identifies the
        /// version.
        var isUndated: Bool
        /// The dates that came with the same strong ETag, and for which a sample matched.
        var vouched: Set<String> = []
        /// The date for which a sample has to be compared.
        private(set) var doubted: String?
        /// The number of responses in a row that had another date than the doubted one.
        private var misses = 0
        /// The number of dates that were doubted so far.
        private var doubts = 0

        init(isUndated: Bool) { self.isUndated = isUndated }

        /// Whether a sample may still be compared for another date.
        fileprivate var mayDoubt: Bool { doubts < Self.mostDoubts }

        /// Returns the dates that a response may have, besides the version's own.
        ///
        /// - Parameter isSample: Whether the response decides about the doubted date, which is then
        ///   included.
        /// - Returns: The dates.
        func accepted(isSample: Bool) -> Set<String> {
            guard isSample, let doubted else { return vouched }
            return vouched.union([doubted])
        }

        /// Marks a date as doubted.
        ///
        /// Nothing happens if another date is doubted already, because that one is decided first.
        /// The same applies if the date was verified while the request was in flight.
        ///
        /// - Returns: Whether the date is doubted from now on.
        mutating func doubt(_ date: String) -> Bool {
            guard doubted == nil, !vouched.contains(date) else { return false }
            doubts += 1
            (doubted, misses) = (date, 0)
            return true
        }

        /// Records that the response to a sample request did not have the doubted date.
        ///
        /// - Returns: Whether the doubted date is dropped. If it appears again, it is doubted
        ///   again.
        fileprivate mutating func miss() -> Bool {
            guard doubted != nil else { return false }
            misses += 1
            guard misses >= Self.mostMisses else { return false }
            doubted = nil
            return true
        }

        /// Records that a sample matched.
        ///
        /// - Returns: Whether a date was doubted.
        mutating func vouch() -> Bool {
            guard let date = doubted else { return false }
            vouched.insert(date)
            doubted = nil
            return true
        }
    }
}

extension Source {
    /// The addresses of a host that connections use, and those that they avoid for a while.
    struct Places {
        /// The origin and the address of the last response whose body was accepted.
        private(set) var lastGood: (origin: String, address: String)?
        /// The addresses that connections are spread over; `nil` unless the host has several.
        private(set) var book: AddressBook?
        /// Whether a request was sent, or the probe's response was adopted.
        var isAsked = false
        /// Whether connections may use several addresses.
        private let isSpread: Bool
        /// The notices about addresses that were not reported yet.
        private var news: [DownloadNotice] = []

        init(isSpread: Bool) { self.isSpread = isSpread }

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
        mutating func takeNews() -> [DownloadNotice] {
            defer { news = [] }
            return news
        }

        /// Discards the address book, because the URL now leads to another host.
        mutating func close() { book = nil }

        // MARK: Events

        /// Records the address from which a connection received an accepted response.
        mutating func answered(_ route: FetchMachine.Route, from address: String) {
            lastGood = (route.origin, address)
            if book?.origin == route.origin { use(address) }
        }

        /// Records that a connection received bytes of the file.
        mutating func served(_ route: FetchMachine.Route?) {
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
        mutating func leave(
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
    mutating func pin(
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

extension Source {
    /// The consequence of a response whose body must not be used.
    enum Refusal: Hashable {
        /// The responses to `HEAD` and to `GET` differ.
        case contradictsProbe
        /// Request the bytes again, as after any failure.
        case again
        /// Request them again immediately, on a new connection, which may reach another server.
        case againElsewhere
        /// Request them again immediately, without `If-Range`.
        case againWithoutIfRange
        /// Use no more bytes of this server until a sample was compared with the bytes on the disk.
        case doubt
        /// Resolve the original URL again.
        case resolve
        /// Stop using the server.
        case drop(MirrorFault)
    }

    /// Decides about a response that failed its check.
    ///
    /// - Parameters:
    ///   - breach: The reason.
    ///   - request: The request.
    ///   - setup: The setup of the fetch.
    ///   - hasBytes: Whether bytes of the file exist that a later run can resume from.
    /// - Returns: The consequence.
    mutating func refused(
        _ breach: ContractBreach, to request: Slot.Request, _ setup: FetchMachine.Setup,
        hasBytes: Bool
    ) -> Refusal {
        if breach == .wholeFileForRange || breach == .rangeRefused {
            // Some servers respond 200 to `If-Range` although the file has not changed.
            if breach == .wholeFileForRange, request.sentIfRange { return .againWithoutIfRange }
            // Without ranges nothing can be resumed, so a single such response is not believed.
            let times = trust.ignoredRange()
            let isBelieved = times >= FetchMachine.patience || accepted == 0 && !hasBytes
            return isBelieved ? .drop(.rangesIgnored) : .again
        }
        let isDoubt = breach.isDoubt(of: mirror.identity)
        if !isDoubt { trust.lied() }
        if dates.doubted != nil, request.missedSample {
            // The response to the sample request had another date than the doubted one.
            if dates.miss(), hasJoined { standing = .proven }
            return .againElsewhere
        }
        if isDoubt, !setup.isOneStream { return doubt(breach) }
        guard breach.isAnotherVersion else { return .again }
        return trust.sawAnotherVersion(hasContradicted: setup.hasContradicted)
            ? .drop(.changed(breach)) : .againElsewhere
    }

    /// Decides about a response with the same strong ETag and another date.
    private mutating func doubt(_ breach: ContractBreach) -> Refusal {
        guard case .otherLastModified(_, let date?) = breach, dates.mayDoubt else {
            return .drop(.changed(breach))
        }
        if dates.doubt(date) { standing = .unproven }
        return .doubt
    }

    /// The fault of a server whose doubted date means another version: the sample differs, or no
    /// bytes exist to compare.
    var changedByDate: MirrorFault {
        .changed(
            .otherLastModified(expected: mirror.identity.lastModified, got: dates.doubted))
    }

    /// Decides about an error status.
    ///
    /// - Parameters:
    ///   - status: The status code.
    ///   - isOneStream: Whether one request at a time delivers the file, and is not replaced.
    ///   - isAboveLimit: Whether a 403 may mean that the request exceeded the server's limit.
    ///   - date: The time, in seconds since 1970.
    /// - Returns: The consequence.
    mutating func refused(
        _ status: Int, isOneStream: Bool, isAboveLimit: Bool, date: Double
    ) -> Refusal {
        let isLost = isRefusal(status) || isGone(status)
        if isLost { link.refused() }
        if isOneStream { return .again }
        if status == 403, isAboveLimit, !link.isOver(date: date) { return .again }
        if isLost || (300..<400).contains(status) { return .resolve }
        guard isTransient(status) else {
            return .drop(.failed(.transfer(.status(status), attempts: 1)))
        }
        return .again
    }
}

extension Source {
    /// The trust in a server's responses.
    ///
    /// Trust limits the number of requests until ranges have proved right, and the length of ranges
    /// that are checked by a digest.
    struct Trust {
        /// The number of responses in a row, on new connections, that may show another version
        /// before that is believed.
        static let mismatchLimit = 4
        /// The longest range, in bytes, that is requested if the server sends `Content-Digest` (RFC
        /// 9530) for ranges.
        ///
        /// Such a range is recorded only once it is complete. A crash can therefore cost each
        /// connection this many bytes.
        private static let longestProven: Int64 = 8 << 20
        /// The minimum length of a request, in bytes, to a server that may refuse long ranges.
        private static let leastShortened: Int64 = 1 << 20

        /// The confidence that the server answers range requests with the requested bytes.
        private(set) var confidence: Confidence
        /// Whether the server sends digests of ranges.
        ///
        /// Ranges are then kept short, because each counts only as a whole.
        private(set) var provesRanges = false
        /// Whether the last range that was compared with its digest did not match.
        var isForging = false
        /// The number of responses in a row that showed another version.
        private var mismatches = 0
        /// The length of the longest range that the server has served, in bytes.
        private var longestServed: Int64 = 0
        /// The limit on the length of requests after longer ranges were refused, in bytes; `nil`
        /// for no such limit.
        private var shortened: Int64?
        /// The number of responses in a row that ignored the range.
        private var ignoredRanges = 0

        /// Whether range requests are sent.
        ///
        /// Only their responses have digests that are checked.
        private let hasRanges: Bool

        /// - Parameters:
        ///   - isProven: Whether a range response was already correct.
        ///   - hasRanges: Whether range requests are sent.
        init(isProven: Bool = false, hasRanges: Bool = true) {
            confidence = Confidence(isProven: isProven)
            self.hasRanges = hasRanges
        }

        /// The maximum number of bytes per request.
        var longestRange: Int64 {
            min(provesRanges ? Self.longestProven : .max, shortened ?? .max)
        }

        // MARK: Wrong responses

        /// Returns whether the server may be sent one more request.
        ///
        /// - Parameters:
        ///   - asking: The number of requests in flight, plus the connections that wait after a
        ///     wrong response: others would only receive wrong responses instead.
        ///   - roundTrip: The time to connect, in seconds; `nil` when unknown.
        /// - Returns: Whether one more request is allowed.
        func allows(beside asking: @autoclosure () -> Int, roundTrip: @autoclosure () -> Double?)
            -> Bool
        {
            confidence.isProven || asking() < confidence.most(roundTrip: roundTrip())
        }

        /// Records a response of the right version.
        mutating func accepted() { mismatches = 0 }

        /// Records that a range response was correct.
        ///
        /// - Returns: Whether this ends the limit on the number of requests.
        mutating func accepted(_ served: ByteRange, now: Double) -> Bool {
            longestServed = max(longestServed, served.count)
            guard !confidence.isProven else { return false }
            confidence.accepted(served, now: now)
            return confidence.isProven
        }

        /// Records that the server refused a range with 403, although it had served others.
        ///
        /// - Parameter isAgain: Whether it also did so after a pause. The server may then refuse
        ///   ranges of that length, so requests get no longer than the longest range served. A
        ///   further refusal removes that limit.
        mutating func forbade(isAgain: Bool) {
            shortened = shortened == nil && isAgain ? max(longestServed, Self.leastShortened) : nil
        }

        /// Advances the time.
        mutating func wait(now: Double) { confidence.wait(now: now) }

        /// Records that bytes of the file were received.
        mutating func hasProgressed() { ignoredRanges = 0 }

        /// Records a response that did not match its request.
        fileprivate mutating func lied() { confidence.refused() }

        /// Records a response that ignored the range.
        ///
        /// - Returns: The number of such responses in a row.
        mutating func ignoredRange() -> Int {
            ignoredRanges += 1
            return ignoredRanges
        }

        /// Records a response that showed another version.
        ///
        /// A server whose first responses contradicted each other is believed sooner.
        ///
        /// - Returns: Whether another version is now assumed.
        fileprivate mutating func sawAnotherVersion(hasContradicted: Bool) -> Bool {
            mismatches += 1
            let isDoubtful = hasContradicted && !confidence.isProven
            return mismatches > (isDoubtful ? 1 : Self.mismatchLimit)
        }

        /// Returns whether a connection retries after a failure.
        ///
        /// After wrong responses, retries are limited.
        ///
        /// - Parameters:
        ///   - failure: The failure.
        ///   - failures: The number of failures in a row on the connection.
        /// - Returns: Whether it retries.
        func bears(_ failure: TransferFailure, _ failures: Int) -> Bool {
            guard case .breach(let breach) = failure else { return true }
            if case .otherContentDigest = breach { return failures < Confidence.tries }
            return confidence.bears(failures)
        }

        // MARK: Digests of ranges

        /// Returns the digest of a range response.
        ///
        /// The bytes count only if they match it.
        mutating func digest(of reply: Reply) -> Digest? {
            guard hasRanges, reply.status == 206,
                let digest = AdvertisedDigests.content(of: reply)
            else { return nil }
            provesRanges = true
            return digest
        }

        /// Returns whether a range response has a digest, and is longer than `longestProven`.
        mutating func isTooLong(_ range: ByteRange?, _ reply: Reply) -> Bool {
            guard hasRanges, let range, range.count > Self.longestProven,
                AdvertisedDigests.content(of: reply) != nil
            else { return false }
            provesRanges = true
            return true
        }
    }
}
