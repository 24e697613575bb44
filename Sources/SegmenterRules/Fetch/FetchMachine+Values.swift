// The machine's setup, the values that it exchanges with its world, and its outcome.
extension FetchMachine {
    /// The setup of a fetch.
    package struct Setup: Sendable {
        /// The primary server, with the version that is downloaded.
        package var primary: Mirror
        /// Whether the whole file is one request without a range.
        package var isOneStream: Bool
        /// Whether a single request downloads the remaining bytes (`singleRequest`).
        ///
        /// The server may count requests: no transfer is replaced by another, and a failure ends
        /// the fetch.
        package var asksOnce = false
        /// Whether the body is decoded.
        ///
        /// Its length and validators are then not those of the file.
        package var isDecoded = false
        /// The dates that came with the same strong ETag, and for which a sample matched.
        package var vouchedDates: Set<String> = []
        /// Whether a `GET` has confirmed the identity, rather than only a `HEAD`.
        package var isProven: Bool
        /// The number of simultaneous connections.
        package var connections: Int
        /// Whether the number follows the goodput, with `connections` as the maximum.
        package var findsConnections = false
        /// Whether the user set that maximum.
        package var isMostGiven = false
        package var limits: LimitOptions
        package var policy: RetryPolicy
        /// Whether a server that has sent nothing yet is tried only a few times.
        package var isBeginning = false
        /// Whether the server has shown several versions during this download.
        package var isDoubted = false
        /// Whether the server's first ranges contradicted its earlier statements about the file.
        package var hasContradicted = false
        /// Whether the fetch ends soon after the network is lost, because its caller waits for the
        /// network.
        package var endsWithNetwork = false
        /// Whether the file is one of a set, whose hosts' connections are divided among all files.
        package var isOfSet = false
        /// Whether the fetch ends if its only server must be left alone for a while.
        package var endsToRest = false

        package init(
            primary: Mirror, isOneStream: Bool, asksOnce: Bool = false, isDecoded: Bool = false,
            vouchedDates: Set<String> = [], isProven: Bool, connections: Int,
            findsConnections: Bool = false, isMostGiven: Bool = false, limits: LimitOptions,
            policy: RetryPolicy, isBeginning: Bool = false, isDoubted: Bool = false,
            hasContradicted: Bool = false, endsWithNetwork: Bool = false, endsToRest: Bool = false
        ) {
            self.primary = primary
            self.isOneStream = isOneStream
            self.asksOnce = asksOnce
            self.isDecoded = isDecoded
            self.vouchedDates = vouchedDates
            self.isProven = isProven
            self.connections = connections
            self.findsConnections = findsConnections
            self.isMostGiven = isMostGiven
            self.limits = limits
            self.policy = policy
            self.isBeginning = isBeginning
            self.isDoubted = isDoubted
            self.hasContradicted = hasContradicted
            self.endsWithNetwork = endsWithNetwork
            self.endsToRest = endsToRest
        }

        /// Whether there is one request at a time, which continues until it ends.
        var isLeftAlone: Bool { isOneStream || asksOnce }

        /// The version that is downloaded.
        package var identity: RemoteIdentity { primary.identity }

        /// The maximum offset in the file up to which bytes are written.
        ///
        /// For a file of unknown size, this is one byte more than the maximum size. A longer file
        /// is thus known to be too large.
        var writeLimit: Int64 {
            guard identity.size == nil, let most = limits.maxSize, most < .max else { return .max }
            return most + 1
        }

        /// Returns the outcome of a single stream of unknown length whose response has ended.
        ///
        /// - Parameters:
        ///   - size: The number of bytes on the disk.
        ///   - reached: The number of bytes of the last response.
        ///   - ignored: The range that its request asked for, if the response had the whole file
        ///     instead.
        /// - Returns: The outcome.
        package func outcome(size: Int64, reached: Int64, ignored: ByteRange?) -> Outcome {
            // The length equals that of the requested range, so the body may be only that range.
            guard reached != ignored?.count else { return .mayBePart }
            // A repeated response is of the same version, so it cannot be shorter.
            guard reached >= size else {
                return .failed(.contract(.otherSize(expected: size, got: reached)))
            }
            guard let most = limits.maxSize, size > most else { return .complete(size: size) }
            return .failed(.tooLarge(size: nil, limit: most))
        }
    }

    /// A server that has the file: the primary or another.
    package struct Mirror: Sendable {
        /// The index of its URL among the file's URLs, from 0.
        package var number = 0
        /// The original URL, as shown in messages.
        package var shownURL = ""
        /// The URL for requests.
        package var url: WebURL
        /// The version, with this server's validators.
        package var identity: RemoteIdentity
        /// The expiry of the original URL.
        package var expiry: LinkExpiry?
        /// Whether the server is left alone for a while if it forbids what it has served before.
        package var mayRest = true

        package init(
            number: Int = 0, shownURL: String = "", url: WebURL, identity: RemoteIdentity,
            expiry: LinkExpiry? = nil, mayRest: Bool = true
        ) {
            self.number = number
            self.shownURL = shownURL
            self.url = url
            self.identity = identity
            self.expiry = expiry
            self.mayRest = mayRest
        }
    }

    /// A response that the probe has started to receive, and that the fetch may adopt.
    package struct Offer {
        /// The range of the response; `nil` for the whole file.
        package var range: ByteRange?
        /// The requested range, if the response has the whole file instead.
        package var ignored: ByteRange?
        /// The number of bytes already received.
        package var count: Int64 = 0
        /// The result of the transfer, if it has ended.
        package var end: TransferEnd?
        /// Whether the transfer is paused before its body.
        package var isWaiting = true
        /// The head of the response, if the transfer is paused.
        package var reply: Reply?
        /// The origin and address of the connection, if the transfer is paused.
        package var route: Route?

        package init(
            range: ByteRange? = nil, ignored: ByteRange? = nil, count: Int64 = 0,
            end: TransferEnd? = nil, isWaiting: Bool = true, reply: Reply? = nil,
            route: Route? = nil
        ) {
            self.range = range
            self.ignored = ignored
            self.count = count
            self.end = end
            self.isWaiting = isWaiting
            self.reply = reply
            self.route = route
        }

        /// Whether bytes were received, or the transfer has ended.
        package var isBegun: Bool { count > 0 || end != nil }
        /// Whether no more bytes will arrive.
        package var isOver: Bool { end != nil || !isWaiting }

        /// Decides which bytes of the response are adopted.
        ///
        /// - Parameters:
        ///   - stream: The bytes that a single stream still has to receive; `nil` if ranges are
        ///     requested.
        ///   - window: The bytes that the output can take; `nil` for no limit.
        /// - Returns: The bytes; `nil` for none.
        package func wanted(by stream: ByteRange?, _ window: OutputWindow?) -> ByteRange? {
            guard (stream != nil) == (range == nil) else { return nil }
            guard isBegun else {
                guard isWaiting else { return nil }
                return stream ?? range?.clamped(below: window?.limit)
            }
            guard window == nil else { return nil }
            // If the transfer has gone without a recorded result, only the received bytes may be
            // used.
            let isCut = end == nil && !isWaiting
            if let stream { return isCut ? nil : stream }
            return isCut ? ByteRange(0, count) : range
        }
    }

    /// The outcome of a fetch.
    package enum Outcome: Sendable {
        /// All bytes are on the disk; `size` is their number.
        ///
        /// `isUndated`: whether some responses lacked the `Last-Modified` date that identifies the
        /// version. `vouchedDates`: the dates that came with the same strong ETag, and for which a
        /// sample matched.
        case complete(size: Int64, isUndated: Bool = false, vouchedDates: Set<String> = [])
        /// The caller stopped the fetch.
        case cancelled
        /// The responses to `HEAD` and to `GET` differ.
        case contradictsProbe
        /// The server ignores ranges.
        case rangesIgnored
        /// The response had no size and ended exactly where the requested range ends: the file may
        /// be longer.
        case mayBePart
        /// The remote file has changed.
        case changed(ContractBreach)
        /// The single stream failed after `reached` bytes.
        case streamBroken(TransferFailure, retryAfter: Double?, reached: Int64)
        /// The fetch cannot continue.
        case failed(DownloadError.Reason)

        package var isFailure: Bool { if case .failed = self { true } else { false } }
    }

    /// The progress of a fetch.
    package struct Progress {
        /// The ranges that are done, and those of an earlier run that are not verified yet.
        package var done: RangeSet
        package var verifying: RangeSet
        /// The number of bytes of the file that were received over the network.
        package var received: Int64
        /// The number of connections with a request in flight.
        package var connections: Int

        package init(done: RangeSet, verifying: RangeSet, received: Int64, connections: Int) {
            self.done = done
            self.verifying = verifying
            self.received = received
            self.connections = connections
        }
    }

    // MARK: Values that the machine and its world exchange

    /// A request to send.
    package struct Ask {
        package var url: WebURL
        /// The range to request; `nil` for the whole file.
        package var range: ByteRange?
        /// A strong validator for `If-Range`.
        package var ifRange: String?
        /// The address to connect to; `nil` for any.
        package var address: String?
        /// Whether to use a new connection even if an idle one exists.
        package var wantsFreshConnection = false
        /// The size of the receive buffer, in bytes; `nil` for the default.
        package var bufferSize: Int?
        /// The time without a byte on the previous connections, in seconds.
        ///
        /// The time counts towards the stall timeout.
        package var stalledBefore = 0.0
        /// The check for the response.
        package var check: ResponseCheck
    }

    /// The head of a response, with facts about its connection.
    package struct Head {
        package var reply: Reply
        /// The check for the response.
        package var check: ResponseCheck
        /// The origin and address of the connection; `nil` when unknown.
        package var route: Route?
        /// The time until the request could be sent, in seconds.
        package var connecting = 0.0

        package init(
            reply: Reply, check: ResponseCheck, route: Route? = nil, connecting: Double = 0.0
        ) {
            self.reply = reply
            self.check = check
            self.route = route
            self.connecting = connecting
        }
    }

    /// The destination of a connection.
    package struct Route: Hashable {
        /// The origin that it was established for.
        package var origin: String
        /// The address that the request prescribed; `nil` if libcurl chose it.
        ///
        /// libcurl reuses a connection only for requests with the same pin.
        package var pin: String?
        /// The address of the peer, if known.
        package var address: String?

        package init(origin: String, pin: String? = nil, address: String? = nil) {
            self.origin = origin
            self.pin = pin
            self.address = address
        }
    }

    /// The range of the file to which the body of a response is written.
    package struct Body: Hashable {
        /// The offset of its first byte in the file.
        package var start: Int64
        /// The maximum offset up to which bytes are written.
        package var limit: Int64
        /// The offset in the file at which the response itself ends.
        package var replyEnd: Int64
        /// The digest that all of its bytes must match before any of them counts.
        package var proof: Digest?
    }

    /// The decision about the body of a response.
    package enum Verdict: Hashable {
        /// Write it to the file.
        case accept(Body)
        /// Receive it for comparison, without writing it to the file.
        case sample(Body)
        /// Read and discard it if it is short, so that the connection can be reused.
        case discard
        /// Do not read it, and close the connection.
        case decline
    }

    /// The state of a request in flight.
    package struct RequestState: Hashable {
        /// The seconds since the server last sent anything, or since the transfer was last paused.
        package var quiet = 0.0
        /// The seconds without a byte of the body while connected and not paused.
        ///
        /// `Ask.stalledBefore` is included.
        package var stalledFor = 0.0
        /// The seconds since the last byte of the body; 0 before the first.
        package var pause = 0.0
        /// Whether the head of a response has arrived.
        package var isAnswered = false
        /// Whether the connection is established.
        package var isConnected = true
        /// Whether this side has paused the transfer.
        package var isPaused = false

        package init(
            quiet: Double = 0.0, stalledFor: Double = 0.0, pause: Double = 0.0,
            isAnswered: Bool = false, isConnected: Bool = true, isPaused: Bool = false
        ) {
            self.quiet = quiet
            self.stalledFor = stalledFor
            self.pause = pause
            self.isAnswered = isAnswered
            self.isConnected = isConnected
            self.isPaused = isPaused
        }
    }

    /// Facts about the path to a server, and about the loop that all downloads share.
    package struct NetworkState: Hashable {
        /// The shortest time to connect to the server, in seconds; `nil` when unknown.
        package var roundTrip: Double?
        /// The number of TCP segments with data over all connections, and of those out of order.
        package var segments: Int64 = 0
        package var disordered: Int64 = 0
        /// The shortest round-trip time of the present connections, in seconds; `nil` when unknown.
        package var presentRoundTrip: Double?
        /// The fraction of time that the loop was busy recently, 0…1.
        package var load = 0.0
        /// Whether a rate limit applies.
        package var isRateLimited = false
        /// The number of active downloads, including this one.
        package var downloads = 1

        package init(
            roundTrip: Double? = nil, segments: Int64 = 0, disordered: Int64 = 0,
            presentRoundTrip: Double? = nil, load: Double = 0.0, isRateLimited: Bool = false,
            downloads: Int = 1
        ) {
            self.roundTrip = roundTrip
            self.segments = segments
            self.disordered = disordered
            self.presentRoundTrip = presentRoundTrip
            self.load = load
            self.isRateLimited = isRateLimited
            self.downloads = downloads
        }
    }
}

extension MirrorFault {
    /// The outcome of a fetch without another server.
    package var outcome: FetchMachine.Outcome {
        switch self {
        case .changed(let breach): .changed(breach)
        case .rangesIgnored: .rangesIgnored
        default: .failed(reason)
        }
    }
}

extension ByteRange {
    /// Returns the part of the range before `limit`; `nil` means no limit.
    fileprivate func clamped(below limit: Int64?) -> ByteRange {
        ByteRange(start, min(end, limit ?? .max))
    }
}
