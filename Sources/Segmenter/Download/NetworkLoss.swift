import Assembler

/// What one download knows of a network that is away.
struct NetworkLoss: Sendable {
    /// Whether that is waited for.
    var isWaitedFor: Bool
    /// Whether a server has answered in this run.
    var hasAnswered = false
    /// How far the download was when it was last heard of.
    var last: DownloadProgress?
    /// When the network was lost, in seconds since 1970 and since the machine was started.
    private(set) var since = (date: 0.0, boot: 0.0)
    /// The last wait; it goes on when nothing has come since.
    var wait: NetworkWait?
    /// Bytes that had come when it began.
    private var received: Int64 = -1

    init(isWaitedFor: Bool) { self.isWaitedFor = isWaitedFor }

    /// Begins a wait, or goes on with the last one.
    mutating func begin(
        _ now: NetworkWait.Moment, date: Double, after cause: TransferFailure?, received: Int64
    ) -> NetworkWait {
        if var wait, received == self.received {
            wait.goOn(now)
            return wait
        }
        self.received = received
        var earlier = 0.0
        if case .stalled(let time)? = cause { earlier = time.inSeconds }
        since = (date - earlier, now.boot - earlier)
        return NetworkWait(now)
    }

    /// How far the download is while it waits.
    var waiting: DownloadProgress? {
        var moment = last
        moment?.phase = .waiting
        moment?.bytesPerSecond = 0
        moment?.connections = 0
        return moment
    }
}
