import Testing

@testable import SeggetFormats
import TestSupport

struct GzipTests {
    @Test(
        arguments: [
            (GzipExamples.one, "http://a/f\n out=x\n"),
            (GzipExamples.one + GzipExamples.two, "http://a/f\n out=x\nhttp://a/g\n"),
            (GzipExamples.one + [0, 0], "http://a/f\n out=x\n"), (GzipExamples.one.dropLast(), nil),
            (Array(GzipExamples.one.prefix(2)), nil),
            (GzipExamples.one.map { $0 == 53 ? 0 : $0 }, "http://a/f\n out=x\n"),
            (GzipExamples.one.dropLast(5) + [1, 0, 0, 0, 0], nil),
        ] as [([UInt8], String?)])
    func decompressesTexts(bytes: [UInt8], text: String?) {
        #expect(Gzip.isCompressed(bytes))
        #expect((try? Gzip.text(of: bytes)).map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test func decompressesMoreThanOneBuffer() throws {
        let many = try Gzip.text(of: (0..<20_000).flatMap { _ in GzipExamples.two })
        #expect(many.count == 20_000 * 11)
    }
}
