import Assembler

// A 403 that may be a limit.
extension Probe {
    /// Why an exchange failed, when trying again may help; as `failure(of:)`, but a 403 beside requests
    /// that are served may say that there are too many.
    ///
    /// - Parameters:
    ///   - exchange: What has failed.
    ///   - url: What was asked.
    ///   - refusals: How many times in a row it was answered 403; counted here.
    /// - Returns: Why.
    /// - Throws: What no retry can mend.
    func failure(
        of exchange: Exchange, at url: WebURL, refusals: inout Int
    ) async throws(DownloadError.Reason) -> TransferFailure {
        guard exchange.reply?.status == 403, !identifies(at: url) else {
            refusals = 0
            return try Self.failure(of: exchange)
        }
        refusals += 1
        guard await mayPass(refusals, exchange.isBeside, at: url.origin) else {
            return try Self.failure(of: exchange)
        }
        return .status(403)
    }

    /// Notes that what was refused is served.
    func noteServed(_ url: WebURL, after refusals: Int) {
        guard refusals > 0 else { return }
        loop.perform { $0.servers.forbidding[url.origin, default: .init()].served() }
    }

    /// Whether it is somebody who asks: a wrong password is not tried again and again.
    private func identifies(at url: WebURL) -> Bool {
        let permitted = connecting.permitted(for: url)
        return permitted.access.authenticates
            || permitted.headers.contains { $0.lowercased().hasPrefix("authorization") }
    }

    private func mayPass(_ refusals: Int, _ isBeside: Bool, at origin: String) async -> Bool {
        await loop.ask(otherwise: false) { worker in
            // Those that wait to be fetched in segments hold a place, too.
            let isBeside = isBeside || worker.serves(origin)
            let servers = worker.servers
            let isLimited = servers.limits[origin]?.limit != nil
            return servers.forbidding[origin, default: .init()].mayPass(
                refusals, isBeside: isBeside, isLimited: isLimited)
        }
    }
}
