import Glibc
import SeggetReports
import Segmenter
import Synchronization

/// What signals do.
///
/// The first SIGINT, SIGTERM or SIGHUP stops in order, the second one at once; SIGUSR1 and SIGUSR2 make the run
/// slower and faster. In a service SIGHUP has settings read again instead.
///
/// The signals are blocked and waited for by one thread, so nothing ever runs in a signal handler.
/// Must be made before any thread is started: threads inherit what is blocked.
package final class Interrupts: Sendable {
    /// A wish that does not end the run.
    package enum Change: Sendable {
        /// SIGUSR1.
        case slower
        /// SIGUSR2.
        case faster
        /// SIGHUP, in a service.
        case reload
    }

    private let first = Atomic<Int32>(0)
    private let stopping: [Int32]
    private let changing: [Int32]

    /// Blocks the signals in the calling thread and in all that it starts.
    ///
    /// - Parameter isService: Whether SIGHUP has settings read again, also where it was ignored.
    package init(isService: Bool = false) {
        // nohup(1) asks to survive a hang-up by ignoring it. A blocked signal is queued even when
        // ignored, so it would stop the download after all.
        stopping = [SIGINT, SIGTERM] + [SIGHUP].filter { !isService && !Self.isIgnored($0) }
        changing =
            [SIGUSR1, SIGUSR2].filter { !Self.isIgnored($0) } + (isService ? [SIGHUP] : [])
        var set = Self.set(of: stopping + changing)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// The signal that asked to stop, if one has.
    package var received: Int32? {
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
    /// - Parameters:
    ///   - change: Makes the run slower or faster.
    ///   - code: What the process ends with for a signal, where it is not put in order.
    ///   - stop: Stops in order. It returns `false` when there is nothing to put in order and the
    ///     process may end at once.
    package func wait(
        change: (Change) -> Void = { _ in },
        code: (Int32) -> Int32 = { ExitStatus(signal: $0).rawValue }, stop: () -> Bool
    ) -> Never {
        var all = Self.set(of: stopping + changing)
        var signal: Int32 = 0
        while true {
            guard sigwait(&all, &signal) == 0 else { continue }
            switch signal {
            case SIGUSR1: change(.slower)
            case SIGUSR2: change(.faster)
            case SIGHUP where changing.contains(SIGHUP): change(.reload)
            default: end(for: signal, code, stop)
            }
        }
    }

    private func end(
        for signal: Int32, _ code: (Int32) -> Int32, _ stop: () -> Bool
    ) -> Never {
        first.store(signal, ordering: .releasing)
        guard stop() else { _exit(code(signal)) }
        var set = Self.set(of: stopping)
        var patience = timespec(tv_sec: Self.patience, tv_nsec: 0)
        while true {
            let next = sigtimedwait(&set, nil, &patience)
            if next < 0, errno == EINTR { continue }
            _exit(code(next > 0 ? next : signal))
        }
    }

    private static func isIgnored(_ signal: Int32) -> Bool {
        var action = sigaction()
        sigaction(signal, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 1
    }

    private static func set(of signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}

extension DownloadSession {
    /// Halves or doubles the limit of rate.
    package func changeRate(_ change: Interrupts.Change) {
        switch change {
        case .slower: halveRateLimit()
        case .faster: doubleRateLimit()
        case .reload: break
        }
    }
}
