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
    private var wait: NetworkWait?
    /// Bytes that had come when it began.
    private var received: Int64 = -1
    /// Waits in a row that the first canary has ended, without a byte of the file between them: then it is
    /// the server that brings nothing, and not the network.
    private var needless = 0

    init(isWaitedFor: Bool) { self.isWaitedFor = isWaitedFor }

    /// Begins a wait, or goes on with the last one.
    mutating func begin(
        _ now: NetworkWait.Moment, date: Double, after cause: TransferFailure?, received: Int64
    ) -> NetworkWait {
        if var wait, received == self.received {
            wait.goOn(now)
            return wait
        }
        needless = 0
        self.received = received
        var earlier = 0.0
        if case .stalled(let time)? = cause { earlier = time.inSeconds }
        since = (date - earlier, now.boot - earlier)
        return NetworkWait(now)
    }

    /// A wait is over; `isNeeded`: the network, or who answered in it, was another one in between.
    mutating func end(_ wait: NetworkWait, isNeeded: Bool) {
        self.wait = wait
        needless = isNeeded ? 0 : needless + 1
    }

    /// How many waits in a row were needless, when so many bytes have come.
    func needless(at received: Int64) -> Int { received == self.received ? needless : 0 }

    /// How far the download is while it waits.
    var waiting: DownloadProgress? {
        var moment = last
        moment?.phase = .waitingForNetwork
        moment?.bytesPerSecond = 0
        moment?.connections = 0
        return moment
    }
}
