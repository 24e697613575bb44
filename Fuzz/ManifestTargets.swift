import FoundationEssentials

@testable import Assembler

/// The reader of manifests.
enum ManifestTargets {
    /// Any bytes at all.
    static func manifest(_ bytes: [UInt8]) {
        guard let manifest = try? Manifest(reading: bytes) else { return }
        check(manifest)
    }

    /// Lines that end in the right checksum: what no accident gets past, but who knows the format does.
    static func sealed(_ bytes: [UInt8]) {
        struct Named: Decodable { var generation: String }
        let first = Data(bytes.prefix { $0 != UInt8(ascii: "\n") })
        guard let generation = try? JSONDecoder().decode(Named.self, from: first).generation
        else { return }
        manifest(sealing(bytes, seed: Manifest.seed(generation: generation)))
    }

    /// Returns lines with their checksums, which replace what is behind the last brace of each.
    static func sealing(_ bytes: [UInt8], seed: UInt32) -> [UInt8] {
        var lines = bytes.split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false
        ).map { Array($0) }
        for index in lines.indices {
            guard let brace = lines[index].lastIndex(of: UInt8(ascii: "}")) else { continue }
            var line = Array(lines[index][..<brace])
            line += Array(",\"crc\":\"".utf8)
            let crc = Digest(crc32: CRC32.of(line, seed: seed)).hex
            lines[index] = line + Array("\(crc)\"}".utf8)
        }
        return Array(lines.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// What was read is possible, and written again it reads the same.
    private static func check(_ manifest: Manifest) {
        let header = manifest.header
        let texts = [
            header.generation, header.url, header.urlHash, header.etag, header.lastModified,
        ]
        for text in texts.compactMap({ $0 }) {
            // They get into requests.
            expect(
                text.utf8.allSatisfy { $0 != 0x0d && $0 != 0x0a && $0 != 0 },
                "a line break in a header")
        }
        expect(header.size ?? 0 >= 0, "a negative size")
        expect(manifest.finished ?? 0 >= 0, "a finished file of a negative size")
        var end: Int64 = 0
        for extent in manifest.extents.extents {
            expect(extent.range.start >= end && !extent.range.isEmpty, "extents out of order")
            end = extent.range.end
        }
        expect(end <= header.size ?? .max, "an extent behind the end of the file")
        var covered = RangeSet()
        for extent in manifest.extents.extents { covered.insert(extent.range) }
        expect(covered == manifest.extents.covered, "the extents do not cover what they say")

        let seed = Manifest.seed(generation: header.generation)
        var bytes = SealedLine.of(header, seed: seed)
        var records = JournalRewrite.records(for: manifest.extents.extents)
        if let publishing = manifest.publishing {
            records.append(.init(publishing: publishing, digests: manifest.digests))
        }
        if let rejected = manifest.rejected { records.append(.init(rejected: rejected)) }
        if let size = manifest.finished {
            records.append(.init(finished: size, digests: manifest.digests))
        }
        for record in records { bytes += SealedLine.of(record, seed: seed) }
        guard let again = try? Manifest(reading: bytes) else {
            fatalError("what was written does not read")
        }
        expect(again.damagedLines == 0, "a line that was written is damaged")
        expect(again.header == header, "another header")
        // Touching extents that came in another order may have been merged now.
        expect(again.extents.covered == covered, "other extents")
        expect(
            again.publishing == manifest.publishing && again.rejected == manifest.rejected
                && again.finished == manifest.finished, "another verdict")
        if again.publishing != nil || again.finished != nil {
            expect(again.digests == manifest.digests, "other digests")
        }
    }
}
