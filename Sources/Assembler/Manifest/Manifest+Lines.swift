import FoundationEssentials

// MARK: - Writing

extension Manifest {
    /// Encodes a header or record as a line, including its checksum and the line feed.
    package static func line(_ value: some Encodable, seed: UInt32) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding cannot fail: headers and records consist of integers, strings and optionals.
        guard var bytes = try? Array(encoder.encode(value)), bytes.popLast() == UInt8(ascii: "}")
        else { preconditionFailure("a manifest line must be encodable") }
        bytes += Array(",\"crc\":\"".utf8)
        let crc = Digest(crc32: CRC32.of(bytes, seed: seed)).hex
        return bytes + Array("\(crc)\"}\n".utf8)
    }

    /// Returns the initial value of the CRC-32 of each line of a generation.
    package static func seed(generation: String) -> UInt32 { CRC32.of(generation.utf8) }
}

// MARK: - Reading

extension Manifest {
    /// Reads a manifest's bytes.
    ///
    /// Lines that are torn, damaged or of another generation are counted and skipped. Their extents
    /// are downloaded again.
    ///
    /// - Throws: `ReadError` if there is no readable header of this format version.
    package init(reading bytes: [UInt8]) throws(ReadError) {
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

    /// Adds the content of a record; returns `false` if a value is impossible.
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

    /// Returns whether a line ends in the checksum of the bytes before it.
    private static func isIntact(_ line: ArraySlice<UInt8>, seed: UInt32) -> Bool {
        let tail = 10
        guard line.count > tail else { return false }
        let crc = Digest(crc32: CRC32.of(line.dropLast(tail), seed: seed)).hex
        return Array(line.suffix(tail)) == Array("\(crc)\"}".utf8)
    }

    /// Returns whether `bytes` may be the start of a manifest whose writing was interrupted.
    ///
    /// Such a manifest may be cut off at any byte. After a power cut, it may contain zeros.
    static func mayBegin(with bytes: ArraySlice<UInt8>) -> Bool {
        guard let first = bytes.first, first != 0 else { return true }
        // The keys are sorted, and some are optional: one of these is the first.
        return ["{\"coding\":\"", "{\"etag\":\"", "{\"generation\":\""].contains { start in
            zip(start.utf8, bytes).allSatisfy(==)
        }
    }

    private static func looksLikeOurs(_ line: ArraySlice<UInt8>) -> Bool {
        let text = String(decoding: line.prefix(4096), as: UTF8.self)
        return text.hasPrefix("{") && (text.contains("segget") || text.contains("generation"))
    }
}
