import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests when HTTP/2 replaces HTTP/1.1.
@Suite struct VersionMemoryTests {
    private static let alert = "error:0A000460:SSL routines::tlsv1 alert no application protocol"
    private static let garbage = "Received HTTP/0.9 when not allowed"

    private static func request(_ url: String, proxy: String? = "") throws -> TransferRequest {
        var options = DownloadOptions()
        // Independent of the environment variables for proxies.
        options.access.proxy = proxy
        let url = try #require(WebURL(url))
        return TransferRequest(url: url, connecting: .init(options, url: url))
    }

    @Test(arguments: [
        (35, alert, false, true), (35, "alert protocol version", false, false),
        (35, "alert handshake failure", false, false), (52, "Empty reply", true, true),
        (56, "reset", false, true), (55, "broken pipe", false, true), (1, garbage, true, false),
        (1, "other", false, false), (7, "refused", false, false), (28, "time", false, false),
        (6, "unknown", false, false), (18, "partial", false, false), (16, "framing", false, false),
    ])
    func recognizesRefusedHTTPVersion(code: Int, text: String, plain: Bool, secure: Bool) throws {
        let failure = TransferFailure.network(code: code, message: text)
        #expect(try Self.request("http://h/").mayNeedHTTP2(failure) == plain)
        #expect(try Self.request("https://h/").mayNeedHTTP2(failure) == secure)
        // A proxy without a tunnel answers for itself.
        #expect(try !Self.request("http://h/", proxy: "http://p:1").mayNeedHTTP2(failure))
        var second = try Self.request("https://h/")
        second.wantsHTTP2 = true
        #expect(!second.mayNeedHTTP2(failure))
        for other in [
            TransferFailure.stalled(for: .seconds(1)), .status(502), .truncated(missing: 1),
            .proxy(code: 56, message: ""),
        ] {
            #expect(try !Self.request("https://h/").mayNeedHTTP2(other))
        }
    }

    private let failure = TransferFailure.network(code: 52, message: "")

    @Test func http2IsTriedOncePerOrigin() throws {
        let memory = VersionMemory()
        let (one, other) = (try Self.request("http://h/"), try Self.request("http://h:81/"))
        #expect(memory.begins(after: failure, of: one))
        #expect(!memory.needsHTTP2(one.url.origin))
        #expect(!memory.begins(after: failure, of: one))
        var head = one
        head.method = .head
        #expect(memory.begins(after: failure, of: head))
        #expect(!memory.begins(after: failure, of: head))
        #expect(memory.begins(after: failure, of: other))
        // Two simultaneous requests may both be answered; this is reported once.
        #expect(memory.helped(other.url.origin))
        #expect(!memory.helped(other.url.origin))
        #expect(memory.needsHTTP2(other.url.origin) && !memory.needsHTTP2(one.url.origin))
        // A request that was sent before this was found is repeated, whatever its method.
        #expect(memory.begins(after: failure, of: other))
    }

    /// One failure is no reason to use HTTP/2 for a server that is not known to support it.
    @Test func failureIsExplainedAfterHTTP2Response() throws {
        let memory = VersionMemory()
        let request = try Self.request("https://h/")
        #expect(memory.explains(failure, of: request) == nil)
        memory.hasAnswered(request.url.origin)
        #expect(!memory.needsHTTP2(request.url.origin))
        #expect(memory.explains(.status(503), of: request) == nil)
        #expect(memory.explains(failure, of: request) == true)
        #expect(memory.needsHTTP2(request.url.origin))
        #expect(memory.explains(failure, of: request) == false)
        let other = try Self.request("https://other/")
        #expect(memory.explains(failure, of: other) == nil)
    }
}
