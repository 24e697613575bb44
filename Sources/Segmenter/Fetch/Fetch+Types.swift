import Assembler

extension Fetch {
    /// What a fetch works with.
    struct Setup: Sendable {
        /// Where requests go.
        var url: WebURL
        /// The version that is being put together.
        var identity: RemoteIdentity
        /// Whether the whole file is one request without a range.
        var isOneStream: Bool
        /// Whether the body is decoded: then its length and validators are not the file's.
        var isDecoded = false
        /// Dates with which the same strong tag came, and a sample was the same.
        var vouchedDates: Set<String> = []
        /// Whether a `GET` has shown the identity, rather than a `HEAD`.
        var isProven: Bool
        var connections: ConnectionCount
        var limits: LimitOptions
        var policy: RetryPolicy
        /// Whether a server that has sent nothing yet gets a few tries only.
        var isBeginning = false
        var connecting: TransferRequest.Connecting
        /// Whether the server has told of several versions in this download.
        var isDoubted = false
        /// Whether it had told of the file what its first ranges contradicted.
        var hasContradicted = false
        /// When the URL that was given expires.
        var expiry: LinkExpiry?
        /// A reply whose body waits to be kept.
        var paused: Probe.PausedReply?
        /// Which of the file's URLs this is, counted from 0.
        var number = 0
        /// The URL in messages.
        var shownURL = ""
        /// Resolves the original URL again.
        var resolve: @Sendable () async -> Probe.Resolution

        /// The server that leads, as one of several.
        var primary: Mirror {
            Mirror(
                number: number, shownURL: shownURL, url: url, identity: identity, expiry: expiry,
                resolve: resolve)
        }
    }

    /// A server that has the file, the one that leads or another.
    struct Mirror: Sendable {
        /// Which of the file's URLs this is, counted from 0.
        var number: Int
        /// The URL that was given, in messages.
        var shownURL: String
        /// Where requests go.
        var url: WebURL
        /// The version, with this server's own validators.
        var identity: RemoteIdentity
        /// When the URL that was given expires.
        var expiry: LinkExpiry?
        /// Resolves the URL that was given again.
        var resolve: @Sendable () async -> Probe.Resolution
    }

    /// A server and what it has done so far.
    struct Source {
        enum Standing { case unproven, proven, dropped }

        let mirror: Mirror
        /// Where requests go; another one when the URL that was given was resolved again.
        var url: WebURL { didSet { expiry = LinkExpiry(url) ?? mirror.expiry } }
        /// When its link expires, that where requests go or that which was given.
        private(set) var expiry: LinkExpiry?
        /// Whether that has been refused since a request was last accepted.
        var isRefused = false
        /// Why the server is given up when nothing comes from it any more.
        var expired: DownloadError.Reason?
        /// How far it is believed to answer ranges with what was asked for.
        var confidence = Confidence()
        /// Whether it tells digests of ranges: then these are short, as they count as a whole.
        var provesRanges = false
        /// Whether the last range that was compared with its digest was wrong.
        var isForging = false
        /// Until when no further connection may ask it, as it has asked for that.
        var restsUntil = -Double.infinity
        /// Whether its bytes may be used: not before a sample of them was compared.
        var standing = Standing.unproven
        /// Whether they were used before: then it is a date that a sample is to be compared for.
        var hasJoined = false
        /// The connection that fetches the sample.
        var sampling: Int?
        /// Resolves the URL again; connections that were refused wait for it.
        var resolving: Task<Void, Never>?
        /// Replies about another version in a row.
        var mismatches = 0
        /// Replies that ignored the range in a row.
        var ignoredRanges = 0
        /// Times in a row that resolving the URL again brought nothing.
        var resolutions = 0
        var receivedAtResolution: Int64 = -1
        /// Where the last reply whose body was taken came from.
        var lastGood: (origin: String, address: String)?
        /// The addresses that connections are spread over; `nil` while no others are known.
        var book: AddressBook?
        /// Whether a request went out, or the probe's was taken over.
        var isAsked = false
        /// Whether a reply was taken that left out the date which the version is known by.
        var isUndated = false
        /// Dates with which the same strong tag came, and a sample was the same.
        var vouchedDates: Set<String> = []
        /// The date that a sample is to be compared for, how often a reply was of another date in a row, and
        /// how many samples there were.
        var doubted: (date: String, misses: Int)?
        var doubts = 0
        /// Replies whose body was taken.
        var accepted = 0
        /// Longest time from a request to its reply, in seconds; `nil` before the first.
        var longestWait: Double?
        /// Bytes that transfers which are over have written.
        var received: Int64 = 0

        init(_ mirror: Mirror) {
            self.mirror = mirror
            url = mirror.url
            isUndated = !mirror.identity.headOnly.isEmpty
            expiry = LinkExpiry(mirror.url) ?? mirror.expiry
        }

        /// An address that has served the file, of the host that is asked.
        ///
        /// What a request tells depends on its URL, and must not go to another host.
        var goodAddress: String? { lastGood?.origin == url.origin ? lastGood?.address : nil }

        /// How much longer than ever before a reply may take, in seconds.
        var stallLimit: Double { longestWait.map { max(1, 4 * $0) } ?? .infinity }
    }

    /// How a fetch ended.
    enum Outcome: Sendable {
        /// All bytes are on the disk; `size` of them.
        ///
        /// `isUndated`: whether some of them came without the date that the version is known by.
        /// `vouchedDates`: with which the same strong tag came, and a sample was the same.
        case complete(size: Int64, isUndated: Bool = false, vouchedDates: Set<String> = [])
        /// The caller stopped it.
        case cancelled
        /// What `HEAD` had said is not what `GET` says.
        case contradictsProbe
        /// The server ignores ranges.
        case rangesIgnored
        /// A file of unknown size has just as many bytes as a range that was asked for.
        case mayBePart
        /// The remote file is another one now.
        case changed(ContractBreach)
        /// The single stream broke off after `reached` bytes.
        case streamBroken(TransferFailure, retryAfter: Double?, reached: Int64)
        /// It cannot go on.
        case failed(DownloadError.Reason)

        var isFailure: Bool { if case .failed = self { true } else { false } }
    }

    /// One connection's worth of work.
    struct Slot {
        /// The server that it works for.
        var source = 0
        var transfer: Int?
        /// Where the connection leads that it has, or had.
        var route: Route?
        var writer: ExtentWriter?
        /// What it fetches to compare it with what is there.
        var sample: ByteRange?
        /// Whether the last reply to a sample was not of the date that is doubted.
        var missedSample = false
        /// What that has to be, where what is there cannot be read again.
        var expectedSample: Extent?
        var sampler: ExtentWriter?
        /// When the present request went out.
        var requested = 0.0
        var sentIfRange = false
        /// Whether the present request goes out over HTTP/2.
        var isHTTP2 = false
        /// What the head of the reply told, when its body is not the file's.
        var refusal: ResponseCheck.Verdict?
        var retryAfter: Double?
        /// Whether the reply was right, and too long for its digest: shorter ones are asked for.
        var asksAgain = false
        /// Failures in a row on this connection: they lengthen the backoff.
        var failures = 0
        /// Failures in a row during which nothing arrived from its server: they are bounded.
        var barren = 0
        /// Bytes that its server had sent at the last failure.
        var receivedAtFailure: Int64 = -1
        /// Bytes that all other servers had sent when the first of those failures came.
        var othersAtFailure: Int64 = 0
        var waitsUntil = 0.0
        /// Whether it waits because the server may serve no more at a time, and not for a failure.
        var isSpare = false
        /// Whether the head of a reply to the present request has come.
        var hasReply = false
        var skipsIfRange = false
        var wantsFreshConnection = false
        /// Seconds without a byte of the connections that this one replaces, which count as its own.
        var silentBefore = 0.0
        private(set) var smoothedRate = ConnectionRate()
        /// Bytes per second, smoothed; 0 when unknown.
        var rate: Double { smoothedRate.value }
        var positionAtTick: Int64?
        /// When the present body began; `nil` when the rate was measured since.
        var unmeasuredSince: Double?
        /// When the first body began that came on the present connection.
        var flowsSince: Double?
        /// What the present request asks for.
        var asked: ByteRange?
        /// Whether the connection is open, as far as we know: the last reply was read to its end.
        var isMade: Bool { flowsSince != nil }
        /// Whether the session's limit of rate made it wait when a body was last measured: its rate
        /// tells nothing of its server then.
        var isHeldBack = false

        /// Takes a measurement.
        ///
        /// - Parameters:
        ///   - sample: In bytes per second.
        ///   - roundTrip: In seconds; 0 when unknown.
        ///   - now: The time.
        mutating func note(rate sample: Double, roundTrip: Double, now: Double) {
            let age = flowsSince.map { now - $0 } ?? 0
            smoothedRate.note(sample, age: age, roundTrip: roundTrip)
            unmeasuredSince = nil
        }

        /// Forgets how fast the connection was: the next one may be of another kind.
        mutating func forgetRate() {
            smoothedRate = ConnectionRate()
            flowsSince = nil
        }
    }
}
