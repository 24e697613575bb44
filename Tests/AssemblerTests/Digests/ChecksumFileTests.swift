import Testing

@testable import Assembler

@Suite struct ChecksumFileTests {
    private static let md5 = String(repeating: "1", count: 32)
    private static let sha1 = String(repeating: "2", count: 40)
    private static let sha256 = String(repeating: "3", count: 64)
    private static let sha512 = String(repeating: "4", count: 128)

    private func digest(
        _ text: String, of name: String = "f", in fileName: String = "sums"
    ) throws -> String {
        try ChecksumFile(text.utf8, fileName: fileName).digest(of: name).description
    }

    @Test(
        arguments: [
            (md5, "md5"), (sha1, "sha-1"), (sha256, "sha-256"), (sha512, "sha-512"),
        ])
    func lengthDeterminesTheAlgorithm(hex: String, algorithm: String) throws {
        #expect(try digest("\(hex)  f\n") == "\(algorithm):\(hex)")
        #expect(try digest("\(hex) *f") == "\(algorithm):\(hex)", "binary mode, no line end")
        #expect(try digest("\(hex)  f\r\n") == "\(algorithm):\(hex)")
    }

    @Test(
        arguments: [
            ("MD5SUMS", md5), ("sha1sums.txt", sha1), ("SHA256SUMS", sha256),
            ("f.sha512", sha512),
        ])
    func nameMustMatch(fileName: String, hex: String) throws {
        #expect(try digest("\(hex)  f\n", in: fileName).hasSuffix(hex))
        let other = hex == Self.md5 ? Self.sha1 : Self.md5
        #expect(throws: ChecksumFile.LookupError.unreadable) {
            try digest("\(other)  f\n", in: fileName)
        }
    }

    @Test func readsBSDLines() throws {
        let text = "SHA256 (a (1) = b) = \(Self.sha256)\nMD5 (f) = \(Self.md5)\n"
        #expect(try digest(text, of: "a (1) = b") == "sha-256:\(Self.sha256)")
        #expect(try digest(text) == "md5:\(Self.md5)")
    }

    @Test func decodesEscapes() throws {
        let text = "\\\(Self.md5)  a\\nb\\\\c\\rd\n"
        #expect(try digest(text, of: "a\nb\\c\rd") == "md5:\(Self.md5)")
        #expect(try digest("\(Self.md5)  a\\nb\n", of: "a\\nb") == "md5:\(Self.md5)")
    }

    @Test func findsLineByLastPathComponent() throws {
        let other = String(repeating: "5", count: 32)
        #expect(try digest("\(Self.md5)  ./dir/f\n", of: "/tmp/f") == "md5:\(Self.md5)")
        // A line with exactly this name precedes lines with folders.
        let text = "\(other)  old/f\n\(Self.md5)  f\n"
        #expect(try digest(text, of: "x/f") == "md5:\(Self.md5)")
        #expect(throws: ChecksumFile.LookupError.ambiguous(name: "f")) {
            try digest("\(other)  a/f\n\(Self.md5)  b/f\n")
        }
        #expect(try digest("\(Self.md5)  a/f\n\(Self.md5)  b/f\n") == "md5:\(Self.md5)")
    }

    @Test func usesTheFirstOfSeveralAlgorithms() throws {
        #expect(
            try digest("\(Self.sha256)  f\n\(Self.md5)  f\n") == "sha-256:\(Self.sha256)")
    }

    @Test func reportsMissingName() {
        #expect(throws: ChecksumFile.LookupError.missing(name: "g")) {
            try digest("\(Self.md5)  f\n", of: "dir/g")
        }
        #expect(throws: ChecksumFile.LookupError.missing(name: "f")) {
            try digest("\(Self.md5)  ff\n\(Self.md5)  F\n")
        }
    }

    @Test(
        arguments: [
            "", "\n\n", "hello\n", "\(md5)\n", "\(md5) f\n", "\(md5)  \n",
            "x\(md5.dropFirst())  f\n",
            "\(md5)0  f\n", "-----BEGIN PGP SIGNED MESSAGE-----\n", "MD5 (f) \(md5)\n",
            "MD5 (f) =\n",
            "MD5 ( = \(md5)\n", "SHA3 (f) = \(md5)\n", "\\\n", " \n", "MD5 (\n", "\\\(md5)  \\\n",
        ])
    func skipsMalformedLines(text: String) throws {
        #expect(throws: ChecksumFile.LookupError.unreadable) { try digest(text) }
        #expect(try digest(text + "\n\(Self.sha1)  f\n") == "sha-1:\(Self.sha1)")
    }

    @Test func leavesBLAKE2Alone() {
        #expect(throws: ChecksumFile.LookupError.unreadable) {
            try digest("\(Self.sha512)  f\n", in: "B2SUMS")
        }
    }

    @Test func parsesAnyBytes() {
        var random = SystemRandomNumberGenerator()
        let alphabet = Array(" *()=\\\nMD5a0\r/".utf8) + [0, 0xff]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0..<80)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            _ = try? ChecksumFile(bytes, fileName: "sums").digest(of: "a")
        }
    }
}
