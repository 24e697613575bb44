import Foundation
import TestSupport
import Testing

struct ContentTests {
    @Test func isIndependentOfPieceSize() {
        let content = Content(size: 100_003, seed: 7)
        let whole = content.bytes(0..<100_003)
        #expect(Content(size: 100_003, seed: 7).matches(whole, in: 0..<100_003))
        var pieces: [UInt8] = []
        var offset: Int64 = 0
        var step: Int64 = 1
        while offset < content.size {
            pieces += content.bytes(offset..<(offset + step))
            offset += step
            step = step * 3 % 7919 + 1
        }
        #expect(content.matches(pieces, in: 0..<100_003))
    }

    @Test func differsByOffsetAndSeed() {
        let content = Content(size: 1 << 40, seed: 1)
        let blocks: Range<Int64> = 0..<10_000
        let insides = Set(blocks.map { content.bytes(($0 << 14 + 8)..<($0 << 14 + 24)) })
        let starts = Set(blocks.map { content.bytes(($0 << 14)..<($0 << 14 + 16)) })
        // A few blocks have the same offset in the table; their stamps distinguish them.
        #expect((9_800..<10_000).contains(insides.count))
        #expect(starts.count == 10_000)
        #expect(content.bytes(0..<4096) != Content(size: 1 << 40, seed: 2).bytes(0..<4096))
        #expect(content.bytes((1 << 39)..<(1 << 39 + 64)) != content.bytes(0..<64))
    }

    @Test func contentEndsAtFileSize() {
        let content = Content(size: 10, seed: 1)
        #expect(content.bytes(8..<20).count == 2)
        #expect(content.bytes(10..<20).isEmpty)
        #expect(Content(size: 0, seed: 1).sha256Hex.hasPrefix("e3b0c44298fc1c149afbf4c8996fb924"))
    }

    @Test func digestMatchesFile() throws {
        let sandbox = try Sandbox()
        let content = Content(size: 1_500_001, seed: 3)
        try content.write(to: sandbox.path("file"))
        let outcome = try Run("/usr/bin/sha256sum", [sandbox.path("file")]).wait()
        #expect(outcome.output.hasPrefix(content.sha256Hex + " "))
        #expect(try content.firstDifference(at: sandbox.path("file")) == nil)
    }

    @Test(arguments: [0, 1, 700_000, 1_500_000] as [Int64])
    func firstDifferenceIsFound(at offset: Int64) throws {
        let sandbox = try Sandbox()
        let content = Content(size: 1_500_001, seed: 3)
        let path = sandbox.path("file")
        try content.write(to: path)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: [content.bytes(offset..<(offset + 1))[0] ^ 1])
        #expect(try content.firstDifference(at: path) == offset)
        #expect(try content.firstDifference(at: path, in: (offset + 1)..<content.size) == nil)
        try file.truncate(atOffset: UInt64(offset))
        #expect(try content.firstDifference(at: path) == offset)
        try file.close()
    }

    @Test func longerFileDiffers() throws {
        let sandbox = try Sandbox()
        try Content(size: 101, seed: 3).write(to: sandbox.path("file"))
        let content = Content(size: 100, seed: 3)
        #expect(try content.firstDifference(at: sandbox.path("file")) == 100)
        #expect(try content.firstDifference(at: sandbox.path("file"), in: 0..<100) == nil)
    }
}
