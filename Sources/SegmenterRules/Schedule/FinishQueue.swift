/// A queue of connections by their estimated finish times, the latest first.
///
/// A binary heap with an index of each connection's position. Setting and removing a connection
/// take a number of steps that grows with the logarithm of the number of connections.
struct FinishQueue<Time: Comparable> {
    private var heap: [(time: Time, connection: Int)] = []
    private var places: [Int: Int] = [:]

    /// The connection that would finish last; of several, the one with the lowest number.
    var last: (time: Time, connection: Int)? { heap.first }

    /// Adds a connection, or changes its finish time.
    mutating func set(_ connection: Int, to time: Time) {
        if let place = places[connection] {
            heap[place].time = time
            settle(place)
        } else {
            heap.append((time, connection))
            places[connection] = heap.count - 1
            rise(heap.count - 1)
        }
    }

    /// Removes a connection, if it is in the queue.
    mutating func remove(_ connection: Int) {
        guard let place = places.removeValue(forKey: connection) else { return }
        let moved = heap.removeLast()
        guard place < heap.count else { return }
        heap[place] = moved
        places[moved.connection] = place
        settle(place)
    }

    private func isLater(_ one: Int, _ other: Int) -> Bool {
        if heap[one].time > heap[other].time { return true }
        return heap[one].time == heap[other].time && heap[one].connection < heap[other].connection
    }

    private mutating func settle(_ place: Int) {
        if rise(place) == place { sink(place) }
    }

    @discardableResult
    private mutating func rise(_ place: Int) -> Int {
        var place = place
        while place > 0, isLater(place, (place - 1) / 2) {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        return place
    }

    private mutating func sink(_ place: Int) {
        var place = place
        while 2 * place + 1 < heap.count {
            let left = 2 * place + 1
            let isRight = left + 1 < heap.count && isLater(left + 1, left)
            let child = isRight ? left + 1 : left
            guard isLater(child, place) else { return }
            swap(place, child)
            place = child
        }
    }

    private mutating func swap(_ one: Int, _ other: Int) {
        heap.swapAt(one, other)
        places[heap[one].connection] = one
        places[heap[other].connection] = other
    }
}
