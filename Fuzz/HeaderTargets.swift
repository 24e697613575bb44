import Assembler

@testable import Segmenter
@testable import SegmenterRules

/// The readers of header fields, of replies and of requests.
///
/// `Retry-After` is not among them: libcurl reads it, and hands a number over.
enum HeaderTargets {
    /// `Content-Range`.
    static func contentRange(_ bytes: [UInt8]) {
        guard let read = ContentRange(text(bytes)) else { return }
        expect(!read.range.isEmpty && read.range.start >= 0, "an impossible range")
        expect(read.range.end <= read.total ?? .max, "a range behind the end")
        let total = read.total.map { "\($0)" } ?? "*"
        let again = ContentRange("bytes \(read.range.start)-\(read.range.end - 1)/\(total)")
        expect(again == read, "written again, it reads differently")
    }

    /// HTTP dates.
    static func date(_ bytes: [UInt8]) {
        guard let seconds = secondsSince1970(httpDate: text(bytes)) else { return }
        expect(seconds >= 0, "a date before 1970")
        // The year 9999 is the last one that the form has room for.
        guard seconds < 253_402_300_800 else { return }
        expect(
            secondsSince1970(httpDate: httpDate(secondsSince1970: seconds)) == seconds,
            "written again, the date is another one")
    }

    private static let digestFields = [
        "repr-digest", "digest", "x-goog-hash", "x-goog-stored-content-encoding", "content-md5",
        "x-amz-checksum-sha256", "x-amz-checksum-sha1", "x-amz-checksum-crc32",
        "x-amz-checksum-type",
    ]

    /// Advertised digests: one line for each field; and `ALGO:HEX`, as the command line has it.
    static func digests(_ bytes: [UInt8]) {
        let lines = lines(bytes)
        var reply = Reply(status: 200)
        for (name, line) in zip(digestFields, lines) where !line.isEmpty {
            reply.fields[name] = line
        }
        let all = AdvertisedDigests.all(in: reply)
        expect(Set(all).count == all.count, "a digest twice")
        var partial = reply
        partial.status = 206
        let ofPart = AdvertisedDigests.all(in: partial)
        expect(ofPart.allSatisfy(all.contains), "a part says more than the whole")
        let parsed = lines.first.flatMap { try? Digest(parsing: $0) }
        for digest in all + [parsed].compactMap({ $0 }) {
            expect(digest.bytes.count == digest.algorithm.byteCount, "a digest of a wrong length")
            expect((try? Digest(parsing: digest.description)) == digest, "not the same again")
        }
    }

    /// The head of a reply: the status on the first line, then fields; judged for a range of 1000
    /// bytes from 500 on, and as the beginning of a download.
    static func reply(_ bytes: [UInt8]) {
        var lines = lines(bytes)[...]
        guard let status = lines.popFirst().flatMap({ Int($0) }) else { return }
        var reply = Reply(status: status)
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let name = line[..<colon].lowercased()
            guard Reply.fieldNames.contains(name) else { continue }
            reply.fields[name] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        let identity = reply.identity(size: 4000, time: secondsSince1970(httpDate:))
        if let validator = identity.strongValidator {
            expect(!validator.hasPrefix("W/"), "a weak validator that is called strong")
        }
        expect(
            identity.obstacle(toContinuingWith: identity) == nil
                || identity.strongValidator == nil, "a version that is not its own")
        let asked = ByteRange(500, 1500)
        for asked in [nil, asked] {
            let check = ResponseCheck(asked: asked, identity: identity, sentIfRange: true)
            guard case .accept(let body) = check.verdict(on: reply) else { continue }
            // A range that is answered with 200 is right to the byte.
            let isPart = status == 200 && reply["content-range"] != nil && body == asked
            expect(
                status == (asked == nil ? 200 : 206) || isPart, "a body of status \(status)")
            guard let body else { fatalError("a body of unknown length for a known size") }
            expect(body.start == asked?.start ?? 0 && !body.isEmpty, "another beginning")
            expect(body.end <= asked?.end ?? 4000, "more than was asked for")
            expect(reply.contentLength ?? body.count == body.count, "another length")
        }
        // Of any other version, nothing.
        var other = identity
        other.etag = "\"another \(identity.etag ?? "")\""
        let check = ResponseCheck(asked: asked, identity: other, sentIfRange: true)
        if case .accept = check.verdict(on: reply) { fatalError("a body of another version") }
    }

    /// `-H`: what is accepted is one line, and no field of segget's own.
    static func requestHeader(_ bytes: [UInt8]) {
        let line = text(bytes)
        guard (try? DownloadOptions.check(header: line)) != nil else { return }
        let controls = line.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }
        expect(!controls, "a control character")
        let name = line.utf8.prefix { $0 != UInt8(ascii: ":") }
        expect(!name.isEmpty && name.count < line.utf8.count, "no name, or no colon")
        expect(name.allSatisfy { $0 > 0x20 && $0 < 0x7f }, "a name that is no token")
        expect(
            !["range", "if-range", "accept-encoding"].contains(
                String(decoding: name, as: UTF8.self).lowercased()), "a reserved name")
    }
}
