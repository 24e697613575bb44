import FoundationEssentials

// MARK: - Writing

extension Manifest {
    /// A header or record as a line, checksum and line feed included.
    package static func line(_ value: some Encodable, seed: UInt32) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Integers, strings and optionals only: there is nothing in a record that cannot be encoded.
        guard var bytes = try? Array(encoder.encode(value)), bytes.popLast() == UInt8(ascii: "}")
        else { preconditionFailure("a manifest line must be encodable") }
        bytes += Array(",\"crc\":\"".utf8)
        let crc = Digest(crc32: CRC32.of(bytes, seed: seed)).hex
        return bytes + Array("\(crc)\"}\n".utf8)
    }

    /// What the CRC-32 of each line of a generation begins with.
    package static func seed(generation: String) -> UInt32 { CRC32.of(generation.utf8) }
}

// MARK: - Reading

extension Manifest {
    /// Reads a manifest's bytes.
    ///
    /// Lines that are torn, damaged or of another generation are counted and skipped: what they
    /// recorded is fetched again.
    ///
    /// - Throws: `Problem` when there is no readable header of this version.
    package init(reading bytes: [UInt8]) throws(Problem) {
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[
            ...]
        let first = lines.popFirst() ?? []
        let decoder = JSONDecoder()
        struct VersionOnly: Decodable { var segget: Int }
        guard let header = try? decoder.decode(Header.self, from: Data(first)),
            header.segget == Self.version,
            Self.isIntact(first, seed: Self.seed(generation: header.generation)),
            header.size.map({ $0 >= 0 }) ?? true, header.hasNoBreaks
        else {
            if let other = try? decoder.decode(VersionOnly.self, from: Data(first)),
                other.segget != Self.version
            {
                throw .version(other.segget)
            }
            throw .unreadable(isOurs: bytes.isEmpty || Self.looksLikeOurs(first))
        }
        self.header = header
        let seed = Self.seed(generation: header.generation)
        for line in lines where !line.isEmpty {
            guard Self.isIntact(line, seed: seed),
                let record = try? decoder.decode(Record.self, from: Data(line)),
                take(record)
            else {
                damagedLines += 1
                continue
            }
        }
    }

    /// Takes a record in; `false` when it says something impossible.
    private mutating func take(_ record: Record) -> Bool {
        guard record.finished ?? 0 >= 0 else { return false }
        publishing = record.publishing ?? publishing
        rejected = record.rejected ?? rejected
        finished = record.finished ?? finished
        digests = record.digests?.compactMap { try? Digest(parsing: $0) } ?? digests
        for numbers in record.extents ?? [] {
            guard numbers.count == 3, numbers[0] >= 0, numbers[1] > 0,
                numbers[0] <= (header.size ?? Int64.max) - numbers[1],
                let crc = UInt32(exactly: numbers[2])
            else { return false }
            extents.add(Extent(ByteRange(numbers[0], numbers[0] + numbers[1]), crc: crc))
        }
        return true
    }

    /// Whether a line ends in the checksum of what stands before it.
    private static func isIntact(_ line: ArraySlice<UInt8>, seed: UInt32) -> Bool {
        let tail = 10
        guard line.count > tail else { return false }
        let crc = Digest(crc32: CRC32.of(line.dropLast(tail), seed: seed)).hex
        return Array(line.suffix(tail)) == Array("\(crc)\"}".utf8)
    }

    /// Whether a manifest that was never written to its end may begin so: anything may be missing
    /// of it, and after a power cut there may be zeros.
    static func mayBegin(with bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first != 0 else { return true }
        // The first of the header's members, by their names, that is there.
        return ["{\"coding\":\"", "{\"etag\":\"", "{\"generation\":\""].contains { start in
            zip(start.utf8, bytes).allSatisfy(==)
        }
    }

    private static func looksLikeOurs(_ line: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: line.prefix(4096), as: UTF8.self)
        return text.hasPrefix("{") && (text.contains("segget") || text.contains("generation"))
    }
}
