/// A dictionary that can undo changes, at a cost in proportion to these changes.
///
/// A copy of the dictionary would make the cost of each change grow with the queue.
struct UndoableTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// The content.
    private(set) var contents: [Key: Value] = [:]
    /// The earlier values of keys that were changed since ``begin()``; `nil` if no changes are
    /// noted.
    private var earlier: [Key: Value?]?

    subscript(key: Key) -> Value? {
        get { contents[key] }
        set {
            if earlier?.keys.contains(key) == false {
                earlier?.updateValue(contents[key], forKey: key)
            }
            contents[key] = newValue
        }
    }

    /// Starts to note changes.
    mutating func begin() { earlier = [:] }

    /// Ends what ``begin()`` began.
    ///
    /// - Returns: The earlier values of the changed keys; setting them again undoes all changes.
    mutating func end() -> [Key: Value?] {
        defer { earlier = nil }
        return earlier ?? [:]
    }
}
