import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ContentRangeTests {
    @Test(
        arguments: [
            ("bytes 0-0/1", ByteRange(0, 1), 1), ("bytes 0-99/100", ByteRange(0, 100), 100),
            ("bytes 10-19/100", ByteRange(10, 20), 100),
            ("BYTES 10-19/100", ByteRange(10, 20), 100),
            ("bytes 10-19/*", ByteRange(10, 20), nil),
            (" bytes  10-19/100 ", ByteRange(10, 20), 100),
            ("bytes 007-010/0100", ByteRange(7, 11), 100),
            (
                "bytes 0-9223372036854775805/9223372036854775806",
                ByteRange(0, .max - 1), .max - 1
            ),
            ("bytes 9223372036854775806-9223372036854775806/*", ByteRange(.max - 1, .max), nil),
        ] as [(String, ByteRange, Int64?)])
    func parsesValidRanges(text: String, range: ByteRange, total: Int64?) {
        let got = ContentRange(text)
        #expect(got?.range == range)
        #expect(got?.total == total)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "0-99/100", "bytes=0-99/100", "bytes:0-99/100", "bytes0-99/100",
        "bits 0-99/100", "octets 0-99/100", "bytes 0-99", "bytes 0-99/", "bytes /100",
        "bytes */100", "bytes */*", "bytes -99/100", "bytes 0-/100", "bytes 0/100", "bytes -/100",
        "bytes 99-0/100", "bytes 0-100/100", "bytes 100-100/100", "bytes 0-99/0",
        "bytes -1-99/100", "bytes 0--1/100", "bytes 0-99/-100", "bytes +0-99/100",
        "bytes 0-+99/100", "bytes 0-99/+100", "bytes 0x0-99/100", "bytes 0-9a/100",
        "bytes 0 - 99/100", "bytes 0-99 /100", "bytes 0-99/ 100", "bytes 0-99/100 x",
        "bytes 0-99/100/100", "bytes 0-50-99/100", "bytes 0-99/**", "bytes 0.0-99/100",
        "bytes 0-9223372036854775807/*", "bytes 0-9223372036854775807/9223372036854775807",
        "bytes 0-9223372036854775808/*", "bytes 0-99/9223372036854775808",
        "bytes 18446744073709551616-18446744073709551617/*", "bytes ٠-٩/١٠٠",
        "bytes 0-99/100, bytes 0-99/100", "bytes\t0-99/100",
    ])
    func rejectsInvalidRanges(text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func parsesRandomValidRanges() {
        forEachSeed(2000) { seed, random in
            let first = Int64.random(in: 0..<Int64.max - 2, using: &random)
            let last = Int64.random(in: first..<Int64.max - 1, using: &random)
            let total = Int64.random(in: last + 1...Int64.max, using: &random)
            let got = ContentRange("bytes \(first)-\(last)/\(total)")
            #expect(got?.range == ByteRange(first, last + 1), "seed \(seed)")
            #expect(got?.total == total, "seed \(seed)")
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("0042", 42), ("9223372036854775807", .max), ("", nil), ("-1", nil),
            ("+1", nil), (" 1", nil), ("1 ", nil), ("1,1", nil), ("1.0", nil), ("1e3", nil),
            ("0x10", nil), ("9223372036854775808", nil), ("99999999999999999999999", nil),
            ("٣", nil),
        ] as [(String, Int64?)])
    func parsesOnlyDigits(text: String, number: Int64?) {
        #expect(Int64(digits: text) == number)
    }
}

@Suite struct ReplyTests {
    private static let date = "Tue, 02 Jan 2024 00:00:10 GMT"

    @Test(
        arguments: [
            ("0", 0), ("1", 1), ("0042", 42), ("5, 5", 5), ("5,5,05", 5), (" 7 ", 7),
            ("1152921504606846976", 1 << 60), ("1152921504606846977", nil),
            ("9223372036854775807", nil), ("9223372036854775808", nil),
            ("99999999999999999999999999999999", nil), ("5, 6", nil), ("5,", nil), (",", nil),
            ("5 5", nil), ("-1", nil), ("+1", nil), ("1.0", nil), ("1e3", nil), ("0x10", nil),
            ("many", nil), ("٣", nil), ("", nil),
        ] as [(String, Int64?)])
    func acceptsSinglePlausibleContentLength(text: String, length: Int64?) {
        let reply = Reply(status: 200, fields: ["content-length": text])
        #expect(reply.contentLength == length)
        #expect(reply.lengthBreach == (length == nil ? .contentLengthUnusable(text) : nil))
        #expect(Reply(status: 200).lengthBreach == nil)
        // A chunked body marks its end itself, so the length does not count.
        let chunked = Reply(
            status: 200, fields: ["content-length": text, "transfer-encoding": "Chunked"])
        #expect(chunked.contentLength == nil)
        #expect(chunked.lengthBreach == nil)
    }

    @Test(
        arguments: [
            ("Tue, 02 Jan 2024 00:00:09 GMT", date, true),
            ("Tue, 02 Jan 2024 00:00:10 GMT", date, false),
            ("Tue, 02 Jan 2024 00:00:11 GMT", date, false),
            ("Mon, 02 Jan 2023 00:00:09 GMT", date, true),
            ("Thu, 01 Jan 1970 00:00:01 GMT", date, false),
            ("Wed, 02 Jan 1980 00:00:00 GMT", date, false),
            ("Wed, 02 Jan 1980 00:00:01 GMT", date, true),
            ("Sat, 26 Oct 1985 08:15:00 GMT", date, false),
            ("W/Mon, 02 Jan 2023 00:00:09 GMT", date, false),
            ("Tue, 02 Jan 2024 00:00:09 GMT", nil, false),
            ("Tue, 02 Jan 2024 00:00:09 GMT", "yesterday-ish", false), ("long ago", date, false),
            (nil, date, false), (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func dateOlderThanResponseIsStrong(
        modified: String?, date: String?, isStrong: Bool
    ) {
        var reply = Reply(status: 200)
        reply.fields["last-modified"] = modified
        reply.fields["date"] = date
        let identity = reply.identity(size: 5, time: secondsSince1970(httpDate:))
        #expect(identity.lastModifiedIsStrong == isStrong)
        #expect(identity.lastModified == modified)
        #expect(identity.size == 5)
        #expect(identity.etag == nil)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
            ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("", nil), ("soon", nil),
        ] as [(String, Int64?)])
    func parsesThreeDateFormats(text: String, seconds: Int64?) {
        #expect(secondsSince1970(httpDate: text) == seconds)
    }

    /// The fast parser and libcurl's return the same time.
    ///
    /// libcurl's parser gets the date in another spelling.
    @Test func fixedDateParserAgreesWithLibcurl() {
        let months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(separator: " ")
        forEachSeed(3000) { seed, random in
            func two(_ range: Range<Int>) -> String {
                let number = Int.random(in: range, using: &random)
                return number < 10 ? "0\(number)" : "\(number)"
            }
            let day = "Sun, \(two(1..<32)) \(months[Int.random(in: 0..<12, using: &random)])"
            let year = Int.random(in: 1970..<2400, using: &random)
            let text = "\(day) \(year) \(two(0..<24)):\(two(0..<60)):\(two(0..<60))"
            let seconds = secondsSince1970(fixedDate: text + " GMT")
            #expect(
                seconds != nil && seconds == secondsSince1970(httpDate: text + " +0000"), "\(text)")
        }
    }

    @Test(arguments: [
        "", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:60 GMT", "Sun, 06 Nov 1969 08:49:37 GMT",
        "Sun  06 Nov 1994 08:49:37 GMT",
    ])
    func fixedDateParserRejectsOtherFormats(text: String) {
        #expect(secondsSince1970(fixedDate: text) == nil)
    }

    @Test func classifiesStatusCodes() {
        let transient = (400..<600).filter(isTransient)
        let server = (500..<600).filter { $0 != 501 && $0 != 505 }
        #expect(transient == [408, 425, 429] + server)
        #expect((100..<600).filter(isRefusal) == [401, 403, 407])
    }
}
