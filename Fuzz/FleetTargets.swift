import FoundationEssentials

@testable import Assembler
@testable import Segmenter

/// The readers of the files in the folder of a fleet.
enum FleetTargets {
    /// The file `fleet`; lines get the right checksums first, because no other line is read.
    static func fleet(_ bytes: [UInt8]) {
        struct Named: Decodable { var id: String }
        let first = Data(bytes.prefix { $0 != UInt8(ascii: "\n") })
        let id = (try? JSONDecoder().decode(Named.self, from: first).id) ?? ""
        let sealed = ManifestTargets.sealing(bytes, seed: FleetFormat.seed(id: id))
        guard let (head, division) = try? FleetFormat.read(sealed) else { return }
        expect(head.shards == division.starts.count, "another number of shards")
        // Each byte belongs to one shard, whatever the sizes are.
        let size: Int64 = division.starts.map(\.offset).max() ?? 0
        guard head.files < 10_000, size < Int64.max else { return }
        var (file, end) = (0, Int64(0))
        for shard in division.starts.indices {
            for item in division.items(of: shard, size: { _ in size + 1 }) {
                let range = item.range ?? ByteRange(0, size + 1)
                expect(item.file == file && range.start == end, "a gap before a shard's file")
                expect(range.end > range.start, "an empty range")
                (file, end) = range.end == size + 1 ? (file + 1, 0) : (file, range.end)
            }
        }
        expect(file == head.files && end == 0, "files that belong to no shard")
    }

    /// The name of a mark, and its content.
    static func mark(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1).map { Array($0) }
        if let name = lines.first.map({ text($0) }), let mark = FleetMark(name: name) {
            expect(FleetMark(name: mark.name) == mark, "a name that does not read again")
            expect(mark.attempt > 0 && mark.shard >= FleetMark.finish, "a wrong number")
            _ = FleetBoard([mark]).state(of: mark.shard)
        }
        let sealed = ManifestTargets.sealing(lines.last ?? [], seed: 0)
        guard let claim = FleetFormat.decode(FleetClaim.self, sealed, seed: 0) else { return }
        var voids = FleetVoids()
        voids.add(claim.paths ?? [], of: 1)
        _ = LockHolder(claim.process)
    }
}
