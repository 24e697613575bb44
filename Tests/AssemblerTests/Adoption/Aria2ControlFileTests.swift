import TestSupport
import Testing

@testable import Assembler

@Suite struct Aria2ControlFileTests {
    private static let piece: Int64 = 1 << 20

    /// A control file by aria2 1.36, of 8,000,000 bytes over four connections: four pieces are
    /// begun, and none is complete.
    private static let real = bytes(
        """
        000100000000000000000010000000000000007a1200000000000000000000000001aa
        00000004
        000000010010000000000008ffc0000000000000
        000000030010000000000008ff80000000000000
        000000050010000000000008ff80000000000000
        00000007000a120000000006ff8000000000
        """)

    @Test func readsWhatAria2HasWritten() throws {
        let file = try Aria2ControlFile(reading: Self.real)
        #expect(file.total == 8_000_000)
        // Pieces 0, 2, 4 and 6, and blocks of the pieces that follow them.
        let blocks: [(Int64, Int64)] = [(0, 10), (2, 9), (4, 9), (6, 9)]
        let expected = blocks.map {
            ByteRange($0.0 * Self.piece, ($0.0 + 1) * Self.piece + $0.1 * (16 << 10))
        }
        #expect(file.done.ranges == expected)
    }

    @Test func rejectsTruncatedText() {
        for count in Self.real.indices {
            #expect(throws: ControlFileProblem.self, "\(count) bytes") {
                try Aria2ControlFile(reading: Array(Self.real.prefix(count)))
            }
        }
    }

    @Test func rejectsTrailingBytes() {
        #expect(throws: ControlFileProblem.inconsistent) {
            try Aria2ControlFile(reading: Self.real + [0])
        }
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var file = ControlFileParts()
        let expected: Result<[ByteRange], ControlFileProblem>

        init(
            _ name: String, _ expected: Result<[ByteRange], ControlFileProblem>,
            _ change: (inout ControlFileParts) -> Void
        ) {
            (testDescription, self.expected) = (name, expected)
            change(&file)
        }
    }

    static let rows = [
        Row("the last piece is short", .success([ByteRange(200, 250)])) { $0.bits = [0b0010_0000] },
        Row("adjacent pieces", .success([ByteRange(0, 200)])) { $0.bits = [0b1100_0000] },
        Row("no bytes at all", .success([])) { ($0.total, $0.bits) = (0, []) },
        Row("a torrent", .success([])) {
            ($0.extensions, $0.infoHash) = (1, [UInt8](repeating: 7, count: 20))
        },
        Row("a block of a piece", .success([ByteRange(0, 16384), ByteRange(32768, 32769)])) {
            ($0.pieceLength, $0.total) = (40000, 32769)
            $0.bits = [0]
            $0.begun = [.init(index: 0, length: 32769, bits: [0b1010_0000])]
        },
        Row("a complete piece that counts as begun", .success([ByteRange(0, 100)])) {
            $0.bits = [0b1000_0000]
            $0.begun = [.init(index: 0, length: 100, bits: [0])]
        },
        Row("the largest file", .failure(.truncated)) {
            ($0.pieceLength, $0.total) = (1 << 31, UInt64(Int64.max))
            ($0.statedLength, $0.bits) = (1 << 29, [])
        },
        Row("version 0", .failure(.version(0))) { $0.version = 0 },
        Row("version 2", .failure(.version(2))) { $0.version = 2 },
        Row("an unknown extension", .failure(.inconsistent)) { $0.extensions = 2 },
        Row("a torrent without its hash", .failure(.inconsistent)) { $0.extensions = 1 },
        Row("a hash without a torrent", .failure(.inconsistent)) {
            $0.infoHash = [UInt8](repeating: 7, count: 20)
        },
        Row("pieces of no length", .failure(.inconsistent)) { $0.pieceLength = 0 },
        Row("more bytes than any file has", .failure(.inconsistent)) { $0.total = 1 << 63 },
        Row("too few bits", .failure(.inconsistent)) { $0.bits = [] },
        Row("too many bits", .failure(.inconsistent)) { $0.bits = [0, 0] },
        Row("more bits than there are bytes", .failure(.truncated)) {
            ($0.pieceLength, $0.total, $0.statedLength) = (1, 8 * (1 << 32 - 1), .max)
        },
        Row("a bit behind the last piece", .failure(.inconsistent)) { $0.bits = [0b0001_0000] },
        Row("a piece behind the last one", .failure(.inconsistent)) {
            $0.begun = [.init(index: 3, length: 50, bits: [0])]
        },
        Row("a piece that is too long", .failure(.inconsistent)) {
            $0.begun = [.init(index: 2, length: 100, bits: [0])]
        },
        Row("a piece twice", .failure(.inconsistent)) {
            $0.begun = [ControlFileParts.Begun](
                repeating: .init(index: 1, length: 100, bits: [0]), count: 2)
        },
        Row("bits of no block", .failure(.inconsistent)) {
            $0.begun = [.init(index: 1, length: 100, bits: [0b1100_0000])]
        },
        Row("more pieces than follow", .failure(.truncated)) { $0.statedCount = .max },
    ]

    @Test(arguments: rows) func rejectsInconsistentValues(_ row: Row) {
        let outcome = Result { () throws(ControlFileProblem) -> [ByteRange] in
            try Aria2ControlFile(reading: row.file.bytes).done.ranges
        }
        #expect(outcome == row.expected)
    }

    private static func bytes(_ text: String) -> [UInt8] {
        let digits = text.filter { !$0.isWhitespace }.map { $0 }
        return stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(digits[$0..<$0 + 2]), radix: 16)
        }
    }
}

/// The fields of a control file of aria2.
///
/// By default, the file has 250 bytes in pieces of 100.
struct ControlFileParts: Sendable {
    struct Begun: Sendable {
        var index: UInt32
        var length: UInt32
        var bits: [UInt8]
    }

    var version: UInt16 = 1
    var extensions: UInt32 = 0
    var infoHash: [UInt8] = []
    var pieceLength: UInt32 = 100
    var total: UInt64 = 250
    var bits: [UInt8] = [0]
    /// The stated length of `bits` in bytes, if it is wrong.
    var statedLength: UInt32?
    var begun: [Begun] = []
    /// The stated number of begun pieces, if it is wrong.
    var statedCount: UInt32?

    var bytes: [UInt8] {
        func big(_ number: some FixedWidthInteger) -> [UInt8] {
            withUnsafeBytes(of: number.bigEndian) { Array($0) }
        }
        var bytes = big(version) + big(extensions) + big(UInt32(infoHash.count)) + infoHash
        bytes += big(pieceLength) + big(total) + big(UInt64(0))
        bytes += big(statedLength ?? UInt32(bits.count)) + bits
        bytes += big(statedCount ?? UInt32(begun.count))
        for piece in begun {
            bytes +=
                big(piece.index) + big(piece.length) + big(UInt32(piece.bits.count)) + piece.bits
        }
        return bytes
    }
}
