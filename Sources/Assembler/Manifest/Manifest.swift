// Manifest: the state of a download that is stored beside its file, and the decision whether it
// still matches the server's offer. The format, its reader and the decisions are pure; only
// `Journal`, `JournalRewrite` and `Manifest+File` access files. This folder never knows the source
// of the bytes, nor the part's data.

import Crypto
import FoundationEssentials

/// The content of a manifest file.
///
/// Reading and writing the format is pure; `docs/manifest.md` is its specification.
///
/// The file is JSON Lines. The first line is the header, every later one a record. Each line ends
/// in a CRC-32 of the line before that field, seeded with the generation. The CRC-32 reveals torn,
/// foreign and stale lines, which are skipped.
package struct Manifest: Sendable {
    /// The format version that this code writes and reads.
    package static let version = 1
    /// The length of the longest manifest that is read, in bytes.
    package static let longest = 64 << 20

    /// The first line.
    package var header: Header
    /// The received extents according to the readable lines.
    ///
    /// The extents are not yet checked against the data.
    package var extents = ExtentMap()
    /// The file that was about to be renamed when the last record was written.
    package var publishing: FileIdentity?
    /// The digest of the complete part if it differed from the expected one.
    package var rejected: String?
    /// The size in bytes of the finished file for which the manifest was kept.
    ///
    /// If set, the manifest describes the finished file, not a part.
    package var finished: Int64?
    /// The digests of the whole file, from a `publishing` or `finished` record.
    package var digests: [Digest] = []
    /// The number of lines that were unreadable or of another generation.
    package var damagedLines = 0

    /// The first line of a manifest.
    package struct Header: Codable, Sendable, Hashable {
        /// The format version.
        package var segget: Int
        /// 16 random hexadecimal digits that identify one download from its start until it is
        /// published.
        package var generation: String
        /// The URL without credentials and query, for people.
        package var url: String
        /// SHA-256 of the generation and the full URL, in hexadecimal.
        package var urlHash: String
        /// The size in bytes; absent if unknown.
        package var size: Int64?
        /// `ETag` as sent.
        package var etag: String?
        /// `Last-Modified` as sent.
        package var lastModified: String?
        /// Whether `lastModified` is a strong validator.
        package var lastModifiedIsStrong: Bool
        /// The content coding of the saved bytes; absent if they are not encoded.
        package var coding: String?
        /// Whether only a checksum can verify the bytes, because different servers may have sent
        /// them.
        package var needsChecksum: Bool?
        /// Digests that the whole file must have when it is published, as `algorithm:hex`.
        package var requiredDigests: [String]?
        /// Whether the server supported no ranges in the last run.
        ///
        /// The received bytes are then the start of a single response.
        package var isOneStream: Bool?
        /// Whether only a sample, not a validator, showed that all bytes are of one version.
        ///
        /// Every later run compares a new sample.
        package var isSampled: Bool?
        /// The hash of the URL that the caller gave, as in `urlHash`, if the part was begun with a
        /// newer link to the same file.
        package var givenHash: String?
        /// The URL on another server to which a redirect led, without credentials; absent if it has
        /// a query.
        package var mirror: String?

        package init(
            identity: RemoteIdentity, url: String, fullURL: String, generation: UInt64,
            needsChecksum: Bool = false
        ) {
            segget = Manifest.version
            let hex = String(generation, radix: 16)
            self.generation = String(repeating: "0", count: 16 - hex.count) + hex
            self.url = url
            urlHash = Self.hash(of: fullURL, generation: self.generation)
            size = identity.size
            etag = identity.etag
            lastModified = identity.lastModified
            lastModifiedIsStrong = identity.lastModifiedIsStrong
            coding = identity.coding
            self.needsChecksum = needsChecksum ? true : nil
        }

        /// Creates a header from values of another source, such as another program's control file.
        init(generation: String, url: String, urlHash: String, identity: RemoteIdentity) {
            segget = Manifest.version
            self.generation = generation
            self.url = url
            self.urlHash = urlHash
            size = identity.size
            etag = identity.etag
            lastModified = identity.lastModified
            lastModifiedIsStrong = identity.lastModifiedIsStrong
            coding = identity.coding
        }

        /// The version of the remote file that the manifest is about.
        package var identity: RemoteIdentity {
            RemoteIdentity(
                size: size, etag: etag, lastModified: lastModified,
                lastModifiedIsStrong: lastModifiedIsStrong, coding: coding)
        }

        /// The digests that the whole file must have when it is published.
        package var required: [Digest] {
            (requiredDigests ?? []).compactMap { try? Digest(parsing: $0) }
        }

        /// Adds digests that the whole file must have when it is published.
        mutating func require(_ digests: [Digest]) {
            let all = (required + digests).distinct
            requiredDigests = all.isEmpty ? nil : all.map(\.description)
        }

        /// Returns whether the manifest was begun for exactly this URL, or for a newer link that
        /// replaced it.
        package func belongs(to fullURL: String) -> Bool {
            isFor(fullURL: fullURL)
                || givenHash == Self.hash(of: fullURL, generation: generation)
        }

        /// The header for the URL that the caller gave, by which a later run finds the finished
        /// file.
        var given: Self {
            guard let givenHash else { return self }
            var copy = self
            (copy.urlHash, copy.givenHash) = (givenHash, nil)
            return copy
        }

        /// Records the hash of the URL that the caller gave, if the part is begun with another one.
        mutating func note(given fullURL: String) {
            givenHash = Self.hash(of: fullURL, generation: generation)
        }

        /// Assigns the part to another URL of the same file.
        ///
        /// If only a checksum can verify the bytes, the header remains without validators.
        mutating func move(
            to url: String, fullURL: String, _ landing: LandingPlace?, _ identity: RemoteIdentity
        ) {
            self.url = url
            urlHash = Self.hash(of: fullURL, generation: generation)
            givenHash = nil
            lead(to: landing, identity)
        }

        /// Records the redirect's current target and the version that it offers.
        mutating func lead(to landing: LandingPlace?, _ identity: RemoteIdentity) {
            mirror = landing?.stored
            guard needsChecksum != true else { return }
            etag = identity.etag
            lastModified = identity.lastModified
            lastModifiedIsStrong = identity.lastModifiedIsStrong
        }

        /// Returns whether the manifest was begun for exactly this URL, including query and
        /// credentials.
        package func isFor(fullURL: String) -> Bool {
            urlHash == Self.hash(of: fullURL, generation: generation)
        }

        /// Whether no text contains CR, LF or NUL, which must not be sent in a header field.
        fileprivate var hasNoBreaks: Bool {
            [generation, url, urlHash, givenHash, etag, lastModified, mirror].allSatisfy {
                $0?.utf8.allSatisfy { $0 != 0x0d && $0 != 0x0a && $0 != 0 } ?? true
            }
        }

        private static func hash(of url: String, generation: String) -> String {
            hexadecimal(Array(SHA256.hash(data: Array((generation + " " + url).utf8))))
        }
    }

    /// One line after the header.
    ///
    /// A record has exactly one kind of content. Only `publishing` and `finished` may have digests,
    /// and only `rejected` may have extents.
    package struct Record: Codable, Sendable {
        /// The received extents: offset, length and CRC-32 of each.
        package var extents: [[Int64]]?
        /// The identity of the part that is complete and verified, and about to be renamed.
        package var publishing: FileIdentity?
        /// The digest of the complete part, which differed from the expected one.
        package var rejected: String?
        /// The size in bytes of the finished file for which the manifest was kept.
        package var finished: Int64?
        /// The digests of the whole file as `algorithm:hex`, with `publishing` and `finished` only.
        package var digests: [String]?

        package init(extents: some Sequence<Extent>) {
            self.extents = extents.map { [$0.range.start, $0.range.count, Int64($0.crc)] }
        }
        package init(publishing: FileIdentity, digests: [Digest] = []) {
            self.publishing = publishing
            self.digests = digests.isEmpty ? nil : digests.map(\.description)
        }
        package init(finished size: Int64, digests: [Digest]) {
            finished = size
            self.digests = digests.map(\.description)
        }
        package init(rejected: String) { self.rejected = rejected }
    }

    /// A copy for a part that only a checksum can verify.
    ///
    /// The copy has no validators and no required digests, because none of them covers all bytes of
    /// the part.
    var heldByChecksum: Manifest {
        var copy = self
        copy.header.etag = nil
        copy.header.lastModified = nil
        copy.header.lastModifiedIsStrong = false
        copy.header.needsChecksum = true
        copy.header.requiredDigests = nil
        return copy
    }

    /// Why a manifest cannot be read.
    package enum ReadError: Error, Hashable {
        /// There is no readable header. `isOurs` is set if the file still looks like a manifest.
        case unreadable(isOurs: Bool)
        /// The manifest has this other format version.
        case version(Int)
    }
}

// MARK: - Writing

extension Manifest {
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
            SealedLine.isIntact(first, seed: Self.seed(generation: header.generation)),
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
            guard SealedLine.isIntact(line, seed: seed),
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
