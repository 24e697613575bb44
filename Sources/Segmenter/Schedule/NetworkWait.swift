/// When the network is asked whether it is back, while a download waits for it.
///
/// Pure: time is an argument. It asks with *canaries*, small requests of which each goes out on a new
/// connection: after 1, 2, 4 … 60 seconds, soon after a change of routes, and at once after a suspend; never
/// more than one a second. It never gives up.
struct NetworkWait: Sendable, Hashable {
    /// Seconds before the first canary, and from one to the next at the least.
    static let shortest = 1.0
    /// Most seconds from one to the next.
    static let longest = 60.0
    /// Seconds after a change: a link, its addresses and its routes come one after the other.
    static let settling = 0.1
    /// Seconds by which a suspend is longer than what two clocks may differ by.
    static let suspended = 1.0

    /// A moment on both clocks, in seconds.
    struct Moment: Sendable, Hashable {
        /// Since the machine was started (`CLOCK_BOOTTIME`).
        var boot: Double
        /// The same without the time in which it was suspended (`CLOCK_MONOTONIC`).
        var monotonic: Double

        /// For how long the machine was ever suspended.
        fileprivate var asleep: Double { boot - monotonic }
    }

    /// What is to be done.
    enum Action: Sendable, Hashable {
        /// Send a canary; a change of routes from `listensFrom` on, on the boot clock, makes it void.
        case canary(listensFrom: Double)
        /// Rest until a time of the boot clock; a change of routes from `listensFrom` on is to wake.
        case rest(until: Double, listensFrom: Double)
    }

    /// How long the machine had been suspended at the last look.
    private var asleep: Double
    /// When the last canary went out, or the wait began.
    private var sent: Double
    /// When the next one is due.
    private var due: Double
    /// Seconds to the one after that, if it is in vain.
    private var delay = Self.shortest
    /// Whether it is due because of a change: what else changes meanwhile is the same change.
    private var isSettling = false

    /// The wait begins.
    init(_ now: Moment) {
        asleep = now.asleep
        sent = now.boot
        due = now.boot + Self.shortest
    }

    /// It goes on: the network was back for a moment only.
    mutating func goOn(_ now: Moment) {
        sent = now.boot
        failed(now)
    }

    /// Decides what to do.
    mutating func next(_ now: Moment) -> Action {
        if now.asleep - asleep >= Self.suspended {
            // What was to be waited for has passed meanwhile, and wherever the machine is now, is new.
            delay = Self.shortest
            due = now.boot
        }
        asleep = max(asleep, now.asleep)
        guard now.boot >= due else {
            return .rest(until: due, listensFrom: isSettling ? .infinity : sent + Self.shortest)
        }
        isSettling = false
        sent = now.boot
        return .canary(listensFrom: sent + Self.shortest)
    }

    /// A link, an address or a route has changed, or a clock was set.
    mutating func changed(_ now: Moment) {
        delay = Self.shortest
        guard !isSettling else { return }
        isSettling = true
        due = max(now.boot + Self.settling, sent + Self.shortest)
    }

    /// A canary was in vain.
    mutating func failed(_ now: Moment) {
        isSettling = false
        due = max(now.boot + delay, sent + Self.shortest)
        delay = min(Self.longest, 2 * delay)
    }
}
