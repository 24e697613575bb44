import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct ContentCodingTests {
    private static let decodable: Set = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    @Test(
        arguments: [
            ("gzip", "a.tar.gz", nil, .saved), ("x-gzip", "a.tgz", nil, .saved),
            ("gzip", "a.TGZ", nil, .saved), ("gzip", "drawing.svgz", "image/svg+xml", .saved),
            ("gzip", "download", "application/gzip", .saved),
            ("gzip", "download", "application/x-gzip; charset=binary", .saved),
            ("bzip2", "a.tar.bz2", nil, .saved), ("x-bzip2", "a.bz2", nil, .saved),
            ("xz", "a.tar.xz", "application/x-tar", .saved), ("zstd", "a.tar.zst", nil, .saved),
            ("compress", "a.tar.Z", nil, .saved), ("br", "a.js.br", nil, .saved),
            // A coding that was applied for the transfer only.
            ("gzip", "text.txt", "text/plain", .decoded), ("gzip", "download", nil, .decoded),
            ("br", "a.tar.gz", nil, .decoded), ("zstd", "a.gz", nil, .decoded),
            ("gzip", "gz", nil, .decoded), ("gzip", ".gz", nil, .decoded),
            ("gzip", "a.gz.txt", nil, .decoded), ("deflate", "a.txt", nil, .decoded),
            ("gzip", "page", "text/gzip", .decoded), ("gzip, br", "a.txt", nil, .decoded),
            // An archive that is encoded once more: decoding yields the archive.
            ("gzip, gzip", "a.tar.gz", nil, .decoded),
            ("bzip2", "a.txt", nil, .unusable), ("xz", "a.txt", nil, .unusable),
            ("x-unknown", "a.txt", nil, .unusable), ("x-unknown", "a.tar.gz", nil, .unusable),
            ("gzip, x-unknown", "a.txt", nil, .unusable),
        ] as [(String, String, String?, ContentCoding)])
    func codingFollowsNameAndType(
        coding: String, name: String, type: String?, expected: ContentCoding
    ) {
        #expect(
            ContentCoding(coding, names: [name], type: type, decodable: Self.decodable) == expected)
    }

    @Test(
        arguments: [
            (nil, nil), ("", nil), ("identity", nil), ("Identity", nil), ("none", nil),
            ("binary", nil), ("UTF-8", nil), ("aws-chunked", nil), ("identity, utf-8", nil),
            ("gzip", "gzip"), ("GZip", "gzip"), (" gzip ", "gzip"), ("aws-chunked,gzip", "gzip"),
            ("gzip,br", "gzip, br"), ("identity, gzip", "gzip"), ("x-new", "x-new"),
        ] as [(String?, String?)])
    func parsesContentEncoding(field: String?, expected: String?) {
        #expect(
            Reply(status: 200, fields: ["content-encoding": field].compactMapValues { $0 }).coding
                == expected)
    }

    /// Debian's libcurl is built with zlib.
    @Test func libcurlDecodesGzip() {
        #expect(curlCodings.isSuperset(of: ["gzip", "x-gzip"]))
    }
}
