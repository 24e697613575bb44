// Network: what the kernel says of links, addresses, routes and clocks, to whoever waits for the network
// to come back. It knows descriptors and threads; it never knows a server, a download, nor what is done
// when it wakes.

import Assembler
import CLinux
import Glibc

/// Wakes one task when the network may have come back.
///
/// Blocks in poll(2) on a thread of its own: between two wakes nothing runs.
final class NetworkWatch: Sendable {
    /// Why it woke.
    enum Wake: Sendable, Hashable {
        /// The time has come.
        case due
        /// A link, an address or a route has changed, or the time of day was set, as after a suspend.
        case changed
        /// The task was cancelled.
        case cancelled
    }

    // What the kernel does not give is -1, which poll(2) passes over: then the time alone wakes.
    private let routes = segget_open_route_changes()
    private let timer = segget_open_boot_timer()
    private let clock = segget_open_clock_changes()

    deinit {
        for descriptor in [routes, timer, clock] where descriptor >= 0 { close(descriptor) }
    }

    /// The present moment, on the clocks that a `NetworkWait` knows.
    static var now: NetworkWait.Moment {
        NetworkWait.Moment(boot: bootSeconds(), monotonic: monotonicSeconds())
    }

    /// Forgets the changes that have been heard of, and not told yet.
    func forget() { if routes >= 0 { segget_forget_route_changes(routes) } }

    /// Waits for a time, or a change; one task at a time.
    ///
    /// - Parameters:
    ///   - due: In seconds since the machine was started; infinity for never.
    ///   - listening: From when on changes wake it; those before are told then.
    /// - Returns: Why it woke.
    func wait(until due: Double, listeningFrom listening: Double) async -> Wake {
        let stop = segget_open_event()
        // Whoever cancels must not raise what is closed by then.
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
            // Without a timer, or a way to be stopped, the next best thing.
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
