import Assembler
import NIOCore

extension EventLoopFuture where Value: Sendable {
    /// Waits for the value, as `get()` does.
    ///
    /// That one resumes a bare continuation, of which ThreadSanitizer does not see that what the event loop wrote
    /// comes before what is read here: see `Answer`.
    ///
    /// - Returns: The value.
    /// - Throws: What the future failed with.
    func answer() async throws -> Value {
        let result = await Answer<Result<Value, any Error>>.wait { answer in
            whenComplete { answer.resume(returning: $0) }
        }
        return try result.get()
    }
}
