import Glibc

/// Memory for the bytes of a stream between their arrival and their going out, by their offset in
/// the file: byte `n` stands at `n` modulo the capacity.
///
/// The loop thread stores, at and behind the front of contiguous data; the output's thread reads,
/// before it. What one thread may touch the other learns under a lock, never from this type.
final class RingBuffer: @unchecked Sendable {
    // Unchecked, because the two threads never touch the same bytes, as said above.
    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    /// Bytes at this offset and behind it would overwrite what has not gone out; loop thread only.
    var limit: Int64 = 0

    /// Reserves `capacity` bytes, which take memory only once they are used; `nil` with `errno` set.
    init?(capacity: Int64) {
        let mapped = mmap(
            nil, Int(capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
            -1, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        base = mapped
        self.capacity = Int(capacity)
    }

    deinit { munmap(base, capacity) }

    /// Stores bytes of the file from `position` on, at most `count`: up to the end of the memory.
    ///
    /// - Returns: How many were stored, or −1 with `errno` set when they would overwrite others.
    func store(_ bytes: UnsafeRawPointer, _ count: Int, at position: Int64) -> Int {
        guard position + Int64(count) <= limit else {
            errno = ENOBUFS
            return -1
        }
        let place = Int(position % Int64(capacity))
        let step = min(count, capacity - place)
        memcpy(base + place, bytes, step)
        return step
    }

    /// The bytes of the file from `start` on, at most up to `end`: those that stand in one piece.
    func piece(_ start: Int64, _ end: Int64) -> UnsafeRawBufferPointer {
        let place = Int(start % Int64(capacity))
        return UnsafeRawBufferPointer(
            start: base + place, count: Int(min(end - start, Int64(capacity - place))))
    }
}
