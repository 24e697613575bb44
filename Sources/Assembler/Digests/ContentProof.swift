/// An expected digest of a byte sequence, verified while the bytes arrive.
struct ContentProof {
    /// The end of the bytes, as an offset from the start of the file.
    let end: Int64
    private let expected: Digest
    private var computed: StreamingDigest

    /// Returns `nil` if the algorithm cannot be computed piece by piece.
    init?(_ expected: Digest, end: Int64) {
        guard let computed = StreamingDigest(expected.algorithm, size: nil) else { return nil }
        self.end = end
        self.expected = expected
        self.computed = computed
    }

    /// Whether the bytes so far match the expected digest.
    var holds: Bool { computed.finish() == expected }

    mutating func update(_ bytes: UnsafeRawPointer, _ count: Int) {
        computed.update(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

extension Digest {
    /// Returns whether bytes match this digest; always `false` for a CRC-32.
    package func fits(_ bytes: [UInt8]) -> Bool {
        var computed = StreamingDigest(algorithm, size: Int64(bytes.count))
        bytes.withUnsafeBytes { computed?.update($0) }
        return computed?.finish() == self
    }
}
