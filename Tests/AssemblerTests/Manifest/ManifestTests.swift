import TestSupport
import Testing

@testable import Assembler

@Suite struct ManifestTests {
    private static let identity = RemoteIdentity(
        size: 1000, etag: "\"v1\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT",
        lastModifiedIsStrong: true)

    private static func header(
        _ identity: RemoteIdentity = identity, generation: UInt64 = 7
    ) -> Manifest.Header {
        Manifest.Header(
            identity: identity, url: "https://example.org/f",
            fullURL: "https://example.org/f?key=secret", generation: generation)
    }

    /// Returns a manifest of a header and records.
    private static func bytes(
        _ records: [Manifest.Record], header: Manifest.Header = header()
    ) -> [UInt8] {
        let seed = Manifest.seed(generation: header.generation)
        return records.reduce(SealedLine.of(header, seed: seed)) {
            $0 + SealedLine.of($1, seed: seed)
        }
    }

    /// Returns a record with these numbers, even if they are invalid.
    private static func record(_ extents: [[Int64]]) -> Manifest.Record {
        var record = Manifest.Record(extents: [])
        record.extents = extents
        return record
    }

    private static func text(_ random: inout SplitMix64) -> String {
        let alphabet = Array("ab\"\\/\t é€\u{1F600}{}:,")
        return String(
            (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            })
    }

    /// Manifests of earlier versions lack this member.
    @Test(arguments: [nil, true] as [Bool?])
    func recordsServerWithoutRanges(isOneStream: Bool?) throws {
        var header = Self.header()
        header.isOneStream = isOneStream
        let bytes = Self.bytes([], header: header)
        #expect(
            String(decoding: bytes, as: UTF8.self).contains("OneStream") == (isOneStream == true))
        #expect(try Manifest(reading: bytes).header == header)
    }

    @Test func roundTrips() throws {
        try forEachSeed(500) { seed, random in
            let size =
                Bool.random(using: &random) ? Int64.random(in: 0...1 << 40, using: &random) : nil
            let header = Self.header(
                RemoteIdentity(
                    size: size, etag: Bool.random(using: &random) ? Self.text(&random) : nil,
                    lastModified: Bool.random(using: &random) ? Self.text(&random) : nil,
                    lastModifiedIsStrong: Bool.random(using: &random)),
                generation: random.next())
            var map = ExtentMap()
            var records: [Manifest.Record] = []
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let fresh = (0..<Int.random(in: 0...4, using: &random)).compactMap { _ -> Extent? in
                    let start = Int64.random(in: 0...(size ?? 1 << 40), using: &random)
                    let end = Int64.random(in: start...(size ?? 1 << 41), using: &random)
                    guard start < end else { return nil }
                    return Extent(
                        ByteRange(start, end), crc: UInt32.random(in: 0...(.max), using: &random))
                }
                for extent in fresh { map.add(extent) }
                records.append(Manifest.Record(extents: fresh))
            }
            let manifest = try Manifest(reading: Self.bytes(records, header: header))
            #expect(manifest.header == header, "seed \(seed)")
            #expect(manifest.extents.extents == map.extents, "seed \(seed)")
            #expect(manifest.damagedLines == 0, "seed \(seed)")
            #expect(manifest.publishing == nil && manifest.rejected == nil, "seed \(seed)")
        }
    }

    @Test func recordsPublishingAndRejection() throws {
        let file = FileIdentity(device: .max, inode: 42)
        let manifest = try Manifest(
            reading: Self.bytes([
                Manifest.Record(publishing: file), Manifest.Record(rejected: "crc32:00000000"),
            ]))
        #expect(manifest.publishing == file)
        #expect(manifest.rejected == "crc32:00000000")
    }

    @Test func omitsQueryAndCredentials() {
        let text = String(decoding: Self.bytes([]), as: UTF8.self)
        #expect(text.contains("https://example.org/f"))
        #expect(!text.contains("secret"))
        #expect(!text.contains("?"))
    }

    @Test func recordsTheFirstURL() throws {
        let header = try Manifest(reading: Self.bytes([])).header
        #expect(header.isFor(fullURL: "https://example.org/f?key=secret"))
        #expect(!header.isFor(fullURL: "https://example.org/f?key=other"))
        #expect(Self.header(generation: 8).urlHash != header.urlHash, "the hash is salted")
    }

    @Test func writesTheGenerationInSixteenDigits() {
        #expect(Self.header(generation: 0).generation == "0000000000000000")
        #expect(Self.header(generation: .max).generation == "ffffffffffffffff")
    }

    @Test func skipsLinesOfAnotherGeneration() throws {
        let mine = Self.record([[0, 10, 1]])
        let foreign = SealedLine.of(
            Self.record([[20, 10, 2]]), seed: Manifest.seed(generation: "0000000000000008"))
        let manifest = try Manifest(reading: Self.bytes([mine]) + foreign)
        #expect(manifest.extents.covered.ranges == [ByteRange(0, 10)])
        #expect(manifest.damagedLines == 1)
    }

    @Test func readsPastADamagedLine() throws {
        let seed = Manifest.seed(generation: Self.header().generation)
        let bytes =
            Self.bytes([Self.record([[0, 10, 1]])]) + Array("{\"extents\":[[10,1".utf8) + [10]
            + SealedLine.of(Self.record([[50, 10, 3]]), seed: seed)
        let manifest = try Manifest(reading: bytes)
        #expect(manifest.extents.covered.ranges == [ByteRange(0, 10), ByteRange(50, 60)])
        #expect(manifest.damagedLines == 1)
    }

    @Test(
        arguments: [
            [], [0], [0, 10], [0, 10, 1, 1], [-1, 10, 1], [0, 0, 1], [0, -10, 1], [0, 1001, 1],
            [1000, 1, 1], [991, 10, 1], [0, .max, 1], [.max, 1, 1], [.max, .max, 1], [1, .max, 1],
            [.min, 10, 1], [0, .min, 1], [0, 10, -1], [0, 10, 1 << 32],
        ] as [[Int64]])
    func skipsImpossibleExtents(numbers: [Int64]) throws {
        let good = Self.record([[500, 10, 1]])
        let manifest = try Manifest(reading: Self.bytes([Self.record([numbers]), good]))
        #expect(manifest.extents.covered.ranges == [ByteRange(500, 510)])
        #expect(manifest.damagedLines == 1)
        // Without a size, only the largest offset limits an extent.
        let open = Self.bytes(
            [Self.record([numbers]), good], header: Self.header(RemoteIdentity(size: nil)))
        let unbounded = try Manifest(reading: open).extents.covered.ranges
        #expect(unbounded.allSatisfy { $0.start >= 0 && $0.end > $0.start })
    }

    @Test func acceptsExtentsUpToTheEnd() throws {
        let manifest = try Manifest(reading: Self.bytes([Self.record([[990, 10, 4_294_967_295]])]))
        #expect(manifest.extents.extents == [Extent(ByteRange(990, 1000), crc: .max)])
    }

    @Test func reportsOtherVersion() {
        var header = Self.header()
        header.segget = 2
        #expect(throws: Manifest.ReadError.version(2)) {
            try Manifest(reading: Self.bytes([], header: header))
        }
        #expect(throws: Manifest.ReadError.version(3)) {
            try Manifest(reading: Array("{\"segget\":3,\"new\":[]}\n".utf8))
        }
    }

    @Test(arguments: [
        ("", true), ("{\"generation\":\"00", true), ("{\"segget\":1}", true),
        ("{\"etag\":\"x\",\"segget\":", true), ("{}", false), ("\n", false), ("[]", false),
        ("{\"name\":\"config\",\"version\":1}\n", false), ("#!/bin/sh\n# segget\n", false),
        ("\u{0}\u{0}\u{0}", false),
    ])
    func distinguishesForeignFiles(text: String, isOurs: Bool) {
        #expect(throws: Manifest.ReadError.unreadable(isOurs: isOurs)) {
            try Manifest(reading: Array(text.utf8))
        }
    }

    @Test func refusesANegativeSize() {
        let bytes = Self.bytes([], header: Self.header(RemoteIdentity(size: -1)))
        #expect(throws: Manifest.ReadError.unreadable(isOurs: true)) {
            try Manifest(reading: bytes)
        }
    }

    /// Validators are sent back in requests, where a line break would inject a header.
    @Test(arguments: ["\"v\r\nCookie: a\"", "a\nb", "\r", "\u{0}"])
    func refusesLineBreaks(text: String) {
        for identity in [
            RemoteIdentity(size: 1, etag: text), RemoteIdentity(size: 1, lastModified: text),
        ] {
            let bytes = Self.bytes([], header: Self.header(identity))
            #expect(throws: Manifest.ReadError.unreadable(isOurs: true)) {
                try Manifest(reading: bytes)
            }
        }
    }

    @Test func rejectsGarbage() {
        forEachSeed(2000) { seed, random in
            var bytes = random.bytes(Int.random(in: 0...200, using: &random))
            if Bool.random(using: &random) { bytes = Array("{\"segget\":1".utf8) + bytes }
            #expect(throws: Manifest.ReadError.self, "seed \(seed)") {
                try Manifest(reading: bytes)
            }
        }
    }
}
