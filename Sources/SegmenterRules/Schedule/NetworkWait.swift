/// Decides when a download that waits for the network tests whether it is back.
///
/// Pure: time is an argument. The tests are *canaries*, small requests that each use a new
/// connection. They are sent after 1, 2, 4 … 60 seconds, shortly after a change of routes, and
/// immediately after a suspend. There is never more than one a second, and the tests continue
/// indefinitely.
package struct NetworkWait: Sendable, Hashable {
    /// The seconds before the first canary, and the least time between two of them.
    package static let shortest = 1.0
    /// The longest time between two canaries, in seconds.
    package static let longest = 60.0
    /// The seconds between a change and its canary, because a link, its addresses and its routes
    /// change one after the other.
    static let settling = 0.1
    /// The least time by which the two clocks must diverge to count as a suspend, in seconds.
    static let suspended = 1.0

    /// A moment on both clocks, in seconds.
    package struct Moment: Sendable, Hashable {
        /// The time since the system started (`CLOCK_BOOTTIME`).
        package var boot: Double
        /// The same without the time for which the system was suspended (`CLOCK_MONOTONIC`).
        package var monotonic: Double

        package init(boot: Double, monotonic: Double) {
            self.boot = boot
            self.monotonic = monotonic
        }

        /// The total time for which the system has been suspended.
        fileprivate var asleep: Double { boot - monotonic }
    }

    /// The action that the caller has to take.
    package enum Action: Sendable, Hashable {
        /// Send a canary; a change of routes at or after `listensFrom` (boot clock) cancels it.
        case canary(listensFrom: Double)
        /// Sleep until a time of the boot clock; a change of routes at or after `listensFrom` wakes
        /// the caller.
        case rest(until: Double, listensFrom: Double)
    }

    /// The total suspended time at the last call.
    private var asleep: Double
    /// The time at which the last canary was sent or the wait began.
    private var sent: Double
    /// The time at which the next canary is due.
    private var due: Double
    /// The seconds from the next canary to the one after it, if the next one fails.
    private var delay = Self.shortest
    /// Whether the next canary is due because of a change; further changes before it are part of
    /// that one.
    private var isSettling = false

    /// Starts the wait.
    package init(_ now: Moment) {
        asleep = now.asleep
        sent = now.boot
        due = now.boot + Self.shortest
    }

    /// Resumes the wait after the network was back only briefly.
    package mutating func goOn(_ now: Moment) {
        sent = now.boot
        failed(now)
    }

    /// Returns the action for the present time.
    package mutating func next(_ now: Moment) -> Action {
        if now.asleep - asleep >= Self.suspended {
            // The delay has passed during the suspend, and the system may be in another network.
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

    /// Records that a link, an address or a route has changed, or that a clock was set.
    package mutating func changed(_ now: Moment) {
        delay = Self.shortest
        guard !isSettling else { return }
        isSettling = true
        due = max(now.boot + Self.settling, sent + Self.shortest)
    }

    /// Records that a canary has failed.
    package mutating func failed(_ now: Moment) {
        isSettling = false
        due = max(now.boot + delay, sent + Self.shortest)
        delay = min(Self.longest, 2 * delay)
    }
}
