import Assembler
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests dates and tags that a host sends for files of different sizes.
@Suite struct ValidatorBookTests {
    private static let now = 1_800_000_000.0
    private static let week = 604_800.0
    private static let origin = "https://a:443"

    private static func dated(_ size: Int64?, _ date: String = "d") -> RemoteIdentity {
        RemoteIdentity(size: size, lastModified: date, lastModifiedIsStrong: true)
    }

    private func shared(
        _ book: ValidatorBook, _ identity: RemoteIdentity, at origin: String = origin,
        of url: String, after seconds: Double = 0
    ) -> RemoteIdentity.Blank {
        ValidatorTrust(book).shared(in: identity, at: origin, of: url, now: Self.now + seconds)
    }

    @Test func twoSizesShowSharedValidator() {
        let book = ValidatorBook()
        #expect(shared(book, Self.dated(1), of: "f") == [])
        #expect(shared(book, Self.dated(1), of: "g") == [])
        #expect(shared(book, Self.dated(2, "e"), of: "h") == [])
        #expect(shared(book, Self.dated(2), at: "https://b:443", of: "h") == [])
        #expect(shared(book, Self.dated(2), of: "h") == .lastModified)
        // From now on, this applies to the first file as well.
        #expect(shared(book, Self.dated(1), of: "f") == .lastModified)
        #expect(shared(book, RemoteIdentity(size: 1, etag: "\"d\""), of: "f") == [])
        #expect(shared(book, RemoteIdentity(size: 2, etag: "\"d\""), of: "h") == .etag)
        // A weak validator never counts.
        #expect(shared(book, RemoteIdentity(size: 1, etag: "W/\"w\""), of: "f") == [])
        #expect(shared(book, RemoteIdentity(size: 2, etag: "W/\"w\""), of: "h") == [])
    }

    /// The size of an encoded body is no evidence, nor is a missing size.
    @Test func missingOrEncodedSizeIsNoEvidence() {
        let book = ValidatorBook()
        #expect(shared(book, Self.dated(1), of: "f") == [])
        var encoded = Self.dated(2)
        encoded.coding = "gzip"
        #expect(shared(book, encoded, of: "f") == [])
        #expect(shared(book, Self.dated(nil), of: "f") == [])
        #expect(shared(book, Self.dated(1), of: "f") == [])
    }

    /// `HEAD` may state a size that `GET` corrects; later, another size means another version.
    @Test func correctedSizeIsNoEvidence() {
        let book = ValidatorBook()
        #expect(shared(book, Self.dated(1), of: "f") == [])
        #expect(shared(book, Self.dated(2), of: "f", after: 1) == [])
        #expect(shared(book, Self.dated(3), of: "f", after: 3600) == .lastModified)
    }

    /// The same date on other files is no reason to start over in the middle.
    @Test func downloadKeepsTrustedValidator() {
        let book = ValidatorBook()
        let trust = ValidatorTrust(book)
        let file = Self.dated(1)
        #expect(trust.shared(in: file, at: Self.origin, of: "f", now: Self.now) == [])
        #expect(shared(book, Self.dated(2), of: "g") == .lastModified)
        #expect(trust.shared(in: file, at: Self.origin, of: "f", now: Self.now) == [])
    }

    @Test func evidencePersistsForAWeek() throws {
        let sandbox = try Sandbox("segget-memory")
        let memory = ServerMemory(path: "\(sandbox.path)/servers.json")
        #expect(memory.add(["https://a:443": 4], now: Self.now))
        let first = ValidatorBook()
        _ = shared(first, Self.dated(1), of: "f")
        #expect(memory.add(validators: first.takeNews(), now: Self.now))
        #expect(first.takeNews().isEmpty)
        // Another session has seen another size at the same time.
        let second = ValidatorBook()
        _ = shared(second, Self.dated(2), of: "g")
        _ = shared(second, Self.dated(7, "e"), of: "g")
        #expect(memory.add(validators: second.takeNews(), now: Self.now + 1))
        func later(_ seconds: Double) -> ValidatorBook {
            let book = ValidatorBook()
            book.begin(with: memory.memories(now: Self.now + seconds).validators) {}
            return book
        }
        #expect(shared(later(10), Self.dated(1), of: "f") == .lastModified)
        #expect(shared(later(10), Self.dated(7, "e"), of: "f") == [])
        #expect(shared(later(10), Self.dated(8, "e"), of: "f") == .lastModified)
        #expect(shared(later(Self.week + 1), Self.dated(1), of: "f") == [])
        #expect(memory.limits(now: Self.now + 10) == ["https://a:443": 4])
    }

    /// The file stays small for any number of validators, and keeps those that are evidence.
    @Test func fileSizeIsBounded() throws {
        let sandbox = try Sandbox("segget-memory")
        let memory = ServerMemory(path: "\(sandbox.path)/servers.json")
        let book = ValidatorBook()
        _ = shared(book, Self.dated(1), of: "f")
        _ = shared(book, Self.dated(2), of: "g")
        for number in 0..<10_000 {
            _ = shared(
                book, Self.dated(Int64(number), "\(number)"), of: "f", after: Double(number))
        }
        let news = book.takeNews()
        #expect(news.count <= 8 * ValidatorBook.most)
        #expect(memory.add(validators: news, now: Self.now + 10_000))
        let kept = memory.memories(now: Self.now + 10_000).validators
        #expect(kept.count == ValidatorBook.most + 1)
        #expect(shared(book, Self.dated(1), of: "f") == .lastModified)
    }

    @Test(arguments: [
        "x 1 1800000000", "00000000000000ff 1", "00000000000000ff -1 1800000000",
        "00000000000000ff x 1800000000", "00000000000000ff 1 x", "",
        "00000000000000ff 1 1900000000",
    ])
    func invalidLineIsIgnored(line: String) throws {
        let sandbox = try Sandbox("segget-memory")
        let memory = ServerMemory(path: "\(sandbox.path)/servers.json")
        _ = try sandbox.write(
            "servers.json", "{\"version\":1,\"servers\":{},\"validators\":[\"\(line)\"]}")
        #expect(memory.memories(now: Self.now + 1).isEmpty)
    }
}
