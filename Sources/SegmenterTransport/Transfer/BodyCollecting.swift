/// A short body that is kept in memory.
package struct BodyCollecting {
    /// The result for a piece of the body.
    package enum Outcome { case kept, full, tooLong }

    /// The bytes received so far.
    package private(set) var bytes: [UInt8] = []
    /// The time in seconds after which an incomplete body is paused.
    ///
    /// The owner then continues the body like that of a longer file.
    package var patience = 1.0
    /// The factor of `patience` under a rate limit.
    static let pacedFactor = 5.0
    /// The length of the body in bytes; `nil` if it is unknown.
    private var length: Int64?
    /// The maximum number of bytes to keep.
    private var most = 0
    private var began = 0.0

    /// Prepares for a new body.
    ///
    /// - Parameters:
    ///   - length: The length of the body in bytes; `nil` if it is unknown.
    ///   - most: The maximum number of bytes to keep.
    ///   - now: The monotonic time in seconds.
    package mutating func begin(length: Int64?, most: Int, now: Double) {
        self.length = length
        self.most = most
        began = now
        bytes.reserveCapacity(length.map { Int($0) } ?? 0)
    }

    /// Appends a piece, or nothing of it if it exceeds the length or the maximum.
    package mutating func take(_ piece: UnsafeRawPointer, _ count: Int) -> Outcome {
        if let length, bytes.count + count > length { return .tooLong }
        guard bytes.count + count <= most else { return .full }
        bytes.append(contentsOf: UnsafeRawBufferPointer(start: piece, count: count))
        return .kept
    }

    /// Returns whether `patience`, times a factor, is exceeded.
    package func isLate(_ now: Double, factor: Double = 1) -> Bool {
        now - began >= patience * factor
    }

    /// The most bytes that the body may still have.
    var room: Int64 { length.map { max(0, $0 - Int64(bytes.count)) } ?? Int64(most - bytes.count) }

    /// The number of bytes missing at the end of the response; 0 if the length is unknown.
    package var missing: Int64 { length.map { max(0, $0 - Int64(bytes.count)) } ?? 0 }
}
