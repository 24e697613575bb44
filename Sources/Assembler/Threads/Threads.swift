// Threads: a lock, threads, a continuation, and clocks, all based on POSIX. This folder does not
// depend on the work that the threads do.

import CLinux
import Glibc

/// State that is protected by a lock, with a condition to wait for.
///
/// Uses a pthread mutex, for which ThreadSanitizer reports no false positives.
package final class Monitor<State>: @unchecked Sendable {
    // Unchecked, because `state` is accessed only while `mutex` is locked.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: sending State) {
        self.state = state
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` on the state under the lock, then wakes all waiting threads.
    package func withLock<Result>(
        _ body: (inout State) throws -> sending Result
    ) rethrows -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let result = try body(&state)
        pthread_cond_broadcast(condition)
        return result
    }

    /// Waits until `ready` gives a value; `nil` after `timeout` seconds without one.
    ///
    /// `ready` is called under the lock, immediately and whenever the state may have changed.
    package func wait<Result>(
        timeout: Double? = nil, until ready: (inout State) -> sending Result?
    ) -> sending Result? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let deadline = timeout.map { monotonicSeconds() + $0 }
        while true {
            if let result = ready(&state) { return result }
            guard let deadline else {
                pthread_cond_wait(condition, mutex)
                continue
            }
            var time = timespec(
                tv_sec: Int(deadline),
                tv_nsec: Int((deadline - deadline.rounded(.down)) * 1e9))
            if pthread_cond_timedwait(condition, mutex, &time) == ETIMEDOUT {
                return ready(&state)
            }
        }
    }
}

/// A POSIX thread, to be joined or detached exactly once.
package struct OwnedThread: Sendable {
    private let id: pthread_t

    /// Starts a thread that runs `body`.
    ///
    /// - Parameters:
    ///   - name: The name that ps shows, at most 15 bytes.
    ///   - diskPriority: The I/O priority of the thread.
    ///   - body: The code to run.
    ///
    /// If the system's limit of threads is reached, waits until another thread ends. Downloads use
    /// many threads.
    package init(
        name: String, diskPriority: DiskPriority = .normal, body: @escaping @Sendable () -> Void
    ) {
        for _ in 0..<Self.attempts {
            if let thread = Self.start(name: name, diskPriority: diskPriority, body: body) {
                self = thread
                return
            }
            usleep(10_000)
        }
        preconditionFailure("no thread can be created")
    }

    /// The number of attempts to start a thread, 10 ms apart.
    private static let attempts = 6000

    private init(_ id: pthread_t) { self.id = id }

    /// Starts a thread that runs `body`; `nil` if the system allows no more threads.
    fileprivate static func start(
        name: String, diskPriority: DiskPriority, body: @escaping @Sendable () -> Void
    ) -> OwnedThread? {
        final class Start: Sendable {
            let name: String
            let diskPriority: DiskPriority
            let body: @Sendable () -> Void
            init(
                _ name: String, _ diskPriority: DiskPriority, _ body: @escaping @Sendable () -> Void
            ) {
                self.name = name
                self.diskPriority = diskPriority
                self.body = body
            }
        }
        var id = pthread_t()
        let start = Unmanaged.passRetained(Start(name, diskPriority, body))
        let status = pthread_create(
            &id, nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                segget_name_thread(start.name)
                // If the kernel refuses, the thread keeps the normal priority.
                if start.diskPriority == .idle { _ = segget_take_idle_disk_priority() }
                start.body()
                return nil
            }, start.toOpaque())
        guard status == 0 else {
            start.release()
            return nil
        }
        return OwnedThread(id)
    }

    /// Waits until the thread ends.
    package func join() { pthread_join(id, nil) }

    /// Detaches the thread, instead of joining it.
    package func detach() { pthread_detach(id) }
}

/// A continuation that another thread resumes exactly once.
///
/// A checked continuation alone would be correct. The lock is for ThreadSanitizer, which misses the
/// order of one thread's writes and the other's reads if the continuation is resumed before it is
/// awaited.
///
/// It is a class because the runtime copies a continuation, or none, by looking up its type.
package final class Answer<Result: Sendable>: Sendable {
    private let continuation: CheckedContinuation<Result, Never>
    private let order: Monitor<Void>

    private init(_ continuation: CheckedContinuation<Result, Never>, _ order: Monitor<Void>) {
        self.continuation = continuation
        self.order = order
    }

    /// Resumes the waiting task with a result.
    package func resume(returning result: sending Result) {
        order.withLock { _ in }
        continuation.resume(returning: result)
    }

    /// Calls `ask` with an answer and waits until that answer is resumed.
    package static func wait(_ ask: (Answer) -> Void) async -> Result {
        let order = Monitor(())
        let result = await withCheckedContinuation { ask(Answer($0, order)) }
        order.withLock { _ in }
        return result
    }
}

/// Runs blocking work on a new thread, so that it does not block the cooperative thread pool.
///
/// If the system allows no more threads, the work blocks the calling thread.
package func offLoop<Result: Sendable, Failure: Error>(
    _ name: String, diskPriority: DiskPriority = .normal,
    _ body: @escaping @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    let result = await Answer<Swift.Result<Result, Failure>>.wait { answer in
        let work: @Sendable () -> Void = {
            let outcome: Swift.Result<Result, Failure>
            do throws(Failure) {
                outcome = .success(try body())
            } catch {
                outcome = .failure(error)
            }
            answer.resume(returning: outcome)
        }
        if let thread = OwnedThread.start(name: name, diskPriority: diskPriority, body: work) {
            thread.detach()
        } else {
            work()
        }
    }
    return try result.get()
}

/// Returns the seconds on the monotonic clock, which changes of the wall clock do not affect.
package func monotonicSeconds() -> Double { seconds(of: CLOCK_MONOTONIC) }

/// Returns the seconds since the machine started, including the time it was suspended.
package func bootSeconds() -> Double { seconds(of: CLOCK_BOOTTIME) }

/// Returns the processor time that the calling thread has used, in seconds.
package func threadSeconds() -> Double { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

/// Returns the seconds since 1970 on the wall clock.
package func secondsSince1970() -> Double { seconds(of: CLOCK_REALTIME) }

private func seconds(of clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
