import Assembler
import SegmenterTransport

/// The files of a batch, in order; files can be added until the list is closed.
///
/// The class may be used from any thread.
final class BatchList: Sendable {
    private struct State {
        var added: [BatchItem] = []
        var isOpen: Bool
    }

    /// The number of files in the initial list.
    private let first: Int
    private let item: @Sendable (Int) -> BatchItem
    /// Returns the size of a file in bytes; `nil` if it is unknown.
    let size: @Sendable (Int) -> Int64?
    /// Whether the list has checked that each file has a path of its own.
    var hasOwnPaths: Bool { order != nil }
    /// The places of the files in the caller's list, if the files start in another order.
    private let order: [UInt32]?
    private let state: Monitor<State>

    /// Creates a list; files can be added only to an open one.
    init(_ count: Int, isOpen: Bool = false, item: @escaping @Sendable (Int) -> BatchItem) {
        first = count
        self.item = item
        (size, order) = ({ _ in nil }, nil)
        state = Monitor(State(isOpen: isOpen))
    }

    /// Creates a closed list of files with known sizes, which starts with large files.
    ///
    /// Each file has a path of its own.
    init(
        _ count: Int, size: @escaping @Sendable (Int) -> Int64?,
        item: @escaping @Sendable (Int) -> BatchItem
    ) {
        first = count
        let order = BatchOrder.largeFirst(count, size: size)
        self.order = order
        self.item = { item(Int(order[$0])) }
        self.size = { size(Int(order[$0])) }
        state = Monitor(State(isOpen: false))
    }

    /// Returns the place of a file in the caller's list.
    func place(of index: Int) -> Int { order.map { Int($0[index]) } ?? index }

    /// The number of files so far.
    var count: Int { state.withLock { first + $0.added.count } }

    /// Returns the file at an index, from 0.
    subscript(_ index: Int) -> BatchItem {
        index < first ? item(index) : state.withLock { $0.added[index - first] }
    }

    /// Returns whether the list is closed and has exactly `count` files.
    func ends(after count: Int) -> Bool {
        state.withLock { !$0.isOpen && first + $0.added.count == count }
    }

    /// Adds files at the end.
    ///
    /// - Returns: The indices of the files; `nil` if the list is closed.
    func add(_ items: [BatchItem]) -> Range<Int>? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            let start = first + state.added.count
            state.added += items
            return start..<start + items.count
        }
    }

    /// Closes the list.
    func close() { state.withLock { $0.isOpen = false } }
}
