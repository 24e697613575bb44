import Assembler

/// One question to where a URL leads: follows redirects until a response is none, judging each hop.
struct RedirectChain: Sendable {
    let loop: TransferLoop
    let connecting: TransferRequest.Connecting
    let report: @Sendable (DownloadNotice) -> Void
    var method = RequestMethod.get
    var range: ByteRange?
    /// A strong validator for `If-Range`.
    var ifRange: String?
    /// Further header lines.
    var conditions: [String] = []
    /// Whether each connection is to be a new one.
    var isFresh = false
    /// Whether no connection may be shared, because that has failed.
    var isBroken = false
    /// Whether libcurl decodes the body.
    var isDecoded = false
    /// Whether a short body is to come with the answer.
    var isCollected = false
    /// Whether all addresses of the hosts are to be known.
    var spreads = false
    /// Which of the addresses of a host is asked, counted on through them; 0 for any.
    var turn = 0
    /// The answer to the first request, when that was made already.
    var answered: Exchange?
    /// Longest time without a byte, in seconds, where that of the options is not shorter.
    var patience = Double.infinity

    /// Asks, beginning at `url`.
    ///
    /// - Throws: What stands in the way of an answer, or of a redirect.
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
            else { return Probe.Landing(url: here, redirects: redirects, exchange: exchange) }
            guard let next = WebURL(location, relativeTo: here) else {
                throw .unsafeRedirect(to: "an address that is not http or https")
            }
            guard next.isSecure || !here.isSecure || connecting.access.allowsDowngrade else {
                throw .unsafeRedirect(to: next.redacted)
            }
            if redirects == 0, let logins {
                switch await logins.turn(at: url.origin, began: exchange.began) {
                case .first: isFirst = true
                case .later: break
                case .waited:
                    // With the cookies of the first one, nobody may be sent elsewhere any more.
                    if connecting.memory.cookies.hasLearned {
                        return try await follow(from: url, nil, nil)
                    }
                }
            }
            here = next
        }
        throw .tooManyRedirects(most)
    }

    /// Makes one request, and once more where a server wants another version of HTTP, or digest
    /// authentication.
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

    /// Makes a request again over HTTP/2, at once, where it looks as if the server has refused HTTP/1.1:
    /// once for a server, in the same attempt, and where another request has shown meanwhile that it does.
    ///
    /// What was answered over HTTP/1.1 stays as it is, and so does its failure where HTTP/2 fails too.
    private func goOnOverHTTP2(
        _ request: inout TransferRequest, _ exchange: inout Exchange
    ) async {
        let (versions, origin) = (connecting.memory.versions, request.url.origin)
        if exchange.isHTTP2 { versions.hasAnswered(origin) }
        // A request for a small file has asked for HTTP/2 itself.
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
    /// The addresses of a host that are asked in turn, as far as they were found; none of one without a
    /// name.
    func spreadAddresses(of url: WebURL) async -> [String] {
        guard NamedHost(origin: url.origin) != nil else { return [] }
        return await addresses(of: url.origin)
    }
}
