import Glibc

/// Seconds on the monotonic clock, for differences only.
public func monotonicSeconds() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) / 1_000_000_000
}

/// Waits until `condition` holds; tests poll here, and in `soon`, only.
///
/// - Parameters:
///   - timeout: longest time to wait, in seconds.
///   - interval: time between two looks, in seconds.
///   - condition: what is waited for.
/// - Returns: whether the condition came to hold; a test must check it.
/// - Throws: what `condition` throws.
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

/// A system call that the test support needs has failed.
public struct SystemCallError: Error, CustomStringConvertible {
    /// The call, with what it was applied to.
    public let operation: String
    /// Its error number.
    public let code: Int32

    /// Remembers the failure of `operation` with the present `errno`.
    public init(_ operation: String) {
        self.init(operation, code: errno)
    }

    /// Remembers the failure of `operation`.
    public init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The call and the text of its error.
    public var description: String { "\(operation): \(String(cString: strerror(code)))" }
}

/// Passes on the result of a call that returns −1 on failure.
///
/// - Throws: ``SystemCallError`` when it is −1.
@discardableResult
func checked(_ result: Int32, _ operation: @autoclosure () -> String) throws -> Int32 {
    let code = errno
    guard result >= 0 else { throw SystemCallError(operation(), code: code) }
    return result
}

/// Waits until a condition holds, for 400 seconds at most, without keeping a thread from the tasks that are
/// waited for.
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
