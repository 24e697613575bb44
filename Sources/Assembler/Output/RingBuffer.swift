import Glibc

/// The memory for a stream's bytes between their arrival and their delivery.
///
/// Byte `n` of the file is at index `n` modulo the capacity. The loop thread stores bytes at the
/// end of the contiguous data or after it. The output's thread reads the bytes before that end.
/// Both learn these limits under a lock outside of this type.
final class RingBuffer: @unchecked Sendable {
    // Unchecked: the two threads never access the same bytes, as described above.
    private let base: UnsafeMutableRawPointer
    private let capacity: Int
    /// The offset from which bytes would overwrite undelivered ones; loop thread only.
    var limit: Int64 = 0

    /// Reserves `capacity` bytes of address space; fails with `errno` set.
    ///
    /// Memory is used only where bytes are stored.
    init?(capacity: Int64) {
        let mapped = mmap(
            nil, Int(capacity), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
            -1, 0)
        guard let mapped, mapped != MAP_FAILED else { return nil }
        base = mapped
        self.capacity = Int(capacity)
    }

    deinit { munmap(base, capacity) }

    /// Stores at most `count` bytes at `position`, up to the end of the buffer.
    ///
    /// - Returns: The number of bytes stored, or −1 with `errno` set if they would overwrite
    ///   others.
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

    /// Returns the bytes from `start` to `end`, or only the first of them that are contiguous in
    /// memory.
    func piece(_ start: Int64, _ end: Int64) -> UnsafeRawBufferPointer {
        let place = Int(start % Int64(capacity))
        return UnsafeRawBufferPointer(
            start: base + place, count: Int(min(end - start, Int64(capacity - place))))
    }
}
