import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

@Suite struct WebURLTests {
    @Test(arguments: [
        ("https://example.org/f", "https://example.org/f"),
        ("https://user:secret@example.org/f", "https://example.org/f"),
        ("https://user@example.org/f", "https://example.org/f"),
        ("https://example.org/f?key=secret", "https://example.org/f"),
        ("https://example.org/f#secret", "https://example.org/f"),
        (
            "https://us%40er:se%3Acret@example.org:8443/d/f?a=secret&b=1#x",
            "https://example.org:8443/d/f"
        ),
        ("http://:secret@example.org/", "http://example.org/"),
        ("http://user:secret@[::1]:8080/f?secret", "http://[::1]:8080/f"),
        ("https://example.org?secret", "https://example.org/"),
    ])
    func redactsSecrets(text: String, redacted: String) throws {
        let url = try #require(WebURL(text))
        #expect(url.redacted == redacted)
        #expect(!url.redacted.contains("secret"))
    }

    @Test func requestOmitsOnlyFragment() throws {
        let url = try #require(WebURL("https://us%3Aer:secret@example.org/f?key=1#frag"))
        #expect(url.text == "https://example.org/f?key=1")
        #expect(url.credentials == .init(user: "us:er", password: "secret"))
        #expect(url.text(with: "a@b") == "https://a%40b@example.org/f?key=1")
    }

    /// A relative reference keeps the credentials, as does any other reference to the same origin.
    @Test(arguments: [
        ("g", "user"), ("https://example.org/g", "user"), ("https://me@example.org/g", "me"),
        ("https://other.org/g", nil), ("http://example.org/g", nil),
        ("https://example.org:8443/g", nil), ("https://:x@other.org/", ""),
    ])
    func credentialsStayWithinOrigin(reference: String, user: String?) throws {
        let base = try #require(WebURL("https://user:secret@example.org/f"))
        let url = try #require(WebURL(reference, relativeTo: base))
        #expect(url.credentials?.user == user)
    }

    @Test(arguments: ["http://a%0Ab:c@h/", "http://a:c%0D@h/", "http://a%00:c@h/"])
    func rejectsControlCharactersInCredentials(text: String) { #expect(WebURL(text) == nil) }

    @Test(arguments: [
        ("http://example.org/f", "http://example.org:80"),
        ("https://example.org/f", "https://example.org:443"),
        ("https://example.org:443/f", "https://example.org:443"),
        ("http://example.org:443/f", "http://example.org:443"),
        ("HTTPS://EXAMPLE.ORG:8443/F", "https://example.org:8443"),
        ("https://u:p@example.org/f?q", "https://example.org:443"),
        ("http://[::1]:8080/", "http://[::1]:8080"), ("http://127.0.0.1/", "http://127.0.0.1:80"),
        ("https://example.org@evil.net/", "https://evil.net:443"),
        ("http://１２７.1/", "http://127.0.0.1:80"), ("http://%39/", "http://0.0.0.9:80"),
        ("http://0x7f。1/", "http://127.0.0.1:80"),
    ])
    func normalizesOrigin(text: String, origin: String) throws {
        let url = try #require(WebURL(text))
        #expect(url.origin == origin)
        #expect(url.isSecure == origin.hasPrefix("https:"))
    }

    @Test(arguments: [
        ("g", "https://a.org/b/c/g"), ("./g", "https://a.org/b/c/g"), ("/g", "https://a.org/g"),
        ("../g", "https://a.org/b/g"), ("../../../g", "https://a.org/g"),
        ("?y=1", "https://a.org/b/c/d?y=1"), ("//b.org/g", "https://b.org/g"),
        ("http://b.org/g", "http://b.org/g"), ("HTTPS://B.org/g?x", "https://b.org/g?x"),
        ("g#s", "https://a.org/b/c/g"), ("g h", "https://a.org/b/c/g%20h"),
        ("/é", "https://a.org/%c3%a9"), ("g?a=é", "https://a.org/b/c/g?a=%c3%a9"),
        // Parsed as browsers do (WHATWG URL).
        ("g h?i j+k", "https://a.org/b/c/g%20h?i%20j+k"), (" \t/g\n ", "https://a.org/g"),
        ("/g\th\r\n/i", "https://a.org/gh/i"), ("/g%zz%", "https://a.org/g%zz%"),
        ("#s", "https://a.org/b/c/d?x=0"), ("# s?t", "https://a.org/b/c/d?x=0"),
        ("//b.org/g h?i j", "https://b.org/g%20h?i%20j"), ("./g:h i", "https://a.org/b/c/g:h%20i"),
        ("http://b.org?a b", "http://b.org/?a%20b"),
    ])
    func resolvesReferences(reference: String, text: String) throws {
        let base = try #require(WebURL("https://a.org/b/c/d?x=0"))
        let url = try #require(WebURL(reference, relativeTo: base))
        #expect(url.text.lowercased() == text.lowercased())
    }

    @Test(arguments: [
        "ftp://example.org/f", "file:///etc/passwd", "gopher://example.org/", "javascript:alert(1)",
        "data:text/plain,x", "scp://example.org/f", "ldap://example.org/",
    ])
    func rejectsOtherSchemes(text: String) throws {
        #expect(WebURL(text) == nil)
        let base = try #require(WebURL("https://a.org/b"))
        #expect(WebURL(text, relativeTo: base).map { $0.text.hasPrefix("https://a.org/") } ?? true)
    }

    @Test(arguments: [
        "", "http://", "http://exa mple.org/", "http://[::1/", "http://a:99999/",
        "http://a:port/", "://a/", "http://a/\r\nX: y", "ftp.example.org",
    ])
    func rejectsInvalidURLs(text: String) { #expect(WebURL(text) == nil) }

    @Test(arguments: ["http://a b/", "//a b/g", "//%20/g", "http://a\tb c/", "/g\u{1b}h", "//"])
    func rejectsInvalidReferences(reference: String) throws {
        let base = try #require(WebURL("https://a.org/b"))
        #expect(WebURL(reference, relativeTo: base) == nil)
    }

    /// Bytes that are not UTF-8 are requested unchanged.
    @Test func encodesInvalidUTF8InLocation() {
        let read = { (bytes: [UInt8]) in
            (bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer {
                $0.baseAddress.map(locationText)
            }
        }
        #expect(read(Array("/é x".utf8)) == "/é x")
        #expect(read([0x2f, 0xe9, 0x20, 0xff, 0x41]) == "/%E9 %FFA")
        #expect(read([]) == "")
    }

    @Test func addsMissingScheme() throws {
        #expect(try #require(WebURL("example.org/f")).text == "http://example.org/f")
        #expect(try #require(WebURL("localhost:8080/f")).origin == "http://localhost:8080")
    }

    @Test(arguments: [
        ("https://a.org/d/naïve file.txt", "naïve file.txt"),
        ("https://a.org/d/na%C3%AFve%20file.txt", "naïve file.txt"),
        ("https://a.org/d/x.iso?y/z", "x.iso"), ("https://a.org/d/x.iso#y/z", "x.iso"),
        ("https://a.org/d/", ""), ("https://a.org", ""), ("https://a.org/a%2Fb", "a/b"),
        ("https://a.org/%FF%FE", "ÿþ"), ("https://a.org/100%", "100%"),
        ("https://a.org/a+b", "a+b"),
    ])
    func decodesLastPathComponent(text: String, component: String) throws {
        #expect(try #require(WebURL(text)).lastPathComponent == component)
    }

    @Test func requestTextIsASCII() {
        forEachSeed(1500) { seed, random in
            let pieces = ["a", "/", "é", "日", " ", "%20", "?", "&", "=", ".", "..", "😀", "+", "~"]
            let path = (0..<Int.random(in: 0...12, using: &random)).compactMap { _ in
                pieces.randomElement(using: &random)
            }.joined()
            guard let url = WebURL("https://user:pw@example.org/" + path) else {
                Issue.record("seed \(seed): \(path) is refused")
                return
            }
            #expect(url.text.utf8.allSatisfy { (33...126).contains($0) }, "seed \(seed): \(path)")
            #expect(url.origin == "https://example.org:443", "seed \(seed): \(path)")
            #expect(!url.redacted.contains("pw@") && !url.redacted.contains("?"), "seed \(seed)")
            #expect(WebURL(url.text)?.text == url.text, "seed \(seed): read again: \(path)")
        }
    }
}
