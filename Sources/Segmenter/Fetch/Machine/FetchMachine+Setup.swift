import Assembler

extension FetchMachine {
    /// What a fetch begins with.
    struct Setup: Sendable {
        /// The server that leads, with the version that is being put together.
        var primary: Mirror
        /// Whether the whole file is one request without a range.
        var isOneStream: Bool
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
        var limits: LimitOptions
        var policy: RetryPolicy
        /// Whether a server that has sent nothing yet gets a few tries only.
        var isBeginning = false
        /// Whether the server has told of several versions in this download.
        var isDoubted = false
        /// Whether it had told of the file what its first ranges contradicted.
        var hasContradicted = false

        /// The version that is being put together.
        var identity: RemoteIdentity { primary.identity }
    }

    /// A server that has the file, the one that leads or another.
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
}
