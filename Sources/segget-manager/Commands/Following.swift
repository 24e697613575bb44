import Assembler
import SeggetReports

/// How a command follows something that changes.
enum Following {
    /// Acts on the newest of values: when there is a new one, and once a second, since times go on and the terminal may
    /// have another size.
    ///
    /// - Parameters:
    ///   - follow: Calls what it is given with each new value.
    ///   - act: Does something with the newest; it gives the code to end with, or `nil` to go on.
    /// - Returns: The code to end with.
    /// - Throws: What either of them throws.
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
