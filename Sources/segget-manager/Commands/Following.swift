import Assembler
import SeggetReports

/// Lets a command follow a changing value.
enum Following {
    /// Acts on the newest value: on each change, and once a second.
    ///
    /// The second turn updates times, and adapts to a new size of the terminal.
    ///
    /// - Parameters:
    ///   - follow: Calls its argument with each new value.
    ///   - act: Uses the newest value; returns the exit code, or `nil` to continue.
    /// - Returns: The exit code.
    /// - Throws: The errors of both functions.
    static func newest<Value: Sendable>(
        _ follow: @escaping @Sendable (@escaping @Sendable (Value) -> Void) async throws -> Never,
        act: (Value) async throws -> ExitStatus?
    ) async throws -> ExitStatus {
        let newest = Monitor<Value?>(nil)
        let (bell, ring) = AsyncThrowingStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let following = Task {
            do {
                try await follow { value in
                    newest.withLock { $0 = value }
                    ring.yield()
                }
            } catch {
                ring.finish(throwing: error)
            }
        }
        let ticking = Task {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(1))
                ring.yield()
            }
        }
        defer {
            following.cancel()
            ticking.cancel()
        }
        for try await _ in bell {
            guard let value = newest.withLock({ $0 }) else { continue }
            if let status = try await act(value) { return status }
        }
        return .done
    }
}
