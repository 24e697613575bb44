import Segmenter
import Testing

struct HubAddressTests {
    @Test(arguments: [
        ("hf://org/name", "hf://models/org/name@main"),
        ("HF://org/name", "hf://models/org/name@main"),
        ("hf://models/org/name/", "hf://models/org/name@main"),
        ("hf://datasets/org/name@v1.0/a/b c.txt", "hf://datasets/org/name@v1.0/a/b c.txt"),
        ("hf://spaces/org/name/sub/", "hf://spaces/org/name@main/sub/"),
        ("hf://org/name@refs/pr/7/x", "hf://models/org/name@refs/pr/7/x"),
        ("hf://org/name@refs/convert/parquet", "hf://models/org/name@refs/convert/parquet"),
        ("hf://org/name@refs%2Fpr%2F7/x", "hf://models/org/name@refs/pr/7/x"),
        ("hf://org/name:Q4_K_M", "hf://models/org/name:Q4_K_M@main"),
        ("hf://models/name/part", "hf://models/name/part@main"),
    ])
    func addressIsRead(text: String, whole: String) throws {
        let address = try #require(try HubAddress(text))
        #expect(address.text == whole)
        #expect(try HubAddress(whole) == address)
    }

    @Test(arguments: [
        ("hf://gpt2", HubAddress.SyntaxError.noRepository), ("hf://", .noRepository),
        ("hf://datasets/name", .noRepository), ("hf://kernels/org/name", .unknownType("kernels")),
        ("hf://org/na me", .badName("na me")), ("hf://../name", .badName("..")),
        ("hf://org/name@", .noRevision), ("hf://org/name/a//b", .badPath("a//b")),
        ("hf://org/name/../b", .badPath("../b")), ("hf://org/name:", .badQuantization),
        ("hf://datasets/org/name:Q4", .badQuantization),
    ])
    func malformedAddressIsRefused(text: String, error: HubAddress.SyntaxError) {
        #expect(throws: error) { try HubAddress(text) }
    }

    @Test func otherTextIsNoAddress() throws {
        #expect(try HubAddress("https://huggingface.co/org/name") == nil)
    }

    @Test(arguments: [
        ("https://huggingface.co/org/name/blob/main/a/b.txt", "hf://org/name@main/a/b.txt"),
        ("https://hf.co/datasets/org/name/tree/v1/sub?x=1", "hf://datasets/org/name@v1/sub/"),
        ("https://huggingface.co/org/name/tree/main", "hf://org/name@main"),
        ("https://hub.test/org/name/blob/main/a", "hf://org/name@main/a"),
        ("https://huggingface.co/org/name/resolve/main/a", nil),
        ("https://example.org/org/name/blob/main/a", nil),
    ])
    func pageHasAddress(url: String, form: String?) {
        #expect(HubAddress.form(ofPage: url, endpoint: "https://hub.test") == form)
    }
}

struct HubAccessTests {
    @Test(arguments: [
        ("https://huggingface.co/x", true), ("https://hf.co/x", true),
        ("https://hub.test:8443/x", true), ("https://hub.test/x", false),
        ("http://huggingface.co/x", false), ("https://cdn-lfs.hf.co/x", false),
        ("https://huggingface.co.evil.test/x", false),
    ])
    func tokenGoesToHubOnly(url: String, isGiven: Bool) throws {
        let access = try HubAccess(endpoint: "https://hub.test:8443/", token: " hf_x\r\n")
        #expect(access.endpoint == "https://hub.test:8443" && access.token == "hf_x")
        #expect(access.token(for: url) == (isGiven ? "hf_x" : nil))
    }

    /// Over http, the token goes to this machine only.
    @Test(arguments: [
        ("http://127.0.0.1:80", true), ("http://localhost:9", true), ("http://[::1]:9", true),
        ("http://127.0.0.1.evil.test", false), ("http://hub.test", false),
        ("http://192.168.0.1", false),
    ])
    func tokenNeedsSecureServer(endpoint: String, isGiven: Bool) throws {
        let access = try HubAccess(endpoint: endpoint, token: "hf_x")
        #expect((access.token(for: endpoint + "/x") != nil) == isGiven)
    }

    @Test(arguments: ["hf_a\nb", "hf_\u{1}", "hf a", "hf_ü"])
    func tokenWithControlCharacterIsRefused(token: String) {
        #expect(throws: DownloadError.Reason.access(.malformed(.bearerToken))) {
            try HubAccess(token: token)
        }
    }

    @Test func emptyTokenIsNone() throws {
        #expect(try HubAccess(token: " \n").token == nil)
    }

    @Test(arguments: ["ftp://x", "nonsense", "https://u:p@hub.test", "https://hub.test/?a=b"])
    func otherEndpointIsRefused(endpoint: String) {
        #expect(throws: DownloadError.Reason.self) { try HubAccess(endpoint: endpoint) }
    }
}
