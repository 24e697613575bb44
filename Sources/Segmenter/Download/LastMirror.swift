import Assembler
import SegmenterRules
import SegmenterTransport

// The server of the run before, if a redirect leads to another one now.
extension DownloadWork {
    /// Returns what the server of the run before offers, if it has the file that the present one states, by
    /// size and date; `nil` if it is not used.
    ///
    /// Its tags are comparable with those of the part; those of the present server are not. It receives nothing
    /// that is meant for the URL's origin (`Connecting.permitted`). If a digest decides, any server will do.
    func findingAtEarlierServer() async -> Probe.Finding? {
        guard job.options.resume, let header = begunHeader,
            header.isFor(fullURL: primary.probe.url.text),
            let mirror = header.mirror.flatMap({ WebURL($0, relativeTo: primary.probe.url) }),
            !mirror.isDowngraded || job.options.access.allowsDowngrade,
            let found = await primary.probe.at(mirror).stands(
                primary.finding.file.identity, from: primary.finding.file)
        else { return nil }
        let obstacle = header.identity.obstacle(toContinuingWith: found.file.identity)
        return obstacle == nil || header.isSampled == true ? found : nil
    }
}

extension Probe {
    /// The longest time, in seconds, to connect, and to wait for the response.
    private static let mirrorPatience = 10.0

    /// Asks once whether the server has the same file.
    ///
    /// - Parameters:
    ///   - identity: The version that another server states.
    ///   - other: What else that one states, which stays as it is.
    /// - Returns: What is found; `nil` without a response, or if size or date differ.
    fileprivate func stands(
        _ identity: RemoteIdentity, from other: RemoteFile
    ) async -> Finding? {
        var bound = connecting
        bound.bound(by: Self.mirrorPatience)
        let chain = RedirectChain(
            loop: loop, connecting: bound, report: { _ in }, range: Self.firstByte)
        var asking = Asking(range: Self.firstByte)
        guard var landing = try? await chain.follow(from: url), landing.url.origin == url.origin,
            let reply = landing.exchange.reply, [200, 206].contains(reply.status)
        else { return nil }
        // The head is enough.
        landing.exchange.paused = nil
        guard var found = try? accept(landing, reply, &asking), found.file.transfer == .segments,
            let date = identity.lastModified, found.file.identity.lastModified == date,
            found.file.size != nil, found.file.size == identity.size
        else { return nil }
        found = found.released
        found.file.url = other.url
        found.file.redirects = other.redirects
        found.file.suggestedName = other.suggestedName
        return found
    }
}

extension Probe.Finding {
    /// The end of the redirects, if they led to another server than that of the URL.
    func landing(from url: WebURL) -> LandingPlace? {
        guard effective.origin != url.origin else { return nil }
        return LandingPlace(
            url: effective.redacted, hasQuery: effective.text != effective.redacted)
    }
}
