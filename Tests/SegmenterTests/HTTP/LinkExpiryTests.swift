import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
@testable import SegmenterURLs

@Suite struct LinkExpiryTests {
    @Test(
        arguments: [
            // S3, signature version 4; the names are case-insensitive.
            ("X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-Signature=a", 1_369_440_000),
            ("x-amz-expires=1&x-amz-date=19700101T000000Z", 1),
            ("X-Goog-Date=20240229T235959Z&X-Goog-Expires=1", 1_709_251_200),
            ("x-oss-date=20260101T000000Z&x-oss-expires=60", 1_767_225_660),
            // S3 version 2, CloudFront.
            ("Expires=1700000000&Signature=a&Key-Pair-Id=b", 1_700_000_000),
            ("a=b&expire=1700000000", 1_700_000_000),
            // Azure.
            ("sv=2022&se=2023-11-14T22%3A13%3A20Z&sig=a", 1_700_000_000),
            ("se=2023-11-14T22:13Z&sig=a", 1_699_999_980), ("se=2023-11-14&sig=a", 1_699_920_000),
            ("se=2023-11-14T22:13:20.1234567Z&sig=a", 1_700_000_000),
            // nginx.
            ("md5=abc&e=1700000000", 1_700_000_000), ("e=1700000000&st=abc", 1_700_000_000),
            // The earliest of several times counts.
            ("Expires=1700000001&e=1700000000&md5=a", 1_700_000_000),
        ] as [(String, Double)])
    func readsExpiryFromQuery(query: String, time: Double) throws {
        let url = try #require(WebURL("https://example.org/f?\(query)#x"))
        #expect(LinkExpiry(url)?.time == time)
    }

    @Test(arguments: [
        "", "?", "?a=b", "?Expires", "?Expires=", "?Expires=3600", "?Expires=17e8", "?Expires=-1",
        "?Expires=99999999999999999999", "?Expires=Tue", "?e=1700000000", "?se=2023-11-14",
        "?se=2023-11-14T22:13&sig=a", "?se=2023-13-14&sig=a", "?se=2023-11-14T22-13Z&sig=a",
        "?se=&sig=", "?X-Amz-Expires=60", "?X-Amz-Date=20130524T000000Z",
        "?se=2023-11-14T24:00Z&sig=a", "?X-Amz-Date=20130524T240000Z&X-Amz-Expires=1",
        "?X-Amz-Date=20130524T000000&X-Amz-Expires=1",
        "?X-Amz-Date=201x0524T000000Z&X-Amz-Expires=1",
        "?X-Amz-Date=20130524T000000Z&X-Goog-Expires=1",
        "?X-Amz-Date=20130524T000000Z&X-Amz-Expires=99999999999", "#Expires=1700000000",
        "?=&&=", "?md5=1700000000&e=x",
    ])
    func otherURLsHaveNoExpiry(text: String) throws {
        let url = try #require(WebURL("https://example.org/Expires=1700000000\(text)"))
        #expect(LinkExpiry(url) == nil)
    }

    @Test func toleratesClockSkew() throws {
        let url = try #require(WebURL("http://example.org/?Expires=1700000000"))
        let expiry = try #require(LinkExpiry(url))
        #expect(!expiry.isOver(now: 1_700_000_000 - LinkExpiry.skew - 1))
        #expect(expiry.isOver(now: 1_700_000_000 - LinkExpiry.skew))
    }
}
