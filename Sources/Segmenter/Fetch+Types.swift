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
        /// Whether a `GET` has shown the identity, rather than a `HEAD`.
        var isProven: Bool
        var connections: Int
        var limits: LimitOptions
        var policy: RetryPolicy
        var connecting: TransferRequest.Connecting
        /// A reply whose body waits to be kept.
        var held: Probe.Held?
        /// Resolves the original URL again.
        var resolve: @Sendable () async -> Probe.Resolution
    }

    /// How a fetch ended.
    enum Outcome: Sendable {
        /// All bytes are on the disk; `size` of them.
        case complete(size: Int64)
        /// The caller stopped it.
        case cancelled
        /// What `HEAD` had said is not what `GET` says.
        case contradictsProbe
        /// The server ignores ranges.
        case rangesIgnored
        /// The remote file is another one now.
        case changed(ContractBreach)
        /// The single stream broke off after `reached` bytes.
        case streamBroken(TransferFailure, retryAfter: Double?, reached: Int64)
        /// It cannot go on.
        case failed(DownloadError.Reason)
    }

    /// One connection's worth of work.
    struct Slot {
        var transfer: Int?
        var writer: ExtentWriter?
        /// When the present request went out.
        var requested = 0.0
        var sentIfRange = false
        /// What the head of the reply told, when its body is not the file's.
        var refusal: ResponseCheck.Verdict?
        var retryAfter: Double?
        /// Failures in a row on this connection: they lengthen the backoff.
        var failures = 0
        /// Failures in a row during which nothing arrived anywhere: they are bounded.
        var barren = 0
        /// Bytes that the whole fetch had received at the last failure.
        var receivedAtFailure: Int64 = -1
        var waitsUntil = 0.0
        var skipsIfRange = false
        var wantsFreshConnection = false
        /// Bytes per second, smoothed; 0 when unknown.
        var rate = 0.0
        var positionAtTick: Int64?
        /// Whether the session's limit of rate made it wait when a body was last measured: its rate
        /// tells nothing of its server then.
        var isHeldBack = false
    }
}
