import Assembler
import NIOCore

extension EventLoopFuture where Value: Sendable {
    /// Waits for the value, like `get()`.
    ///
    /// `get()` resumes a bare continuation. ThreadSanitizer does not see that the event loop's
    /// writes happen before the reads of the caller. See `Answer`.
    ///
    /// - Returns: The value.
    /// - Throws: The failure of the future.
    func answer() async throws -> Value {
        let result = await Answer<Result<Value, any Error>>.wait { answer in
            whenComplete { answer.resume(returning: $0) }
        }
        return try result.get()
    }
}
