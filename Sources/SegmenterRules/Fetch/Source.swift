/// The state of one server that has the file.
///
/// A server is identified by its index in `Sources`, and has no access to other servers.
package struct Source {
    package enum Standing { case unproven, proven, dropped }

    package let mirror: FetchMachine.Mirror
    /// The URL that requests go to, and its expiry.
    package var link: Link
    /// The `Last-Modified` dates of its responses.
    package var dates: Dates
    /// How far its responses are trusted.
    package var trust = Trust()
    /// The addresses that its connections use.
    package var places: Places
    /// The time before which no further connection may send a request, because the server sent
    /// `Retry-After`.
    var restsUntil = -Double.infinity
    /// Whether its bytes may be used.
    ///
    /// A mirror is proven by comparing a sample of its bytes.
    package var standing = Standing.unproven
    /// Whether its bytes were used before, so that a new sample only checks a changed date.
    var hasJoined = false
    /// The connection that downloads the sample.
    var sampling: Int?
    /// The number of responses whose body was accepted.
    package var accepted = 0
    /// The longest time from a request to the first byte of its response, in seconds; `nil` before
    /// the first response.
    private(set) var longestTimeToFirstByte: Double?
    /// The number of bytes that finished transfers have written.
    package var received: Int64 = 0

    /// - Parameters:
    ///   - mirror: The server.
    ///   - isOneStream: Whether one response delivers the whole file. All of the file then comes
    ///     from one address.
    package init(_ mirror: FetchMachine.Mirror, isOneStream: Bool = false) {
        self.mirror = mirror
        link = Link(mirror.url, given: mirror.expiry)
        dates = Dates(isUndated: !mirror.identity.headOnly.isEmpty)
        places = Places(isSpread: !isOneStream)
    }

    /// Creates the primary server, whose bytes may be used without a sample.
    package init(primary setup: FetchMachine.Setup) {
        self.init(setup.primary, isOneStream: setup.isLeftAlone)
        (standing, hasJoined) = (.proven, true)
        dates.vouched = setup.vouchedDates
        trust = Trust(
            isProven: setup.isProven && !setup.isDoubted, hasRanges: !setup.isLeftAlone)
    }

    package var url: WebURL { link.url }
    package var origin: String { link.url.origin }

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
    package var patience: Double {
        max(StallDetector.patience, StallDetector.factor * (longestTimeToFirstByte ?? 0))
    }

    // MARK: Events

    /// Records that the head of a response was accepted.
    ///
    /// - Parameter isUndated: Whether the response lacked the `Last-Modified` date that identifies
    ///   the version.
    package mutating func accepted(isUndated: Bool) {
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
    package mutating func lead(to url: WebURL) -> Bool {
        let isElsewhere = link.lead(to: url)
        if isElsewhere { places.close() }
        return isElsewhere
    }

    /// Records the time from a request to the first byte of its response, in seconds.
    package mutating func answered(after wait: Double) {
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
    package func ask(
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
    package struct Link {
        /// The URL for requests.
        ///
        /// The URL changes if the original URL, resolved again, redirects to another one.
        package private(set) var url: WebURL
        /// The expiry of the original URL.
        package let given: LinkExpiry?
        /// The expiry that applies to requests: that of the current URL, otherwise that of the
        /// original URL.
        package private(set) var expiry: LinkExpiry?
        /// Whether the server has refused the link since it last accepted a request.
        package private(set) var isRefused = false
        /// The reason to give up the server once no connection receives bytes from it any more.
        package var expired: DownloadError.Reason?
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
        package mutating func lead(to url: WebURL) -> Bool {
            let isElsewhere = url.text != self.url.text
            self.url = url
            expiry = LinkExpiry(url) ?? given
            // The new URL has not been refused yet.
            if isElsewhere { isRefused = false }
            return isElsewhere
        }

        /// Records that the server accepted a request.
        package mutating func accepted() { isRefused = false }

        /// Records a refusal that an expired link could have caused.
        package mutating func refused() { if expiry != nil { isRefused = true } }

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
        package func isOver(date: Double) -> Bool { isRefused && given?.isOver(now: date) == true }

        /// Returns whether a repeated request could fail because the link has expired.
        func mayBeOver(date: Double) -> Bool { isRefused || expiry?.isOver(now: date) == true }
    }

    /// The `Last-Modified` dates that a server sends, with or instead of a strong ETag.
    ///
    /// If the date changes while the strong ETag stays the same, either the ETag is out of date or
    /// the date is meaningless. A sample decides.
    package struct Dates {
        /// The maximum number of dates of one server for which samples are compared.
        private static let mostDoubts = 16
        /// The number of responses in a row with another date after which the doubted date is
        /// dropped.
        private static let mostMisses = 8

        /// Whether an accepted response lacked the `Last-Modified` date that identifies the
        /// version.
        package var isUndated: Bool
        /// The dates that came with the same strong ETag, and for which a sample matched.
        var vouched: Set<String> = []
        /// The date for which a sample has to be compared.
        package private(set) var doubted: String?
        /// The number of responses in a row that had another date than the doubted one.
        private var misses = 0
        /// The number of dates that were doubted so far.
        private var doubts = 0

        init(isUndated: Bool) { self.isUndated = isUndated }

        /// Whether a sample may still be compared for another date.
        var mayDoubt: Bool { doubts < Self.mostDoubts }

        /// Returns the dates that a response may have, besides the version's own.
        ///
        /// - Parameter isSample: Whether the response decides about the doubted date, which is then
        ///   included.
        /// - Returns: The dates.
        package func accepted(isSample: Bool) -> Set<String> {
            guard isSample, let doubted else { return vouched }
            return vouched.union([doubted])
        }

        /// Marks a date as doubted.
        ///
        /// Nothing happens if another date is doubted already, because that one is decided first.
        /// The same applies if the date was verified while the request was in flight.
        ///
        /// - Returns: Whether the date is doubted from now on.
        package mutating func doubt(_ date: String) -> Bool {
            guard doubted == nil, !vouched.contains(date) else { return false }
            doubts += 1
            (doubted, misses) = (date, 0)
            return true
        }

        /// Records that the response to a sample request did not have the doubted date.
        ///
        /// - Returns: Whether the doubted date is dropped. If it appears again, it is doubted
        ///   again.
        mutating func miss() -> Bool {
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
