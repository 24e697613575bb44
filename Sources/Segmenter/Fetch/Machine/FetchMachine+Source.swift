import Assembler

extension FetchMachine {
    /// A server and what it has done so far.
    struct Source {
        enum Standing { case unproven, proven, dropped }

        let mirror: Mirror
        /// Where its URL leads.
        var link: Link
        /// What its dates tell.
        var dates: Dates
        /// How far its replies are believed.
        var trust = Trust()
        /// Which of its addresses are asked.
        var places = Places()
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
        /// Longest time from a request to its reply, in seconds; `nil` before the first.
        var longestWait: Double?
        /// Bytes that transfers which are over have written.
        var received: Int64 = 0

        init(_ mirror: Mirror) {
            self.mirror = mirror
            link = Link(mirror.url, given: mirror.expiry)
            dates = Dates(isUndated: !mirror.identity.headOnly.isEmpty)
        }

        var url: WebURL { link.url }
        var origin: String { link.url.origin }

        /// An address that has served the file, of the host that is asked.
        ///
        /// What a request tells depends on its URL, and must not go to another host.
        var goodAddress: String? {
            places.lastGood?.origin == origin ? places.lastGood?.address : nil
        }

        /// How much longer than ever before a reply may take, in seconds.
        var stallLimit: Double { longestWait.map { max(1, 4 * $0) } ?? .infinity }
        /// Seconds of silence that mean something.
        var patience: Double {
            max(StallDetector.patience, StallDetector.factor * (longestWait ?? 0))
        }
    }

    /// Where a server's URL leads, and whether that is still good.
    struct Link {
        /// Where requests go; another one when the URL that was given was resolved again.
        private(set) var url: WebURL
        /// When the URL that was given expires.
        let given: LinkExpiry?
        /// When its link expires, that where requests go or that which was given.
        private(set) var expiry: LinkExpiry?
        /// Whether that has been refused since a request was last accepted.
        var isRefused = false
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

        /// A request was refused, and the URL is to be resolved again.
        ///
        /// - Parameter received: Bytes that the server has sent.
        /// - Returns: Times in a row that this is done without having brought anything.
        mutating func refused(received: Int64) -> Int {
            resolutions = received == receivedAtResolution ? resolutions + 1 : 1
            receivedAtResolution = received
            return resolutions
        }

        /// Whether the link that was given has expired for good: it was refused, and nothing else leads
        /// there.
        func isOver(date: Double) -> Bool { isRefused && given?.isOver(now: date) == true }
    }

    /// What a server's dates tell, beside a strong tag or instead of one.
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

    /// How far a server's replies are believed.
    struct Trust {
        /// How far it is believed to answer ranges with what was asked for.
        var confidence = Confidence()
        /// Whether it tells digests of ranges: then these are short, as they count as a whole.
        var provesRanges = false
        /// Whether the last range that was compared with its digest was wrong.
        var isForging = false
        /// Replies about another version in a row.
        var mismatches = 0
        /// Replies that ignored the range in a row.
        var ignoredRanges = 0
    }

    /// Which of a host's addresses are asked.
    struct Places {
        /// Where the last reply whose body was taken came from.
        var lastGood: (origin: String, address: String)?
        /// The addresses that connections are spread over; `nil` while no others are known.
        var book: AddressBook?
        /// Whether a request went out, or the probe's was taken over.
        var isAsked = false
    }
}
