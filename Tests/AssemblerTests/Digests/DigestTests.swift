import TestSupport
import Testing

@testable import Assembler

@Suite struct DigestTests {
    /// The digests of "abc" by each algorithm.
    static let known: [(String, DigestAlgorithm, String)] = [
        (
            "sha-256", .sha256,
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        ),
        (
            "sha-512", .sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        ("sha-1", .sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        ("md5", .md5, "900150983cd24fb0d6963f7d28e17f72"),
        ("crc32", .crc32, "352441c2"),
    ]

    @Test(arguments: known)
    func parsesEverySpellingOfAlgorithms(
        name: String, algorithm: DigestAlgorithm, hex: String
    ) throws {
        let bare = name.filter { $0 != "-" }
        for spelling in [name, name.uppercased(), bare, bare.uppercased()] {
            for value in [hex, hex.uppercased()] {
                for separator in [":", "="] {
                    let digest = try Digest(parsing: spelling + separator + value)
                    #expect(digest.algorithm == algorithm)
                    #expect(digest.hex == hex)
                    #expect(digest.description == "\(name):\(hex)")
                    #expect(try Digest(parsing: digest.description) == digest)
                }
            }
        }
    }

    @Test(
        arguments: [
            ("", .noSeparator), ("sha-256", .noSeparator), ("352441c", .noSeparator),
            ("352441g2", .noSeparator), ("éééé", .noSeparator), (" 52441c2", .noSeparator),
            (":352441c2", .unknownAlgorithm("")), ("sha-224:00", .unknownAlgorithm("sha-224")),
            ("sha3-256:00", .unknownAlgorithm("sha3-256")), ("sha:00", .unknownAlgorithm("sha")),
            ("crc32c:352441c2", .unknownAlgorithm("crc32c")),
            (" crc32:352441c2", .unknownAlgorithm(" crc32")),
            ("crc32:", .wrongLength(.crc32, expected: 8, got: 0)),
            ("crc32:352441c", .wrongLength(.crc32, expected: 8, got: 7)),
            ("crc32:352441c20", .wrongLength(.crc32, expected: 8, got: 9)),
            ("crc32: 352441c2", .wrongLength(.crc32, expected: 8, got: 9)),
            ("sha-256:352441c2", .wrongLength(.sha256, expected: 64, got: 8)),
            ("crc32:352441g2", .notHexadecimal), ("crc32:0x2441c2", .notHexadecimal),
            ("crc32:+52441c2", .notHexadecimal), ("crc32:352441 2", .notHexadecimal),
            // Four characters in eight bytes, some of them digits of other scripts.
            ("crc32:é٣éé", .notHexadecimal), ("crc32:352441c:", .notHexadecimal),
        ] as [(String, DigestSyntaxError)])
    func refusesMalformedText(text: String, error: DigestSyntaxError) {
        #expect(throws: error) { try Digest(parsing: text) }
    }

    @Test(arguments: known)
    func digitsAloneDetermineTheAlgorithm(
        name: String, algorithm: DigestAlgorithm, hex: String
    ) throws {
        #expect(try Digest(parsing: hex).description == "\(name):\(hex)")
        #expect(try Digest(parsing: hex.uppercased()).algorithm == algorithm)
    }

    @Test(arguments: DigestAlgorithm.allCases)
    func lengthFitsTheAlgorithm(algorithm: DigestAlgorithm) {
        let count = algorithm.byteCount
        #expect(Digest(algorithm, Array(repeating: 1, count: count)) != nil)
        #expect(Digest(algorithm, Array(repeating: 1, count: count - 1)) == nil)
        #expect(Digest(algorithm, Array(repeating: 1, count: count + 1)) == nil)
    }

    @Test(arguments: known)
    func hashesIncrementally(name: String, algorithm: DigestAlgorithm, hex: String) throws {
        guard algorithm != .crc32 else {
            #expect(StreamingDigest(.crc32, size: nil) == nil, "the extents give it")
            #expect(Digest(crc32: CRC32.of("abc".utf8)).hex == hex)
            return
        }
        var digest = try #require(StreamingDigest(algorithm, size: nil))
        for piece in ["a", "", "bc"] {
            Array(piece.utf8).withUnsafeBytes { digest.update($0) }
        }
        #expect(digest.finish()?.hex == hex)
    }

    @Test func roundTripsAnyBytes() throws {
        try forEachSeed(300) { seed, random in
            let algorithm = try #require(DigestAlgorithm.allCases.randomElement(using: &random))
            let digest = try #require(Digest(algorithm, random.bytes(algorithm.byteCount)))
            #expect(try Digest(parsing: digest.description) == digest, "seed \(seed)")
        }
    }
}
