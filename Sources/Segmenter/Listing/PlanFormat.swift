// Listing: the files of data sets, and the plans that record them. This folder knows which files
// there are and where they come from, not how they are downloaded.

import Assembler
import FoundationEssentials
import Glibc
import SegmenterValues

/// The lines of a plan, which `docs/plan.md` specifies.
///
/// Pure.
enum PlanFormat {
    /// The format version that this code writes and reads.
    static let version = 1
    /// The length of the longest line that is read, in bytes.
    static let longestLine = 1 << 20
    /// The name of the folder in which segget records a set.
    static let recordFolder = ".segget"

    /// The first line.
    struct Head: Codable {
        var plan: Int
        var set: String
        var source: Source
        var files: Int
        /// The sum of all sizes in bytes; absent if one is unknown.
        var size: Int64?
        /// Whether an address is a signed link; absent if none is.
        var signed: Bool?

        struct Source: Codable {
            var kind: Listing.Source.Kind
            var address: String?
            var pin: String?
        }

        enum CodingKeys: String, CodingKey {
            case plan = "segget_plan"
            case set, source, files, size, signed
        }
    }

    /// The line of a file.
    struct Line: Codable {
        var path: String
        var url: String?
        var mirrors: [String]?
        var size: Int64?
        var digests: [Digest]?
        var etag: String?
        var lastModified: String?
        var link: Link?
        var until: Int64?
        /// Start and end of a range, and the size of the remote file.
        var range: [Int64]?

        enum Link: String, Codable { case resolved, signed }

        enum CodingKeys: String, CodingKey {
            case path, url, mirrors, size, digests, etag, link, until, range
            case lastModified = "last_modified"
        }
    }

    /// Returns the initial value of the CRC-32 of each line of a set's plan.
    static func seed(set: String) -> UInt32 { CRC32.of(set.utf8) }

    /// Returns a hash as 16 hexadecimal digits.
    static func hex(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    // MARK: Writing

    static func line(of file: Listing.File, seed: UInt32) -> [UInt8] {
        var line = Line(path: file.path, url: file.address)
        line.mirrors = file.mirrors.isEmpty ? nil : file.mirrors
        line.size = file.size
        line.digests = file.digests.isEmpty ? nil : file.digests
        (line.etag, line.lastModified) = (file.etag, file.lastModified)
        line.range = file.window.map { [$0.range.start, $0.range.end, $0.size] }
        switch file.renewal {
        case .stable: break
        case .resolved: line.link = .resolved
        case .signed(let until): (line.link, line.until) = (.signed, until)
        }
        return SealedLine.of(line, seed: seed)
    }

    // MARK: Reading

    /// Reads the first line of a plan.
    ///
    /// - Throws: `notAPlan`, `laterVersion`, `altered`, `badSize`.
    static func head(_ line: [UInt8]) throws(PlanError) -> Head {
        struct VersionOnly: Decodable {
            var plan: Int

            enum CodingKeys: String, CodingKey { case plan = "segget_plan" }
        }
        let (decoder, data) = (JSONDecoder(), Data(line))
        guard let found = try? decoder.decode(VersionOnly.self, from: data) else {
            throw PlanError(.notAPlan, line: 1)
        }
        guard found.plan == version else {
            throw PlanError(
                found.plan > version ? .laterVersion(found.plan) : .notAPlan, line: 1)
        }
        guard let head = try? decoder.decode(Head.self, from: data),
            SealedLine.isIntact(line[...], seed: seed(set: head.set))
        else { throw PlanError(.altered, line: 1) }
        guard head.files >= 0, head.size ?? 0 >= 0 else { throw PlanError(.badSize, line: 1) }
        return head
    }

    private static let decoder = JSONDecoder()

    /// Reads the line of a file; `number` is that of the line, from 1.
    ///
    /// - Throws: `altered`, `badPath`, `badAddress`, `badSize`.
    static func file(
        _ line: [UInt8], seed: UInt32, number: Int
    ) throws(PlanError) -> Listing.File {
        guard SealedLine.isIntact(line[...], seed: seed), let entry = entry(line) else {
            throw PlanError(.altered, line: number)
        }
        if let fault = fault(of: entry.path) {
            throw PlanError(.badPath(entry.path, fault), line: number)
        }
        guard let url = entry.url, isAddress(url), entry.mirrors?.allSatisfy(isAddress) ?? true
        else { throw PlanError(.badAddress, line: number) }
        guard entry.size ?? 0 >= 0, entry.range == nil || entry.window != nil else {
            throw PlanError(.badSize, line: number)
        }
        return file(entry, at: url)
    }

    /// Reads the line of a file again, of which ``file(_:seed:number:)`` has checked the content.
    ///
    /// - Parameters:
    ///   - line: The line.
    ///   - checksum: The checksum that the line had then.
    ///   - seed: The initial value of the checksum.
    /// - Returns: The file; `nil` if the line was altered meanwhile.
    static func file(again line: [UInt8], checksum: UInt32, seed: UInt32) -> Listing.File? {
        guard SealedLine.checksum(of: line[...], seed: seed) == checksum,
            let entry = entry(line), let url = entry.url
        else { return nil }
        return file(entry, at: url)
    }

    private static func entry(_ line: [UInt8]) -> Line? {
        try? decoder.decode(Line.self, from: Data(line))
    }

    private static func file(_ entry: Line, at url: String) -> Listing.File {
        let renewal: Listing.Renewal =
            switch entry.link {
            case nil: .stable
            case .resolved: .resolved
            case .signed: .signed(until: entry.until)
            }
        var file = Listing.File(
            path: entry.path, address: url, size: entry.size, digests: entry.digests ?? [],
            etag: entry.etag, lastModified: entry.lastModified, mirrors: entry.mirrors ?? [],
            renewal: renewal)
        file.window = entry.window
        return file
    }

    /// Whether a text is an absolute http or https URL without credentials.
    private static func isAddress(_ text: String) -> Bool {
        guard strstr(text, "://") != nil, let url = WebURL(text) else { return false }
        return url.login == nil
    }

    /// Returns why a path cannot be that of a file in the folder of a set; `nil` if it can.
    static func fault(of path: String) -> PlanError.PathFault? {
        let bytes = path.utf8
        if bytes.isEmpty { return .empty }
        if bytes.contains(0) { return .nul }
        if bytes.first == UInt8(ascii: "/") { return .absolute }
        let parts = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for part in parts {
            if part.isEmpty { return .empty }
            if part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8) {
                return .leadsElsewhere
            }
            if part.count > 255 { return .tooLong }
        }
        if bytes.count > 4095 { return .tooLong }
        return parts[0].elementsEqual(recordFolder.utf8) ? .reserved : nil
    }
}

extension PlanFormat.Line {
    /// The range of the remote file; `nil` if there is none, or it is not possible.
    fileprivate var window: RemoteWindow? {
        guard let range, range.count == 3, range[0] >= 0, range[0] < range[1],
            range[1] <= range[2], range[1] - range[0] == size
        else { return nil }
        return RemoteWindow(ByteRange(range[0], range[1]), of: range[2])
    }
}
