import Crypto

/// A digest that is fed piece by piece.
struct StreamingDigest {
    private let algorithm: DigestAlgorithm
    private var hash: any HashFunction

    /// `nil` for CRC-32, which the extents give without reading.
    init?(_ algorithm: DigestAlgorithm) {
        switch algorithm {
        case .sha256: hash = SHA256()
        case .sha512: hash = SHA512()
        case .sha1: hash = Insecure.SHA1()
        case .md5: hash = Insecure.MD5()
        case .crc32: return nil
        }
        self.algorithm = algorithm
    }

    /// Takes in the bytes that follow those that were taken before.
    mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    /// The digest of all bytes so far; more may follow.
    func finish() -> Digest? { Digest(algorithm, Array(hash.finalize())) }
}
