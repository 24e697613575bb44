// Network: kernel notifications about links, addresses, routes and clocks, for downloads that wait
// for the network. This folder uses descriptors and threads. It does not know servers or downloads,
// nor the reaction to a notification.

import CLinux
import Glibc

/// Wakes one task when the network may be available again.
///
/// The wait blocks in poll(2) on a separate thread, so nothing runs meanwhile.
package final class NetworkWatch: Sendable {
    /// The reason why a wait ended.
    package enum Wake: Sendable, Hashable {
        /// The time is over.
        case due
        /// A link, an address or a route has changed, or the time of day was set, as after a
        /// suspend.
        case changed
        /// The task was cancelled.
        case cancelled
    }

    // A descriptor is -1 if the kernel does not support it. poll(2) ignores -1, so the wait then
    // ends by the time only.
    private let routes = segget_open_route_changes()
    private let timer = segget_open_boot_timer()
    private let clock = segget_open_clock_changes()

    package init() {}

    deinit {
        for descriptor in [routes, timer, clock] where descriptor >= 0 { close(descriptor) }
    }

    /// The current time on both clocks of `NetworkWait`.
    package static var now: NetworkWait.Moment {
        NetworkWait.Moment(boot: bootSeconds(), monotonic: monotonicSeconds())
    }

    /// Discards the pending notifications of route changes.
    package func forget() { if routes >= 0 { segget_forget_route_changes(routes) } }

    /// Waits for a time or a change; for one task at a time.
    ///
    /// - Parameters:
    ///   - due: The time of the wake-up in seconds since boot; infinity for none.
    ///   - listening: The time from which changes end the wait, in seconds since boot. Earlier
    ///     changes are reported at that time.
    /// - Returns: The reason why the wait ended.
    package func wait(until due: Double, listeningFrom listening: Double) async -> Wake {
        let stop = segget_open_event()
        // A late cancellation must not write to the closed descriptor.
        let isOpen = Monitor(true)
        let isCancelled = Monitor(false)
        let wake = await withTaskCancellationHandler {
            await offLoop("network") { [self] in
                block(stop, until: due, listeningFrom: listening) { isCancelled.withLock { $0 } }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
            isOpen.withLock { if $0 { segget_raise_event(stop) } }
        }
        isOpen.withLock { $0 = false }
        if stop >= 0 { close(stop) }
        return wake
    }

    private func block(
        _ stop: Int32, until due: Double, listeningFrom listening: Double,
        isCancelled: () -> Bool
    ) -> Wake {
        while true {
            if isCancelled() { return .cancelled }
            let now = bootSeconds()
            let listens = now >= listening
            let next = min(due, listens ? .infinity : listening)
            segget_set_boot_timer(timer, next < .infinity ? max(next, 1e-9) : 0)
            var polled = [stop, clock, listens ? routes : -1, timer].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            // Without the event descriptor or the timer, the wait uses a timeout and checks again.
            var most: Int32 = stop < 0 ? 1000 : -1
            if timer < 0, next < .infinity {
                most = Int32(max(0, min(stop < 0 ? 1 : 60, next - now)) * 1000)
            }
            poll(&polled, nfds_t(polled.count), now >= due ? 0 : most)
            if polled[0].revents != 0 { return .cancelled }
            if polled[1].revents != 0 {
                segget_forget_clock_changes(clock)
                return .changed
            }
            if polled[2].revents != 0 {
                forget()
                return .changed
            }
            if bootSeconds() >= due { return .due }
        }
    }
}
