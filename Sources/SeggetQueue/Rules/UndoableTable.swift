/// A dictionary that can take back what was changed in it, at the cost of these changes alone.
///
/// A copy of the whole would cost each change of a queue as much as the queue is long.
struct UndoableTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// What there is.
    private(set) var contents: [Key: Value] = [:]
    /// What the keys had that were changed since ``begin()``; `nil` where nobody asked for that.
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

    /// Notes from now on what is changed.
    mutating func begin() { earlier = [:] }

    /// Ends what ``begin()`` began.
    ///
    /// - Returns: What the keys had that were changed meanwhile; whoever sets that again has taken all back.
    mutating func end() -> [Key: Value?] {
        defer { earlier = nil }
        return earlier ?? [:]
    }
}
