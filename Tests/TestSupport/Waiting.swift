import Glibc

/// Seconds on the monotonic clock, for differences only.
public func monotonicSeconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1_000_000_000
}

/// Waits until `condition` holds; tests poll only here and in `soon`.
///
/// - Parameters:
///   - timeout: longest time to wait, in seconds.
///   - interval: time between two checks, in seconds.
///   - condition: the condition to check.
/// - Returns: whether the condition holds; a test must check it.
/// - Throws: any error of `condition`.
public func eventually(
    timeout: Double = 60, poll interval: Double = 0.005, _ condition: () throws -> Bool
) rethrows -> Bool {
    let deadline = monotonicSeconds() + timeout
    while true {
        if try condition() { return true }
        if monotonicSeconds() >= deadline { return try condition() }
        _ = poll(nil, 0, max(1, Int32(interval * 1000)))
    }
}

/// A failed system call of the test support.
public struct SystemCallError: Error, CustomStringConvertible {
    /// The call and its object.
    public let operation: String
    /// Its error number.
    public let code: Int32

    /// Creates an error of `operation` with the current `errno`.
    public init(_ operation: String) {
        self.init(operation, code: errno)
    }

    /// Creates an error of `operation`.
    public init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The call and the text of its error.
    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

/// Returns the result of a system call, or throws if it is −1.
///
/// - Throws: ``SystemCallError``.
@discardableResult
func checked(_ result: Int32, _ operation: @autoclosure () -> String) throws -> Int32 {
    let code = errno
    guard result >= 0 else { throw SystemCallError(operation(), code: code) }
    return result
}

/// Waits up to 400 seconds until a condition holds, without blocking a thread of the task pool.
///
/// - Returns: Whether it holds.
public func soon(
    isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool
) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(400)
    while ContinuousClock.now < deadline {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return condition()
}
