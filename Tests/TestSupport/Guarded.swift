import Glibc

/// A value behind a lock, with a way to wait for changes from other threads.
///
/// It uses a pthread mutex, because ThreadSanitizer reports false races for
/// `Synchronization.Mutex`.
public final class Guarded<Value>: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var value: Value

    /// Creates a lock for `value`.
    public init(_ value: Value) {
        self.value = value
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Runs `body` with the value under the lock, then wakes waiting threads.
    ///
    /// - Throws: any error of `body`.
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(changed)
            pthread_mutex_unlock(mutex)
        }
        return try body(&value)
    }

    /// Waits until `condition` holds, at most `timeout` seconds; returns whether it holds.
    public func wait(timeout: Double, until condition: (Value) -> Bool) -> Bool {
        let end = monotonicSeconds() + timeout
        var deadline = timespec(
            tv_sec: Int(end), tv_nsec: Int((end - end.rounded(.down)) * 1_000_000_000))
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while !condition(value) {
            if pthread_cond_timedwait(changed, mutex, &deadline) == ETIMEDOUT {
                return condition(value)
            }
        }
        return true
    }
}
