import Testing

@testable import Segmenter

/// How long a request may take.
@Suite struct ConnectingTests {
    /// A canary is answered soon or not at all, whatever the kernel would wait for.
    @Test func aCanaryIsWaitedForNoLongerThanItIsGiven() throws {
        let url = try #require(WebURL("http://a.test/"))
        var options = DownloadOptions()
        (options.connectTimeout, options.stallTimeout) = (.seconds(15), .seconds(1))
        var connecting = TransferRequest.Connecting(options, url: url)
        connecting.bound(by: 2)
        #expect(connecting.connectTimeout == 2 && connecting.stallTimeout == 1)
        connecting.bound(by: 0.5)
        #expect(connecting.connectTimeout == 0.5 && connecting.stallTimeout == 0.5)
    }
}
