import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests URLs as people and other programs write them.
@Suite struct GivenURLTests {
    @Test(
        arguments: [
            ("https://me@corp.example:hush@example.org/f", "me@corp.example", "hush"),
            ("https://me:h@sh@example.org/f", "me", "h@sh"),
            ("https://me@corp.example@example.org/f", "me@corp.example", nil),
            ("me@corp.example:hush@example.org/f", "me@corp.example", "hush"),
        ] as [(String, String, String?)])
    func lastAtSignEndsCredentials(text: String, user: String, password: String?) throws {
        let url = try #require(WebURL(text))
        #expect(url.origin.hasSuffix("://example.org:\(url.isSecure ? 443 : 80)"))
        #expect(url.credentials == .init(user: user, password: password))
        #expect(!url.text.contains("@") && !url.redacted.contains("@"))
        #expect(!WebAddress.withoutSecrets(text).contains("hush"))
        #expect(proxyOrigin(text)?.contains("//example.org:") == true)
    }

    /// An at sign in the path, or after a backslash, does not end a user name.
    @Test func atSignElsewhereIsKept() throws {
        #expect(
            try #require(WebURL("https://example.org/a@b@c")).text == "https://example.org/a@b@c")
        #expect(WebURL("https://example.org\\@evil@example.net/") == nil)
    }

    @Test(arguments: [
        " https://example.org/f", "https://example.org/f ", "\thttps://example.org/f\r\n",
        "\n https://example.org/f \n",
    ])
    func trimsWhitespace(text: String) throws {
        #expect(try #require(WebURL(text)).text == "https://example.org/f")
        #expect(DownloadSession.problem(with: text) == nil)
        #expect(WebAddress(text) == .web(host: "example.org", isSecure: true))
    }

    @Test(arguments: ["https://example.org/f\nhttps://example.org/g", " ", "\n"])
    func rejectsEmptyAndMultipleLines(text: String) {
        #expect(DownloadSession.problem(with: text) != nil)
    }
}
