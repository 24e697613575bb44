import Crypto

/// A digest that is computed piece by piece.
struct StreamingDigest {
    private let algorithm: DigestAlgorithm
    private var hash: any HashFunction

    /// Returns `nil` for CRC-32, which is combined from the extents without reading the file, and
    /// for git's SHA-1 if `size`, the number of bytes, is not known.
    init?(_ algorithm: DigestAlgorithm, size: Int64?) {
        switch algorithm {
        case .sha256: hash = SHA256()
        case .sha512: hash = SHA512()
        case .sha1: hash = Insecure.SHA1()
        case .md5: hash = Insecure.MD5()
        case .gitSHA1:
            guard let size else { return nil }
            hash = Insecure.SHA1()
            hash.update(data: Array("blob \(size)\0".utf8))
        case .crc32: return nil
        }
        self.algorithm = algorithm
    }

    /// Adds the next bytes of the sequence.
    mutating func update(_ bytes: UnsafeRawBufferPointer) { hash.update(bufferPointer: bytes) }

    /// Returns the digest of all bytes so far; more bytes may follow.
    func finish() -> Digest? { Digest(algorithm, Array(hash.finalize())) }
}
