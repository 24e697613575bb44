import Assembler
import SegmenterRules
import SegmenterTransport

/// Sends a request to a URL, and follows redirects until a response is not a redirect.
///
/// Each redirect is checked before it is followed.
struct RedirectChain: Sendable {
    let loop: TransferLoop
    let connecting: TransferRequest.Connecting
    let report: @Sendable (DownloadNotice) -> Void
    var method = RequestMethod.get
    var range: ByteRange?
    /// A strong validator for `If-Range`.
    var ifRange: String?
    /// Additional header lines.
    var conditions: [String] = []
    /// Whether to open a new connection for each request.
    var isFresh = false
    /// Whether requests must not share a connection, because sharing has failed.
    var isBroken = false
    /// Whether libcurl decodes the body.
    var isDecoded = false
    /// Whether to return a short body together with the response.
    var isCollected = false
    /// Whether to look up all addresses of each host.
    var spreads = false
    /// The index of the address to connect to, modulo the number of addresses; 0 for any address.
    var turn = 0
    /// The result of the first request, if it was already made.
    var answered: Exchange?
    /// The longest time without a byte, in seconds, if the stall timeout is not shorter.
    var patience = Double.infinity

    /// Sends the request to `url` and follows the redirects.
    ///
    /// - Returns: The URL at the end of the redirects, with the result of the last request. The
    ///   result may be a failure that a retry can fix.
    /// - Throws: The permanent error that prevents a response or forbids to follow a redirect.
    func follow(from url: WebURL) async throws(DownloadError.Reason) -> Probe.Landing {
        let logins = connecting.access.keepsCookies ? connecting.memory.cookies.logins : nil
        return try await follow(from: url, answered, logins)
    }

    private func follow(
        from url: WebURL, _ answered: Exchange?, _ logins: Logins?
    ) async throws(DownloadError.Reason) -> Probe.Landing {
        var here = url
        var isFirst = false
        defer { if isFirst { logins?.settle(url.origin) } }
        let most = max(0, connecting.access.maxRedirects)
        var stated: [Digest] = []
        for redirects in 0...most {
            let exchange = await ask(here, redirects == 0 ? answered : nil)
            switch exchange.end {
            case .cancelled?: throw .cancelled
            case .badCertificateFile?:
                throw connecting.certificateFailure
            case .badSetting(let problem)?: throw .access(problem)
            case .denied(let address)?: throw .addressDenied(.privateAddress(address))
            case .proxyRefused(let status, _)?: throw .proxyRefused(status: status)
            default: break
            }
            guard let reply = exchange.reply, (300..<400).contains(reply.status),
                reply.status != 304, let location = reply["location"]
            else {
                return Probe.Landing(
                    url: here, redirects: redirects, stated: stated, exchange: exchange)
            }
            if let digest = AdvertisedDigests.target(of: reply) { stated.append(digest) }
            guard let next = WebURL(location, relativeTo: here) else {
                throw .unsafeRedirect(to: "")
            }
            guard next.isSecure || !here.isSecure || connecting.access.allowsDowngrade else {
                throw .unsafeRedirect(to: next.redacted)
            }
            if redirects == 0, let logins {
                switch await logins.turn(at: url.origin, began: exchange.began) {
                case .first: isFirst = true
                case .later: break
                case .waited:
                    // The cookies of the first file's login may make the redirects unnecessary.
                    if connecting.memory.cookies.hasLearned {
                        return try await follow(from: url, nil, nil)
                    }
                }
            }
            here = next
        }
        throw .tooManyRedirects(most)
    }

    /// Sends a request, and repeats it if the server requires HTTP/2 or digest authentication.
    private func ask(_ here: WebURL, _ answered: Exchange?) async -> Exchange {
        var request = await request(to: here)
        if spreads, !isCollected { loop.findAddresses(for: request) }
        let isOverHTTP2 =
            answered == nil && connecting.memory.versions.needsHTTP2(here.origin)
        var exchange: Exchange
        if let answered { exchange = answered } else { exchange = await make(request) }
        if !isOverHTTP2 { await goOnOverHTTP2(&request, &exchange) }
        if connecting.access.scheme == .automatic,
            connecting.memory.digests.learn(from: exchange, origin: here.origin)
        {
            exchange = await make(request)
        }
        return exchange
    }

    private func request(to here: WebURL) async -> TransferRequest {
        var request = TransferRequest(method: method, url: here, connecting: connecting)
        request.range = range
        request.ifRange = ifRange
        request.wantsFreshConnection = isFresh
        request.needsOwnConnection = isBroken
        request.headers = conditions
        request.isDecoded = isDecoded
        request.connecting.stallTimeout = min(request.connecting.stallTimeout, patience)
        if turn > 0, spreads {
            let addresses = await loop.spreadAddresses(of: here)
            request.address = addresses.isEmpty ? nil : addresses[turn % addresses.count]
        }
        return request
    }

    private func make(_ request: TransferRequest) async -> Exchange {
        await loop.exchange(request, pausing: request.method == .get, collecting: isCollected)
    }

    /// Repeats a request immediately over HTTP/2 if the server seems to refuse HTTP/1.1.
    ///
    /// This happens once for each server and method, within the same attempt. It also happens if
    /// another request has shown in the meantime that the server requires HTTP/2. If HTTP/2
    /// fails as well, the result over HTTP/1.1 remains.
    private func goOnOverHTTP2(
        _ request: inout TransferRequest, _ exchange: inout Exchange
    ) async {
        let (versions, origin) = (connecting.memory.versions, request.url.origin)
        if exchange.isHTTP2 { versions.hasAnswered(origin) }
        // A request for a small file already offers HTTP/2.
        let mayMultiplex = isCollected && request.url.isSecure && !request.needsOwnConnection
        guard !mayMultiplex, exchange.reply == nil, case .failed(let failure)? = exchange.end,
            versions.begins(after: failure, of: request)
        else { return }
        var second = request
        second.wantsHTTP2 = true
        second.needsOwnConnection = true
        let answer = await make(second)
        guard answer.reply != nil || answer.end == .cancelled else { return }
        (request, exchange) = (second, answer)
        guard answer.isHTTP2, versions.helped(origin) else { return }
        report(.needsHTTP2(url: request.url.redacted))
    }
}

extension TransferLoop {
    /// Returns the known addresses of a host, among which requests rotate.
    ///
    /// The result is empty if the URL contains an address instead of a name.
    func spreadAddresses(of url: WebURL) async -> [String] {
        guard NamedHost(origin: url.origin) != nil else { return [] }
        return await addresses(of: url.origin)
    }
}
