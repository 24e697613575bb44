import Assembler

// One small request, to learn whether the network leads to the server again.
extension Probe {
    /// Most seconds that it may take to connect, and to wait for the answer.
    private static let canaryPatience = 10.0

    /// What a canary has met.
    enum CanaryEnd: Sendable, Hashable {
        /// The server: the network is back, whatever it answers.
        case back
        /// Somebody else, who answers in its place: a login page, perhaps.
        case occupied
        /// A host that refuses the connection, or breaks it off: the server, or a portal.
        case refused
        /// Nobody.
        case nothing
    }

    /// What a canary's reply is held against.
    struct Known: Sendable, Hashable {
        /// The version that is being fetched.
        var identity = RemoteIdentity(size: nil)
        /// Whether the server has served ranges of it.
        var hasRanges = false
        /// Whether it is a page in HTML itself.
        var isPage = false
        /// Whether its body is decoded.
        var isDecoded = false
    }

    /// Asks for the first byte, once, on a connection of its own.
    ///
    /// - Parameter known: What is known of the file; `nil` when nothing is.
    /// - Returns: What it has met; `nothing` when the task was cancelled.
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
            // Nobody leads a file there.
            case .unsafeRedirect, .tooManyRedirects: isProven ? .back : .occupied
            default: .back
            }
        }
    }

    /// Makes a connection and sends nothing: a request might count as a download.
    private func connects(_ bound: TransferRequest.Connecting) async -> CanaryEnd {
        var request = TransferRequest(url: url, connecting: bound)
        request.wantsFreshConnection = true
        request.connectsOnly = true
        let exchange = await loop.exchange(request, pausing: false)
        return exchange.end == .complete ? .back : Self.verdict(nil, exchange.end, nil)
    }

    /// Whether nobody but the server can answer: it has to show a certificate.
    private var isProven: Bool { url.isSecure && !connecting.access.isInsecure }

    /// Judges how a canary has ended.
    ///
    /// Whoever answers with an error is the server, or will not do for longer: the ordinary rules are for
    /// that. Who answers as if all were well, with something else than the file, is not.
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
            // What states nothing agrees with everything.
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
    /// What a server has said of the file.
    init(_ file: RemoteFile) {
        self.init(
            identity: file.identity, hasRanges: file.transfer == .segments,
            isPage: isHTML(file.contentType), isDecoded: file.isDecoded)
    }
}

extension Reply {
    /// Whether the body is a page for people.
    fileprivate var isPage: Bool { isHTML(self["content-type"]) }
}
