import Assembler
import FoundationEssentials
import SegmenterValues

/// The lines of the files in the folder of a fleet, which `docs/fleet.md` specifies.
///
/// Pure.
enum FleetFormat {
    /// The format version that this code writes and reads.
    static let version = 1
    /// The names of the entries of the folder.
    static let (head, plan, marks, work, hosts) = ("fleet", "plan", "marks", "work", "hosts")

    /// The first line of the file `fleet`.
    struct Head: Codable, Sendable, Hashable {
        var fleet: Int
        /// 16 random hexadecimal digits.
        var id: String
        /// The name of the set.
        var set: String
        /// The SHA-256 of the plan.
        var plan: Digest
        var files: Int
        /// The sum of all sizes in bytes; absent if one is unknown.
        var size: Int64?
        var shards: Int
        /// The most connections to a host, over all workers; absent for the usual bound.
        var connections: Int?
        /// The most requests to a host, over all workers.
        var requests: String?

        enum CodingKeys: String, CodingKey {
            case fleet = "segget_fleet"
            case id, set, plan, files, size, shards, connections, requests
        }
    }

    /// The line of a shard.
    struct Shard: Codable, Sendable, Hashable {
        var shard: Int
        /// The index of the first file in the plan.
        var file: Int
        /// The bytes of that file that belong to the shard before.
        var offset: Int64
    }

    /// Why the file `fleet` cannot be read.
    enum ReadError: Error {
        /// It is not one.
        case other
        case laterVersion(Int)
        /// It does not match its checksums, or contradicts itself.
        case damaged
    }

    /// Reads the content of the file `fleet`.
    ///
    /// - Returns: Its first line, and the division into shards. The offsets are not compared with the
    ///   sizes of the files.
    /// - Throws: `ReadError`.
    static func read(_ bytes: [UInt8]) throws(ReadError) -> (Head, FleetDivision) {
        struct VersionOnly: Decodable {
            var fleet: Int

            enum CodingKeys: String, CodingKey { case fleet = "segget_fleet" }
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n")).map { Array($0) }
        guard let first = lines.first,
            let found = try? JSONDecoder().decode(VersionOnly.self, from: Data(first))
        else { throw .other }
        guard found.fleet == version else { throw .laterVersion(found.fleet) }
        guard let plain = try? JSONDecoder().decode(Head.self, from: Data(first)),
            let head = decode(Head.self, first, seed: seed(id: plain.id)),
            head.shards > 0, head.shards == lines.count - 1
        else { throw .damaged }
        var starts: [FleetDivision.Place] = []
        for (number, line) in lines.dropFirst().enumerated() {
            guard let shard = decode(Shard.self, line, seed: seed(id: head.id)),
                shard.shard == number, shard.file >= 0, shard.file < head.files,
                shard.offset >= 0
            else { throw .damaged }
            let place = FleetDivision.Place(file: shard.file, offset: shard.offset)
            guard starts.last.map({ $0 < place }) ?? (place == .init(file: 0)) else {
                throw .damaged
            }
            starts.append(place)
        }
        return (head, FleetDivision(starts: starts, count: head.files))
    }

    /// Returns the initial value of the CRC-32 of each line of a fleet.
    static func seed(id: String) -> UInt32 { CRC32.of("fleet \(id)".utf8) }

    /// Decodes a line; `nil` if it does not match its checksum.
    static func decode<Value: Decodable>(
        _ type: Value.Type, _ line: [UInt8], seed: UInt32
    ) -> Value? {
        let line = line.last == UInt8(ascii: "\n") ? Array(line.dropLast()) : line
        guard SealedLine.isIntact(line[...], seed: seed) else { return nil }
        return try? JSONDecoder().decode(type, from: Data(line))
    }
}

/// The process that has made a mark, as the mark says.
struct FleetClaim: Codable, Sendable, Hashable {
    /// Random digits, by which the process recognises its own mark.
    var token: String
    /// The process, in the format of a lock file.
    var process: String
    /// The element of the scheduler that started it, such as `slurm 12_3`; absent if unknown.
    var element: String?
    /// How often the scheduler has started the element again.
    var restart: Int?
    /// The version of segget.
    var segget: String
    /// The time in seconds since 1970, by the clock of the machine.
    var at: Int64
    /// For `failed`: the exit code, and what has happened.
    var code: Int32?
    var kind: String?
    var message: String?
    /// For `done`: the attempts whose folders have the files, latest first.
    var sources: [Int]?
    /// For `void`: the paths of files whose content is wrong.
    var paths: [String]?
}

/// A line of the file in which a worker records its progress.
struct FleetBeat: Codable, Sendable, Hashable {
    /// The bytes that the attempt has received.
    var bytes: Int64
    /// The bytes of the shard that are there, parts of files included.
    var complete: Int64
    /// The number of its complete files.
    var files: Int
    /// The received bytes a second.
    var rate: Int64
    /// The time in seconds since 1970, by the clock of the machine.
    var at: Int64
}
