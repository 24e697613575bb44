import Assembler

/// A server that has the file, and what it has done so far.
///
/// It is known by its place in `Sources`, and knows no other server.
struct Source {
    enum Standing { case unproven, proven, dropped }

    let mirror: FetchMachine.Mirror
    /// Where its URL leads.
    var link: Link
    /// What its dates say.
    var dates: Dates
    /// How far its replies are believed.
    var trust = Trust()
    /// Which of its addresses are asked.
    var places: Places
    /// Until when no further connection may ask it, as it has asked for that.
    var restsUntil = -Double.infinity
    /// Whether its bytes may be used: not before a sample of them was compared.
    var standing = Standing.unproven
    /// Whether they were used before: then it is a date that a sample is to be compared for.
    var hasJoined = false
    /// The connection that fetches the sample.
    var sampling: Int?
    /// Replies whose body was taken.
    var accepted = 0
    /// Longest time from a request to the first byte of its reply, in seconds; `nil` before the
    /// first.
    private(set) var longestTimeToFirstByte: Double?
    /// Bytes that transfers which are over have written.
    var received: Int64 = 0

    /// - Parameters:
    ///   - mirror: The server.
    ///   - isOneStream: Whether one reply is to bring the whole file: then all of it comes from one
    ///     address.
    init(_ mirror: FetchMachine.Mirror, isOneStream: Bool = false) {
        self.mirror = mirror
        link = Link(mirror.url, given: mirror.expiry)
        dates = Dates(isUndated: !mirror.identity.headOnly.isEmpty)
        places = Places(isSpread: !isOneStream)
    }

    /// The primary server, whose bytes may be used at once.
    init(primary setup: FetchMachine.Setup) {
        self.init(setup.primary, isOneStream: setup.isLeftAlone)
        (standing, hasJoined) = (.proven, true)
        dates.vouched = setup.vouchedDates
        trust = Trust(
            isProven: setup.isProven && !setup.isDoubted, hasRanges: !setup.isLeftAlone)
    }

    var url: WebURL { link.url }
    var origin: String { link.url.origin }

    /// An address that has served the file, of the host that is asked.
    ///
    /// What a request reveals depends on its URL, and must not go to another host.
    var goodAddress: String? {
        places.lastGood?.origin == origin ? places.lastGood?.address : nil
    }

    /// How much longer than ever before a reply may take, in seconds.
    var stallLimit: Double { longestTimeToFirstByte.map { max(1, 4 * $0) } ?? .infinity }
    /// Seconds without a byte from which on it stalls.
    var patience: Double {
        max(StallDetector.patience, StallDetector.factor * (longestTimeToFirstByte ?? 0))
    }

    // MARK: What happens to it

    /// A reply's head was right.
    ///
    /// - Parameter isUndated: Whether it left out the date which the version is known by.
    mutating func accepted(isUndated: Bool) {
        trust.accepted()
        link.accepted()
        if isUndated { dates.isUndated = true }
    }

    /// Bytes of the file have come over a connection.
    mutating func hasProgressed(by route: FetchMachine.Route?) {
        places.served(route)
        trust.hasProgressed()
    }

    /// Its URL was resolved again.
    ///
    /// - Returns: Whether requests go somewhere else from now on.
    mutating func lead(to url: WebURL) -> Bool {
        let isElsewhere = link.lead(to: url)
        if isElsewhere { places.close() }
        return isElsewhere
    }

    /// Notes the time to the first byte of a reply, in seconds.
    mutating func answered(after wait: Double) {
        longestTimeToFirstByte = max(longestTimeToFirstByte ?? 0, wait)
    }

    /// A request for some of its bytes, with what its reply is held against.
    ///
    /// - Parameters:
    ///   - range: `nil` for the whole file.
    ///   - skipsIfRange: Whether `If-Range` is left out.
    ///   - isSample: Whether these bytes decide about a date that is doubted.
    ///   - isDecoded: Whether the body is decoded: then its length and validators are not the file's.
    /// - Returns: The request, without what its connection adds.
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
    /// Where a server's URL leads, and whether that is still good.
    struct Link {
        /// Where requests go; another one when the URL that was given was resolved again.
        private(set) var url: WebURL
        /// When the URL that was given expires.
        let given: LinkExpiry?
        /// When its link expires, that where requests go or that which was given.
        private(set) var expiry: LinkExpiry?
        /// Whether that has been refused since a request was last accepted.
        private(set) var isRefused = false
        /// Why the server is given up when nothing comes from it any more.
        var expired: DownloadError.Reason?
        /// Whether the URL is being resolved again; connections that were refused wait for it.
        var isResolving = false
        /// Times in a row that resolving the URL again brought nothing.
        private(set) var resolutions = 0
        private(set) var receivedAtResolution: Int64 = -1

        init(_ url: WebURL, given: LinkExpiry?) {
            self.url = url
            self.given = given
            expiry = LinkExpiry(url) ?? given
        }

        /// Requests go somewhere else from now on, or to where they went.
        ///
        /// - Returns: Whether it is somewhere else.
        mutating func lead(to url: WebURL) -> Bool {
            let isElsewhere = url.text != self.url.text
            self.url = url
            expiry = LinkExpiry(url) ?? given
            // What was refused there may not be by now.
            if isElsewhere { isRefused = false }
            return isElsewhere
        }

        /// A request was accepted.
        mutating func accepted() { isRefused = false }

        /// A request was refused, in a way that a link would be that has expired.
        mutating func refused() { if expiry != nil { isRefused = true } }

        /// The URL is to be resolved again, as a request was refused.
        ///
        /// - Parameter received: Bytes that the server has sent.
        /// - Returns: Times in a row that this is done without having brought anything.
        mutating func resolvesAgain(received: Int64) -> Int {
            resolutions = received == receivedAtResolution ? resolutions + 1 : 1
            receivedAtResolution = received
            return resolutions
        }

        /// Whether the link that was given has expired for good: it was refused, and nothing else leads
        /// there.
        func isOver(date: Double) -> Bool { isRefused && given?.isOver(now: date) == true }

        /// Whether what is under way could not be asked for again.
        func mayBeOver(date: Double) -> Bool { isRefused || expiry?.isOver(now: date) == true }
    }

    /// What a server's dates say, beside a strong tag or instead of one: a strong tag that stays
    /// while the date changes may be out of date, or the date means nothing.
    struct Dates {
        /// Most dates of one server that samples are compared for.
        private static let mostDoubts = 16
        /// Replies of another date in a row after which the date that is doubted counts as gone.
        private static let mostMisses = 8

        /// Whether a reply was taken that left out the date which the version is known by.
        var isUndated: Bool
        /// Dates with which the same strong tag came, and a sample was the same.
        var vouched: Set<String> = []
        /// The date that a sample is to be compared for.
        private(set) var doubted: String?
        /// How often in a row a reply was of another date.
        private var misses = 0
        /// Dates that samples were to be compared for.
        private var doubts = 0

        init(isUndated: Bool) { self.isUndated = isUndated }

        /// Whether a sample may still be compared for another date.
        var mayDoubt: Bool { doubts < Self.mostDoubts }

        /// The dates that a reply may have beside the version's; `isSample`: whether it decides about one.
        func accepted(isSample: Bool) -> Set<String> {
            guard isSample, let doubted else { return vouched }
            return vouched.union([doubted])
        }

        /// Doubts a date, unless another one is doubted already, which comes first, or it is good by now,
        /// and was not when the request went out.
        ///
        /// - Returns: Whether it is doubted from now on.
        mutating func doubt(_ date: String) -> Bool {
            guard doubted == nil, !vouched.contains(date) else { return false }
            doubts += 1
            (doubted, misses) = (date, 0)
            return true
        }

        /// A sample did not come from where the date is the one that is doubted.
        ///
        /// - Returns: Whether that date counts as gone; should it come again, it is doubted again.
        mutating func miss() -> Bool {
            guard doubted != nil else { return false }
            misses += 1
            guard misses >= Self.mostMisses else { return false }
            doubted = nil
            return true
        }

        /// A sample was the same.
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
