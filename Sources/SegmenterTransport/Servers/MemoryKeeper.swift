/// Writes the facts that a session learns about servers to their file.
///
/// Dates and tags are written soon after they were seen, because a session may be killed. All other
/// facts are written at the end of the session. May be used from any thread.
package final class MemoryKeeper: Sendable {
    /// The delay before new dates and tags are written.
    private static let delay = Duration.milliseconds(200)

    private let memory: ServerMemory
    private let book: ValidatorBook
    private let pending = Monitor<Task<Void, Never>?>(nil)

    /// Creates a keeper.
    ///
    /// - Parameters:
    ///   - memory: The file.
    ///   - book: The dates and tags that the session sees.
    package init(_ memory: ServerMemory, _ book: ValidatorBook) {
        self.memory = memory
        self.book = book
    }

    /// Reads the file at the start of a session; blocks.
    ///
    /// - Returns: The number of requests that servers serve at a time, by origin.
    package func begin() -> [String: Int] {
        let memories = memory.memories(now: secondsSince1970())
        book.begin(with: memories.validators) { [weak self] in self?.saveSoon() }
        return memories.limits
    }

    /// Writes the remaining facts.
    ///
    /// An error is ignored: a later session learns the facts again.
    ///
    /// - Parameter limits: The number of requests that servers serve at a time, by origin.
    package func end(_ limits: [String: Int]) async {
        let task = pending.withLock { $0 }
        task?.cancel()
        await task?.value
        let news = book.takeNews()
        _ = await offLoop("memory") { [memory] in
            memory.add(limits, validators: news, now: secondsSince1970())
        }
    }

    private func saveSoon() {
        let task = Task { [memory, book, weak self] in
            try? await Task.sleep(for: Self.delay)
            guard !Task.isCancelled else { return }
            let news = book.takeNews { [weak self] in self?.saveSoon() }
            _ = await offLoop("memory") {
                memory.add(validators: news, now: secondsSince1970())
            }
        }
        pending.withLock { $0 = task }
    }
}
