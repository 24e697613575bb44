import Assembler

// Where a URL led in the run before, when a redirect leads to another server now.
extension DownloadRun {
    /// Goes back to the server of the run before where the URL leads to another one now, and that server has
    /// the file that the other one states, by size and date.
    ///
    /// Its tags compare with those of the part, and those of the other server do not. Nothing that is meant
    /// for the URL's origin goes there (`Connecting.permitted`). Where a digest decides, any server will do.
    func leadBack(
        _ primary: inout Primary, _ state: DownloadState
    ) async throws(DownloadError.Reason) {
        guard !primary.probe.asksOnce, let target = state.target, state.plan.missingFolder == nil,
            job.options.resume,
            let header = Assembly.headerRecorded(folder: target.folder, name: target.name),
            header.isFor(fullURL: primary.probe.url.text),
            header.isSameServer(primary.finding.landing(from: primary.probe.url)) == .no,
            try DownloadState.loss(state.request(primary)) != nil,
            let mirror = header.mirror.flatMap({ WebURL($0, relativeTo: primary.probe.url) }),
            !mirror.isDowngraded || job.options.access.allowsDowngrade,
            let found = await primary.probe.at(mirror).stands(
                primary.finding.file.identity, from: primary.finding.file)
        else { return }
        let begun = header.identity
        guard
            begun.obstacle(toContinuingWith: found.file.identity) == nil
                || header.isSampled == true
        else { return }
        primary.finding = found
    }
}

extension Probe {
    /// Most seconds that it may take to connect, and to wait for the answer.
    private static let mirrorPatience = 10.0

    /// Asks once, whether the same file is here.
    ///
    /// - Parameters:
    ///   - identity: What another server states.
    ///   - other: What else that one says, which stays as it is.
    /// - Returns: What is found; `nil` without an answer, or where size or date differ.
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
    /// Where redirects have led, if to another server than that of the URL.
    func landing(from url: WebURL) -> LandingPlace? {
        guard effective.origin != url.origin else { return nil }
        return LandingPlace(
            url: effective.redacted, hasQuery: effective.text != effective.redacted)
    }
}
