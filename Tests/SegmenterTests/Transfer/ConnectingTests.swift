import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests the timeouts of a request.
@Suite struct ConnectingTests {
    /// A canary's bound is shorter than the user's timeouts.
    @Test func canaryTimeoutIsBounded() throws {
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
