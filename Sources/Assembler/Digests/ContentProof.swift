/// A digest that a run of bytes must have, and that is computed while they come.
struct ContentProof {
    /// Where the bytes end, in bytes from the start of the file.
    let end: Int64
    private let expected: Digest
    private var computed: StreamingDigest

    /// `nil` for an algorithm that is not computed in this way.
    init?(_ expected: Digest, end: Int64) {
        guard let computed = StreamingDigest(expected.algorithm) else { return nil }
        self.end = end
        self.expected = expected
        self.computed = computed
    }

    /// Whether the bytes so far have the digest.
    var holds: Bool { computed.finish() == expected }

    mutating func update(_ bytes: UnsafeRawPointer, _ count: Int) {
        computed.update(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

extension Digest {
    /// Whether bytes have this digest; always `false` for a CRC-32.
    package func fits(_ bytes: [UInt8]) -> Bool {
        var computed = StreamingDigest(algorithm)
        bytes.withUnsafeBytes { computed?.update($0) }
        return computed?.finish() == self
    }
}
