/// A short body that is kept in memory.
struct BodyCollecting {
    /// What became of a piece.
    enum Outcome { case kept, full, tooLong }

    /// What has come.
    private(set) var bytes: [UInt8] = []
    /// Seconds after which a body that is not complete waits, to be fetched as those of other files are.
    var patience = 1.0
    /// How long it is, in bytes; `nil` when nobody knows.
    private var length: Int64?
    /// The most that is kept, in bytes.
    private var most = 0
    private var began = 0.0

    /// Begins to keep a body of `length` bytes, or of nobody knows how many, but no more than `most`.
    mutating func begin(length: Int64?, most: Int, now: Double) {
        self.length = length
        self.most = most
        began = now
        bytes.reserveCapacity(length.map { Int($0) } ?? 0)
    }

    /// Keeps a piece, if there is room for all of it.
    mutating func take(_ piece: UnsafeRawPointer, _ count: Int) -> Outcome {
        if let length, bytes.count + count > length { return .tooLong }
        guard bytes.count + count <= most else { return .full }
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: piece, count: count))
        return .kept
    }

    /// Whether it has been coming for too long.
    func isLate(_ now: Double) -> Bool { now - began >= patience }

    /// Bytes that are missing when the reply has ended; 0 where nobody knows.
    var missing: Int64 { length.map { max(0, $0 - Int64(bytes.count)) } ?? 0 }
}
