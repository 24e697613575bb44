import Testing

@testable import Assembler

struct GitDigestTests {
    /// The values are those of `git hash-object`.
    @Test(arguments: [
        ("", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"),
        ("hello world\n", "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"),
    ])
    func digestIsThatOfGit(text: String, hex: String) throws {
        let bytes = Array(text.utf8)
        var digest = try #require(StreamingDigest(.gitSHA1, size: Int64(bytes.count)))
        bytes.withUnsafeBytes { digest.update($0) }
        #expect(digest.finish() == (try Digest(parsing: "git-sha1:\(hex)")))
        #expect(try Digest(parsing: "git-sha1:\(hex)").fits(bytes))
    }

    /// The digest begins with the size.
    @Test func digestNeedsSize() {
        #expect(StreamingDigest(.gitSHA1, size: nil) == nil)
    }

    /// 40 digits alone remain SHA-1.
    @Test func digitsAloneAreSHA1() throws {
        let hex = String(repeating: "a", count: 40)
        #expect(try Digest(parsing: hex).algorithm == .sha1)
        #expect(try Digest(parsing: "git-sha1:\(hex)").description == "git-sha1:\(hex)")
    }
}
