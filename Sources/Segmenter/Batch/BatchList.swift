import Assembler

/// The files of a batch, in order, to which more may be added until it is closed.
///
/// May be used from any thread.
final class BatchList: Sendable {
    private struct State {
        var added: [BatchItem] = []
        var isOpen: Bool
    }

    /// Number of files that it began with.
    private let first: Int
    private let item: @Sendable (Int) -> BatchItem
    private let state: Monitor<State>

    /// Makes a list; only one that is open takes more.
    init(_ count: Int, isOpen: Bool = false, item: @escaping @Sendable (Int) -> BatchItem) {
        first = count
        self.item = item
        state = Monitor(State(isOpen: isOpen))
    }

    /// Number of files so far.
    var count: Int { state.withLock { first + $0.added.count } }

    /// The file at a place, from 0.
    subscript(_ index: Int) -> BatchItem {
        index < first ? item(index) : state.withLock { $0.added[index - first] }
    }

    /// Whether no file comes after so many.
    func ends(after count: Int) -> Bool {
        state.withLock { !$0.isOpen && first + $0.added.count == count }
    }

    /// Adds files at the end.
    ///
    /// - Returns: Their places; `nil` when the list is closed.
    func add(_ items: [BatchItem]) -> Range<Int>? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            let start = first + state.added.count
            state.added += items
            return start..<start + items.count
        }
    }

    /// Takes no more files from now on.
    func close() { state.withLock { $0.isOpen = false } }
}
