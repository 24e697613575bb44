// Manifest: what is written down of a download beside its file, and whether that still fits what is
// offered now. The format, its reader and the decisions are pure; only `Journal` and `Manifest.read`
// touch a file. It never knows where bytes come from, nor the part's data.

import Crypto

/// What a sidecar manifest says.
///
/// Reading and writing it is pure; `docs/manifest.md` is its specification.
///
/// The file is JSON Lines. The first line is the header, every later one a record. Each line ends
/// in a CRC-32 over the line before it, seeded with the generation, so that torn, foreign and stale
/// lines are recognised and skipped.
package struct Manifest: Sendable {
    /// The format version that this code writes and reads.
    package static let version = 1
    /// Longest manifest that is read, in bytes.
    package static let longest = 64 << 20

    /// The first line.
    package var header: Header
    /// What arrived, as far as the readable lines say.
    ///
    /// Not yet checked against the data.
    package var extents = ExtentMap()
    /// The file that was about to be renamed when the manifest was last written to.
    package var publishing: FileIdentity?
    /// The digest that the complete part had, when it was not the expected one.
    package var rejected: String?
    /// Size in bytes of the finished file that the manifest was kept for.
    ///
    /// With it, the manifest is about the file itself, and not about a part.
    package var finished: Int64?
    /// Digests of the whole file, from `publishing` or `finished`.
    package var digests: [Digest] = []
    /// Number of lines that were not readable, or not of this generation.
    package var damagedLines = 0

    /// The first line of a manifest.
    package struct Header: Codable, Sendable, Hashable {
        /// Format version.
        package var segget: Int
        /// Random, 16 hexadecimal digits: one download from its start to its publishing.
        package var generation: String
        /// The URL without credentials and query, for people.
        package var url: String
        /// SHA-256 of the generation and the full URL, in hexadecimal.
        package var urlHash: String
        /// Size in bytes; absent when unknown.
        package var size: Int64?
        /// `ETag` as sent.
        package var etag: String?
        /// `Last-Modified` as sent.
        package var lastModified: String?
        /// Whether `lastModified` is a strong validator.
        package var lastModifiedIsStrong: Bool
        /// Content coding of the saved bytes; absent when they are the file's own.
        package var coding: String?
        /// Whether only a checksum holds the bytes together: they may be of servers that differ.
        package var needsChecksum: Bool?
        /// Digests that the whole file must have when it is published, as `algorithm:hex`.
        package var requiredDigests: [String]?
        /// Whether the server served no ranges when it was asked last: nothing but one stream has
        /// brought what is there.
        package var isOneStream: Bool?
        /// Whether a sample, and none of the validators, has shown that all that is there is of one version:
        /// it is compared anew by every later run.
        package var isSampled: Bool?
        /// The URL that was given, hashed as in `urlHash`, where the part was begun under a new link in its place.
        package var givenHash: String?
        /// Where a redirect led to another server, without credentials; absent where that URL has a query.
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

        /// Puts together what was read elsewhere.
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

        /// Has the whole file have these digests too when it is published.
        mutating func require(_ digests: [Digest]) {
            let all = (required + digests).distinct
            requiredDigests = all.isEmpty ? nil : all.map(\.description)
        }

        /// Whether the manifest was begun for exactly this URL, or for a new link in its place.
        package func belongs(to fullURL: String) -> Bool {
            isFor(fullURL: fullURL)
                || givenHash == Self.hash(of: fullURL, generation: generation)
        }

        /// The same for the URL that was given, by which a later run knows the finished file.
        var given: Self {
            guard let givenHash else { return self }
            var copy = self
            (copy.urlHash, copy.givenHash) = (givenHash, nil)
            return copy
        }

        /// Notes the URL that was given, and is not the one that the part is begun with.
        mutating func note(given fullURL: String) {
            givenHash = Self.hash(of: fullURL, generation: generation)
        }

        /// Has the part belong to another URL, which offers the same file.
        ///
        /// What only a checksum holds together stays without validators.
        mutating func move(
            to url: String, fullURL: String, _ landing: LandingPlace?, _ identity: RemoteIdentity
        ) {
            self.url = url
            urlHash = Self.hash(of: fullURL, generation: generation)
            givenHash = nil
            lead(to: landing, identity)
        }

        /// Notes where a redirect leads now, and the version that is there.
        mutating func lead(to landing: LandingPlace?, _ identity: RemoteIdentity) {
            mirror = landing?.stored
            guard needsChecksum != true else { return }
            etag = identity.etag
            lastModified = identity.lastModified
            lastModifiedIsStrong = identity.lastModifiedIsStrong
        }

        /// Whether the manifest was begun for exactly this URL, query and credentials included.
        package func isFor(fullURL: String) -> Bool {
            urlHash == Self.hash(of: fullURL, generation: generation)
        }

        /// Whether its texts may be sent: a line break in a validator would be one in a request.
        var hasNoBreaks: Bool {
            [generation, url, urlHash, givenHash, etag, lastModified, mirror].allSatisfy {
                $0?.utf8.allSatisfy { $0 != 0x0d && $0 != 0x0a && $0 != 0 } ?? true
            }
        }

        private static func hash(of url: String, generation: String) -> String {
            hexadecimal(Array(SHA256.hash(data: Array((generation + " " + url).utf8))))
        }
    }

    /// One line after the header: exactly one of its members is there; with some the digests, and the
    /// extents with `rejected`.
    package struct Record: Codable, Sendable {
        /// What arrived: offset, length and CRC-32 of each extent.
        package var extents: [[Int64]]?
        /// The part is complete and verified and is about to be renamed.
        package var publishing: FileIdentity?
        /// The part was complete, and had this digest in place of the expected one.
        package var rejected: String?
        /// The file of this size in bytes is finished and has its name: the manifest was kept.
        package var finished: Int64?
        /// With `publishing` and `finished`: digests of the whole file, as `algorithm:hex`.
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

    /// The same for a part that only a checksum continues: nothing that a server has said vouches for
    /// all of its bytes any more.
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
    package enum Problem: Error, Hashable {
        /// There is no readable header. `isOurs`: it looks like one of segget's all the same.
        case unreadable(isOurs: Bool)
        /// It is of another format version.
        case version(Int)
    }
}
