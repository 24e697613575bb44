import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests which credentials and headers a request may send, by its URL and the redirects before it.
@Suite struct OriginRulesTests {
    /// The options that a request may use.
    enum Share: CaseIterable {
        /// Everything.
        case all
        /// Everything but the client certificate.
        case sent
        /// Only options that are not for one origin.
        case none
        /// Like `none`, without a netrc file.
        case bare
    }

    private func options(_ crosses: Bool) -> DownloadOptions {
        var options = DownloadOptions()
        options.headers = ["X: y"]
        options.access.credentials = .init(user: "me", password: "x")
        options.access.cookies = "k=v"
        options.access.referer = "r"
        options.access.usesNetrc = true
        options.access.clientCertificate = "c"
        options.access.clientKey = "k"
        options.access.clientKeyPassword = "p"
        options.access.crossesOrigins = crosses
        options.access.allowsDowngrade = true
        return options
    }

    /// Each chain of redirects starts at the URL of the download.
    @Test(arguments: [
        (["https://a.org/"], Share.all, Share.all),
        (["https://a.org/", "/b"], .all, .all),
        (["https://a.org/", "https://b.org/"], .none, .sent),
        (["https://a.org/", "https://a.org:444/"], .none, .sent),
        (["http://a.org/", "https://a.org/"], .none, .sent),
        (["http://a.org/", "http://b.org/"], .none, .sent),
        (["https://a.org/", "http://a.org/"], .bare, .bare),
        (["https://a.org/", "http://a.org:443/"], .bare, .bare),
        (["https://a.org/", "http://b.org/", "https://b.org/"], .bare, .bare),
        (["https://a.org/", "http://b.org/", "https://a.org/"], .all, .all),
        (["https://a.org/", "https://b.org/", "http://b.org/"], .bare, .bare),
        (["http://a.org/", "https://b.org/", "http://a.org/"], .all, .all),
        (["http://a.org/", "https://b.org/", "http://b.org/"], .bare, .bare),
    ])
    func permitsOptionsByRedirectChain(hops: [String], usual: Share, crossing: Share) throws {
        let first = try #require(WebURL(hops[0]))
        let last = try #require(
            hops.dropFirst().reduce(first) { here, hop in
                here.flatMap { WebURL(hop, relativeTo: $0) }
            })
        for (crosses, share) in [(false, usual), (true, crossing)] {
            let connecting = TransferRequest.Connecting(options(crosses), url: first)
            let (access, headers) = connecting.permitted(for: last)
            let isSent = share == .all || share == .sent
            #expect((headers == ["X: y"]) == isSent && headers.isEmpty != isSent)
            #expect((access.credentials != nil) == isSent)
            #expect((access.cookies != nil) == isSent)
            #expect((access.referer != nil) == isSent)
            #expect(access.usesNetrc == (share != .bare))
            for value in [access.clientCertificate, access.clientKey, access.clientKeyPassword] {
                #expect((value != nil) == (share == .all))
            }
        }
    }

    /// The user and password in a redirect's URL replace those of the options.
    @Test func redirectCredentialsReplaceOptions() throws {
        var options = DownloadOptions()
        options.access.bearerToken = "t"
        options.access.crossesOrigins = true
        let first = try #require(WebURL("https://a.org/"))
        let connecting = TransferRequest.Connecting(options, url: first)
        let plain = try #require(WebURL("https://b.org/", relativeTo: first))
        #expect(connecting.permitted(for: plain).access.bearerToken == "t")
        let named = try #require(WebURL("https://u:p@b.org/", relativeTo: first))
        let access = connecting.permitted(for: named).access
        #expect(access.bearerToken == nil)
        #expect(access.credentials == .init(user: "u", password: "p"))
    }

    /// The same address on another interface may be another machine.
    @Test func zoneIsPartOfOrigin() throws {
        let first = try #require(WebURL("http://u:p@[fe80::1%25eth0]/f"))
        let other = try #require(WebURL("http://[fe80::1%25eth1]/f", relativeTo: first))
        #expect(first.origin != other.origin)
        #expect(other.credentials == nil)
        #expect(try #require(WebURL("/g", relativeTo: first)).credentials != nil)
    }
}
