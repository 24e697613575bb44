import Assembler

// What the machine begins with, what passes between it and its world, and what it ends with.
extension FetchMachine {
    /// What a fetch begins with.
    struct Setup: Sendable {
        /// The primary server, with the version that is being put together.
        var primary: Mirror
        /// Whether the whole file is one request without a range.
        var isOneStream: Bool
        /// Whether each request may count: what is under way is not replaced by another, and a break ends the
        /// fetch.
        var asksOnce = false
        /// Whether the body is decoded: then its length and validators are not the file's.
        var isDecoded = false
        /// Dates with which the same strong tag came, and a sample was the same.
        var vouchedDates: Set<String> = []
        /// Whether a `GET` has shown the identity, rather than a `HEAD`.
        var isProven: Bool
        /// Connections at a time.
        var connections: Int
        /// Whether as many are used as bring something, and that is the most.
        var findsConnections = false
        /// Whether the user gave that most.
        var isMostGiven = false
        var limits: LimitOptions
        var policy: RetryPolicy
        /// Whether a server that has sent nothing yet gets a few tries only.
        var isBeginning = false
        /// Whether the server has stated several versions in this download.
        var isDoubted = false
        /// Whether it had stated of the file what its first ranges contradicted.
        var hasContradicted = false
        /// Whether it ends soon when the network is away: that is waited for without it.
        var endsWithNetwork = false
        /// Whether it ends when its only server is to be left alone for a while.
        var endsToRest = false

        /// Whether there is one request at a time, which is left alone until it ends.
        var isLeftAlone: Bool { isOneStream || asksOnce }

        /// The version that is being put together.
        var identity: RemoteIdentity { primary.identity }

        /// Where writing ends at the latest, in bytes from the start of the file.
        ///
        /// Of a file of unknown size, one byte more than it may have: then it is known to be too large.
        var writeLimit: Int64 {
            guard identity.size == nil, let most = limits.maxSize, most < .max else { return .max }
            return most + 1
        }

        /// How a single stream of unknown length ends whose reply has come to its end.
        ///
        /// - Parameters:
        ///   - size: Bytes that are there.
        ///   - reached: Bytes that the last reply has brought.
        ///   - ignored: What its request had asked for, when it brought the whole file all the same.
        /// - Returns: The outcome: it is complete, or why it is not.
        func outcome(size: Int64, reached: Int64, ignored: ByteRange?) -> Outcome {
            // As many bytes as had been asked for: perhaps they were no more than that.
            guard reached != ignored?.count else { return .mayBePart }
            // One that was begun again is of the same version, and cannot be shorter.
            guard reached >= size else {
                return .failed(.contract(.otherSize(expected: size, got: reached)))
            }
            guard let most = limits.maxSize, size > most else { return .complete(size: size) }
            return .failed(.tooLarge(size: nil, limit: most))
        }
    }

    /// A server that has the file, the primary one or another.
    struct Mirror: Sendable {
        /// Which of the file's URLs this is, counted from 0.
        var number = 0
        /// The URL that was given, in messages.
        var shownURL = ""
        /// Where requests go.
        var url: WebURL
        /// The version, with this server's own validators.
        var identity: RemoteIdentity
        /// When the URL that was given expires.
        var expiry: LinkExpiry?
        /// Whether it is left alone for a while when it forbids what it has served.
        var mayRest = true
    }

    /// A reply that the probe has left, to be taken over.
    struct Offer {
        /// The bytes that it brings; `nil` for the whole file.
        var range: ByteRange?
        /// The bytes that were asked for, where it brings the whole file all the same.
        var ignored: ByteRange?
        /// Those of them that have come already.
        var count: Int64 = 0
        /// How it has ended, when it has.
        var end: TransferEnd?
        /// Whether its body waits on the wire.
        var isWaiting = true
        /// Its head, when the body waits.
        var reply: Reply?
        /// Where it comes from, when the body waits.
        var route: Route?

        /// Whether something of it has come, or it is over.
        var isBegun: Bool { count > 0 || end != nil }
        /// Whether nothing more is to come.
        var isOver: Bool { end != nil || !isWaiting }

        /// Decides what of it is taken.
        ///
        /// - Parameters:
        ///   - stream: What a single stream still has to bring; `nil` where ranges are asked for.
        ///   - window: What the output can take; `nil` is everything.
        /// - Returns: The bytes that are; `nil` for none.
        func wanted(by stream: ByteRange?, _ window: OutputWindow?) -> ByteRange? {
            guard (stream != nil) == (range == nil) else { return nil }
            guard isBegun else {
                guard isWaiting else { return nil }
                return stream ?? range?.clamped(below: window?.limit)
            }
            guard window == nil else { return nil }
            // Of a reply that is over although nothing was stated of its end, what has come may be
            // used.
            let isCut = end == nil && !isWaiting
            if let stream { return isCut ? nil : stream }
            return isCut ? ByteRange(0, count) : range
        }
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

    /// How far a fetch is.
    struct Progress {
        /// What is done, and what an earlier run left and is not checked yet.
        var done: RangeSet
        var verifying: RangeSet
        /// Bytes of the file that came over the network.
        var received: Int64
        /// Connections that have a request under way.
        var connections: Int
    }

    // MARK: What passes between it and its world

    /// A request that is to be made.
    struct Ask {
        var url: WebURL
        /// The bytes to ask for; `nil` for the whole file.
        var range: ByteRange?
        /// A strong validator for `If-Range`.
        var ifRange: String?
        /// The address to connect to; `nil` for any.
        var address: String?
        /// Whether a new connection is made even when an idle one could be used.
        var wantsFreshConnection = false
        /// Most bytes that are read at a time; `nil` is the usual.
        var bufferSize: Int?
        /// Seconds without a byte of the connections before, which count as this one's.
        var stalledBefore = 0.0
        /// What the reply is held against.
        var check: ResponseCheck
    }

    /// The head of a reply, and what is known of how it came.
    struct Head {
        var reply: Reply
        /// What the request was to bring.
        var check: ResponseCheck
        /// Where it came from; `nil` when that is not known.
        var route: Route?
        /// Seconds until the request could go out.
        var connecting = 0.0
    }

    /// Where a connection leads.
    struct Route: Hashable {
        /// The origin that it was made for.
        var origin: String
        /// The address that it was to go to; `nil` left that to libcurl.
        ///
        /// libcurl reuses a connection only for requests that are given the same.
        var pin: String?
        /// The address that it leads to, as far as it is known.
        var address: String?
    }

    /// Where the body of a reply goes.
    struct Body: Hashable {
        /// Offset of its first byte in the file.
        var start: Int64
        /// Where writing ends, at the latest.
        var limit: Int64
        /// Where the reply itself ends.
        var replyEnd: Int64
        /// What all of its bytes must have before any counts.
        var proof: Digest?
    }

    /// What is to be done with the body of a reply.
    enum Verdict: Hashable {
        /// Write it.
        case accept(Body)
        /// Take it for a comparison, and write nothing.
        case sample(Body)
        /// Read a short one away, so that the connection can be used again.
        case discard
        /// Do not read it: the connection is closed.
        case decline
    }

    /// What is known of a request that is under way.
    struct RequestState: Hashable {
        /// Seconds since anything last came from the server, or it was last not asked for more.
        var quiet = 0.0
        /// Seconds for which no byte of the body has come, though it could have: those before the
        /// request began count as `Ask.stalledBefore` says.
        var stalledFor = 0.0
        /// Seconds since a byte of the body came; 0 before the first.
        var pause = 0.0
        /// Whether the head of a reply has come.
        var isAnswered = false
        /// Whether the connection is made.
        var isConnected = true
        /// Whether we hold the body back ourselves.
        var isPaused = false
    }

    /// What is known of the way to a server, and of the loop that all downloads share.
    struct NetworkState: Hashable {
        /// Shortest time to connect to the server, in seconds; `nil` when unknown.
        var roundTrip: Double?
        /// Segments with data that have come over all connections, and those out of order.
        var segments: Int64 = 0
        var disordered: Int64 = 0
        /// Shortest round trip of the connections at present, in seconds; `nil` when unknown.
        var presentRoundTrip: Double?
        /// Part of its time that the loop was busy of late, 0…1.
        var load = 0.0
        /// Whether the session has a limit of rate.
        var isRateLimited = false
        /// Downloads under way, this one included.
        var downloads = 1
    }
}

extension MirrorFault {
    /// How a fetch ends that has no other server.
    var outcome: FetchMachine.Outcome {
        switch self {
        case .changed(let breach): .changed(breach)
        case .rangesIgnored: .rangesIgnored
        default: .failed(reason)
        }
    }
}

extension ByteRange {
    /// The part of the range before `limit`; `nil` stands for no limit.
    fileprivate func clamped(below limit: Int64?) -> ByteRange {
        ByteRange(start, min(end, limit ?? .max))
    }
}
