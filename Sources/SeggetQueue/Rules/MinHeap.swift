/// A binary heap: finds its smallest element in constant time, and removes it in logarithmic time.
struct MinHeap<Element: Comparable & Sendable>: Sendable {
    private var elements: [Element] = []

    /// The number of elements.
    var count: Int { elements.count }
    /// The smallest element.
    var first: Element? { elements.first }

    /// Adds an element.
    mutating func insert(_ element: Element) {
        elements.append(element)
        var index = elements.count - 1
        while index > 0, elements[index] < elements[(index - 1) / 2] {
            elements.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Removes the smallest element.
    mutating func removeFirst() {
        guard let last = elements.popLast(), !elements.isEmpty else { return }
        elements[0] = last
        var index = 0
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < elements.count && elements[child] < elements[least] {
                least = child
            }
            guard least != index else { return }
            elements.swapAt(index, least)
            index = least
        }
    }
}
