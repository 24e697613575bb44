import Glibc
import Synchronization

/// What SIGINT, SIGTERM and SIGHUP do: the first one stops in order, the second one at once.
///
/// The signals are blocked and waited for by one thread, so nothing ever runs in a signal handler.
/// Must be made before any thread is started: threads inherit what is blocked.
final class Interrupts: Sendable {
    private let first = Atomic<Int32>(0)
    private let handlesHangup: Bool

    /// Blocks the signals in the calling thread and in all that it starts.
    init() {
        // nohup(1) asks to survive a hang-up by ignoring it. A blocked signal is queued even when
        // ignored, so it would stop the download after all.
        var action = sigaction()
        sigaction(SIGHUP, nil, &action)
        let isIgnored = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
        handlesHangup = !isIgnored
        var set = signals
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// The signal that asked to stop, if one has.
    var received: Int32? {
        let signal = first.load(ordering: .acquiring)
        return signal == 0 ? nil : signal
    }

    /// Seconds that stopping in order may take.
    ///
    /// What arrived is recorded at its very beginning; what takes longer is a disk, or somebody who does not read what is printed.
    private static let patience = 1

    /// Waits for signals for the rest of the process's life; something else must end it, but for a
    /// second signal, or when stopping in order takes too long.
    ///
    /// - Parameter stop: Stops in order. It returns `false` when there is nothing to put in order
    ///   and the process may end at once.
    func wait(_ stop: () -> Bool) -> Never {
        var set = signals
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        first.store(signal, ordering: .releasing)
        let status = ExitStatus(signal: signal)
        guard stop() else { _exit(status.rawValue) }
        var patience = timespec(tv_sec: Self.patience, tv_nsec: 0)
        while true {
            let next = sigtimedwait(&set, nil, &patience)
            if next < 0, errno == EINTR { continue }
            _exit(next > 0 ? ExitStatus(signal: next).rawValue : status.rawValue)
        }
    }

    private var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in [SIGINT, SIGTERM] + (handlesHangup ? [SIGHUP] : []) {
            sigaddset(&set, signal)
        }
        return set
    }
}
