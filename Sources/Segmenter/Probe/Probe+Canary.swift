import Assembler
import SegmenterRules
import SegmenterTransport

// The canary: one small request that checks whether the network reaches the server again.
extension Probe {
    /// The longest time, in seconds, to connect, and the longest time to wait for the response.
    private static let canaryPatience = 10.0

    /// The result of a canary.
    enum CanaryEnd: Sendable, Hashable {
        /// The server responded, with any status code: the network works.
        case back
        /// Another host responded in place of the server, for example with a login page.
        case occupied
        /// The server or a captive portal refused or closed the connection.
        case refused
        /// No host responded.
        case nothing
    }

    /// The known facts with which the response to a canary is compared.
    struct Known: Sendable, Hashable {
        /// The version that is being downloaded.
        var identity = RemoteIdentity(size: nil)
        /// Whether the server has served ranges of the file.
        var hasRanges = false
        /// Whether the file itself is an HTML page.
        var isPage = false
        /// Whether libcurl decodes the body.
        var isDecoded = false
    }

    /// Requests the first byte once, on a new connection.
    ///
    /// If every request may count as a download (``asksOnce``), it only connects.
    ///
    /// - Parameter known: The known facts about the file; `nil` if there are none.
    /// - Returns: The result; `nothing` if the task was cancelled.
    func canary(_ known: Known?) async -> CanaryEnd {
        var bound = connecting
        bound.bound(by: Self.canaryPatience)
        if asksOnce { return await connects(bound) }
        let chain = RedirectChain(
            loop: loop, connecting: bound, report: { _ in }, range: Self.firstByte, isFresh: true)
        do throws(DownloadError.Reason) {
            let landing = try await chain.follow(from: url)
            let end = Self.verdict(landing.exchange.reply, landing.exchange.end, known)
            guard end == .occupied, landing.exchange.reply != nil, isProven, landing.url.isSecure
            else { return end }
            return .back
        } catch {
            return switch error {
            case .cancelled, .access(.unusable(.interface)): .nothing
            // No download redirects there, but a login page may.
            case .unsafeRedirect, .tooManyRedirects: isProven ? .back : .occupied
            default: .back
            }
        }
    }

    /// Connects without sending a request, which might count as a download.
    private func connects(_ bound: TransferRequest.Connecting) async -> CanaryEnd {
        var request = TransferRequest(url: url, connecting: bound)
        request.wantsFreshConnection = true
        request.connectsOnly = true
        let exchange = await loop.exchange(request, pausing: false)
        return exchange.end == .complete ? .back : Self.verdict(nil, exchange.end, nil)
    }

    /// Whether the server has to present a valid certificate, so that no other host can respond.
    private var isProven: Bool { url.isSecure && !connecting.access.isInsecure }

    /// Returns the result of a canary from its response.
    ///
    /// An error status counts as the server's: the usual rules for failures apply to it. A success
    /// status with content other than the file means that another host has responded.
    static func verdict(
        _ reply: Reply?, _ end: TransferEnd?, _ known: Known?
    ) -> CanaryEnd {
        guard let reply else {
            switch end {
            case .untrusted?, .failed(.breach)?: return .occupied
            case .failed(let failure)?: return failure.isNetworkLoss ? .nothing : .refused
            default: return .nothing
            }
        }
        switch reply.status {
        case 200, 206: break
        case 511, ..<400: return .occupied
        default: return .back
        }
        let known = known ?? Known(hasRanges: true)
        let isPage = reply.isPage && !known.isPage
        let check = ResponseCheck(
            asked: firstByte, identity: known.identity, sentIfRange: false,
            isDecoded: known.isDecoded)
        switch check.verdict(on: reply) {
        case .accept, .breach(.wholeFileForRange):
            // Without validators, any response matches.
            let isStated = known.identity.etag != nil || known.identity.lastModified != nil
            return isPage && reply.status == 200 && !isStated ? .occupied : .back
        case .status: return .back
        case .breach:
            guard reply.status == 200 else { return isPage ? .occupied : .back }
            let isAnonymous = reply["etag"] == nil && reply["last-modified"] == nil
            return isPage || known.hasRanges || isAnonymous ? .occupied : .back
        }
    }
}

extension Probe.Known {
    /// Creates the known facts from the result of a probe.
    init(_ file: RemoteFile) {
        self.init(
            identity: file.identity, hasRanges: file.transfer == .segments,
            isPage: isHTML(file.contentType), isDecoded: file.isDecoded)
    }
}

extension Reply {
    /// Whether the body is an HTML page.
    fileprivate var isPage: Bool { isHTML(self["content-type"]) }
}
