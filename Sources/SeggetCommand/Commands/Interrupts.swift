import Glibc
import SeggetReports
import Segmenter
import Synchronization

/// The handling of signals.
///
/// The first SIGINT, SIGTERM or SIGHUP requests an orderly stop, the second one ends the process.
/// SIGUSR1 and SIGUSR2 lower and raise the rate limit. In a service, SIGHUP reloads the settings.
///
/// The signals are blocked, and one thread waits for them, so no code runs in a signal handler.
/// Create the instance before any thread starts, because threads inherit the signal mask.
package final class Interrupts: Sendable {
    /// A request that does not end the run.
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

    /// Blocks the signals in the calling thread and in all threads that it starts.
    ///
    /// - Parameters:
    ///   - isService: Whether SIGHUP reloads the settings, even if it was ignored before.
    ///   - patience: The seconds that an orderly stop may take.
    package init(isService: Bool = false, patience: Int = 1) {
        self.patience = patience
        // nohup(1) ignores SIGHUP so that the process survives a hang-up. A blocked signal is
        // queued even if it is ignored, so it would stop the download.
        stopping = [SIGINT, SIGTERM] + [SIGHUP].filter { !isService && !Self.isIgnored($0) }
        changing =
            [SIGUSR1, SIGUSR2].filter { !Self.isIgnored($0) } + (isService ? [SIGHUP] : [])
        var set = Self.set(of: stopping + changing)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// The signal that requested the stop, if any.
    package var received: Int32? {
        let signal = first.load(ordering: .acquiring)
        return signal == 0 ? nil : signal
    }

    /// The seconds that an orderly stop may take.
    ///
    /// Received bytes are recorded at its beginning. Only a slow disk, or a reader that does not
    /// read the output, delays it longer.
    private let patience: Int

    /// Waits until another thread has a value; a signal ends the process immediately.
    ///
    /// - Parameters:
    ///   - value: Returns the value, `nil` while there is none; called every 10 ms.
    ///   - stop: Called before a signal ends the process.
    /// - Returns: The value.
    package func pollUntil<Value>(_ value: () -> Value?, stop: () -> Void) -> Value {
        var set = Self.set(of: stopping)
        var pause = timespec(tv_sec: 0, tv_nsec: 10_000_000)
        while true {
            if let value = value() { return value }
            let signal = sigtimedwait(&set, nil, &pause)
            if signal > 0 {
                stop()
                _exit(ExitStatus(signal: signal).rawValue)
            }
        }
    }

    /// Waits for signals until the process ends.
    ///
    /// Another thread must end the process after an orderly stop. This thread ends it on a second
    /// signal, or if the stop takes too long.
    ///
    /// - Parameters:
    ///   - change: Handles a request that does not end the run.
    ///   - code: Returns the exit code for a signal that ends the process without an orderly stop.
    ///   - stop: Requests an orderly stop. Returns `false` if there is nothing to clean up, and the
    ///     process may end immediately.
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
        var patience = timespec(tv_sec: patience, tv_nsec: 0)
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
    /// Halves or doubles the rate limit.
    package func changeRate(_ change: Interrupts.Change) {
        switch change {
        case .slower: halveRateLimit()
        case .faster: doubleRateLimit()
        case .reload: break
        }
    }
}
