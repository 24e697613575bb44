import Assembler

// Servers that do not speak HTTP/1.1.
extension Probe {
    /// Makes a request again over HTTP/2, at once, where it looks as if the server has refused HTTP/1.1:
    /// once for a server, in the same attempt.
    ///
    /// What was answered over HTTP/1.1 stays as it is, and so does its failure where HTTP/2 fails too.
    func goOnOverHTTP2(
        _ request: inout TransferRequest, _ exchange: inout Exchange, collecting: Bool
    ) async {
        let (versions, origin) = (connecting.memory.versions, request.url.origin)
        if exchange.isHTTP2 { versions.hasAnswered(origin) }
        // A request for a small file has asked for HTTP/2 itself.
        let mayMultiplex = collecting && request.url.isSecure && !request.needsOwnConnection
        guard !mayMultiplex, exchange.reply == nil, case .failed(let failure)? = exchange.end,
            !versions.needsHTTP2(origin), versions.begins(after: failure, of: request)
        else { return }
        var second = request
        second.wantsHTTP2 = true
        second.needsOwnConnection = true
        let answer = await loop.exchange(
            second, holding: second.method == .get, collecting: collecting)
        guard answer.reply != nil || answer.end == .cancelled else { return }
        (request, exchange) = (second, answer)
        guard answer.isHTTP2 else { return }
        versions.helped(origin)
        report(.needsHTTP2(url: request.url.redacted))
    }
}
