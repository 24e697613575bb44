// Threads: one lock, one kind of thread, one way to wait for an answer, and the clocks. It knows pthread; it
// never knows what the threads do.

import CLinux
import Glibc

/// State behind one lock, with a condition that its users may wait for.
///
/// On pthread's mutex: it is the one that ThreadSanitizer understands without false alarms.
package final class Monitor<State>: @unchecked Sendable {
    // Unchecked, because `state` is touched only between lock and unlock of `mutex`.
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

    /// Runs `body` on the state under the lock, then wakes whoever waits.
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
    /// `ready` is called under the lock, at once and whenever the state may have changed.
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

/// A thread of our own, to be joined or detached exactly once.
package struct OwnedThread: Sendable {
    private let id: pthread_t

    /// Starts a thread that runs `body`.
    ///
    /// - Parameters:
    ///   - name: What ps shows, at most 15 bytes.
    ///   - diskPriority: How the disk serves it.
    ///   - body: What it does.
    ///
    /// Where the system allows no more threads, waits for one to end: they are many while files are fetched.
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

    /// How often a thread is tried to be started, 10 ms apart.
    private static let attempts = 6000

    private init(_ id: pthread_t) { self.id = id }

    /// Starts a thread that runs `body`; `nil` where the system allows no more threads.
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
                // Where the kernel refuses, the thread is served as the others are.
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

    /// Waits for the thread's end.
    package func join() { pthread_join(id, nil) }

    /// Lets the thread end by itself, in place of joining it.
    package func detach() { pthread_detach(id) }
}

/// A continuation that another thread resumes, once.
///
/// A checked continuation alone would do. But when it is resumed before it is awaited, ThreadSanitizer
/// does not see that what the one thread wrote comes before what the other one reads: so that the answer
/// goes through a lock.
package struct Answer<Result: Sendable>: Sendable {
    private let continuation: CheckedContinuation<Result, Never>
    private let order: Monitor<Void>

    /// Gives the answer.
    package func resume(returning result: sending Result) {
        order.withLock { _ in }
        continuation.resume(returning: result)
    }

    /// Waits for the answer that whoever `ask` hands it to gives.
    package static func wait(_ ask: (Answer) -> Void) async -> Result {
        let order = Monitor(())
        let result = await withCheckedContinuation { ask(Answer(continuation: $0, order: order)) }
        order.withLock { _ in }
        return result
    }
}

/// Runs blocking work on a thread of its own, so that no cooperative thread waits for a disk.
///
/// Where the system allows no more threads, that one waits after all.
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

/// Seconds on the monotonic clock, which no change of the wall clock moves.
package func monotonicSeconds() -> Double { seconds(of: CLOCK_MONOTONIC) }

/// Seconds since the machine was started, those in which it was suspended included.
package func bootSeconds() -> Double { seconds(of: CLOCK_BOOTTIME) }

/// Processor time that the calling thread has used, in seconds.
package func threadSeconds() -> Double { seconds(of: CLOCK_THREAD_CPUTIME_ID) }

/// Seconds since 1970, by the wall clock.
package func secondsSince1970() -> Double { seconds(of: CLOCK_REALTIME) }

private func seconds(of clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
