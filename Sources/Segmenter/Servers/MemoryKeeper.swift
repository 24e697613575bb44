import Assembler

/// Writes what a session learns of servers into their memory: dates and tags soon after they were seen,
/// because a session may be killed, and all the rest at its end.
///
/// Any thread.
final class MemoryKeeper: Sendable {
    /// How long dates and tags that were seen may wait.
    private static let delay = Duration.milliseconds(200)

    private let memory: ServerMemory
    private let book: ValidatorBook
    private let pending = Monitor<Task<Void, Never>?>(nil)

    /// - Parameters:
    ///   - memory: The memory.
    ///   - book: What the session sees of dates and tags.
    init(_ memory: ServerMemory, _ book: ValidatorBook) {
        self.memory = memory
        self.book = book
    }

    /// Has a session begin with what is remembered; blocks.
    ///
    /// - Returns: Requests that servers serve at a time, by origin.
    func begin() -> [String: Int] {
        let memories = memory.memories(now: secondsSince1970())
        book.begin(with: memories.validators) { [weak self] in self?.saveSoon() }
        return memories.limits
    }

    /// Writes down what is left; what cannot be written is only learned once more.
    ///
    /// - Parameter limits: Requests that servers serve at a time, by origin.
    func end(_ limits: [String: Int]) async {
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
