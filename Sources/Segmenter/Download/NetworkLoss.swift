import Assembler
import SegmenterRules
import SegmenterTransport

/// The facts about a lost network that a download knows.
///
/// Pure: no I/O and no clock.
struct NetworkLoss: Sendable {
    /// When the network was lost, in seconds since 1970 and since the machine was started.
    private(set) var since = (date: 0.0, boot: 0.0)
    /// The last wait, which continues if no byte has arrived since.
    private var wait: NetworkWait?
    /// Bytes that had been received when it began.
    private var received: Int64 = -1
    /// Waits in a row that the first canary ended, without a byte of the file between them: the server, not
    /// the network, delivers nothing.
    private var needless = 0

    /// Begins a wait, or continues the last one.
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

    /// Ends a wait; `isNeeded`: the network was lost, or another host responded in between.
    mutating func end(_ wait: NetworkWait, isNeeded: Bool) {
        self.wait = wait
        needless = isNeeded ? 0 : needless + 1
    }

    /// Returns the number of needless waits in a row, if this number of bytes has been received.
    func needless(at received: Int64) -> Int { received == self.received ? needless : 0 }
}
