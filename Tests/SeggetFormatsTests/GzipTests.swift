import Testing

@testable import SeggetFormats

struct GzipTests {
    /// `http://a/f\n out=x\n`, as Python's gzip makes it.
    static let one: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 40, 41, 41, 176, 210, 215, 79, 212, 79, 227, 82, 200,
        47, 45, 177, 173, 224, 2, 0, 254, 100, 57, 83, 18, 0, 0, 0,
    ]
    /// `http://a/g\n`.
    static let two: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 40, 41, 41, 176, 210, 215, 79, 212, 79, 231, 2, 0,
        213,
        144, 183, 188, 11, 0, 0, 0,
    ]

    @Test(
        arguments: [
            (one, "http://a/f\n out=x\n"), (one + two, "http://a/f\n out=x\nhttp://a/g\n"),
            (one + [0, 0], "http://a/f\n out=x\n"), (one.dropLast(), nil),
            (Array(one.prefix(2)), nil),
            (one.map { $0 == 53 ? 0 : $0 }, "http://a/f\n out=x\n"),
            (one.dropLast(5) + [1, 0, 0, 0, 0], nil),
        ] as [([UInt8], String?)])
    func textsAreWhatTheyWere(bytes: [UInt8], text: String?) {
        #expect(Gzip.isCompressed(bytes))
        #expect((try? Gzip.text(of: bytes)).map { String(decoding: $0, as: UTF8.self) } == text)
    }

    @Test func manyTextsDoNotFitIntoOneRoom() throws {
        let many = try Gzip.text(of: (0..<20_000).flatMap { _ in Self.two })
        #expect(many.count == 20_000 * 11)
    }
}
