import SegmenterTransport
public import SegmenterValues

extension DownloadSession {
    /// Lists files of a repository on the Hugging Face Hub, all of one commit.
    ///
    /// - Parameters:
    ///   - address: The repository, and the files of it.
    ///   - access: The server and the token.
    ///   - options: The options of the requests.
    ///   - report: Receives notices, such as that a request is repeated; called on any thread.
    /// - Returns: The listing, of the kind `hub`.
    /// - Throws: `HubError`.
    public func listing(
        of address: HubAddress, from access: HubAccess,
        options: DownloadOptions = DownloadOptions(),
        report: @escaping @Sendable (DownloadNotice) -> Void = { _ in }
    ) async throws(HubError) -> Listing {
        try await repository(at: address, from: access, options: options, report: report).listing
    }

    /// Lists files of a repository on the Hub, and all of them if the address means the repository.
    ///
    /// - Parameters:
    ///   - address: The repository, and the files of it.
    ///   - access: The server and the token.
    ///   - options: The options of the requests.
    ///   - found: Called after each page of the list with the number of files so far, on any thread.
    ///   - report: Receives notices; called on any thread.
    /// - Returns: The listing; and the list of all files, `nil` if only some were listed.
    /// - Throws: `HubError`.
    package func repository(
        at address: HubAddress, from access: HubAccess, options: DownloadOptions,
        found: @escaping @Sendable (Int) -> Void = { _ in },
        report: @escaping @Sendable (DownloadNotice) -> Void = { _ in }
    ) async throws(HubError) -> (listing: Listing, tree: HubTree?) {
        let loop = loop
        var lister = HubLister(address: address, access: access) {
            (url) async throws(HubError) -> (reply: Reply, body: [UInt8]) in
            var options = options
            options.access = access.permit(options.access, at: url.text)
            let run = DownloadRun(
                loop: loop, urlText: url.text, url: url, destination: .folder("."),
                options: options
            ) { if case .notice(let notice) = $0 { report(notice) } }
            do throws(DownloadError.Reason) {
                var probe = try run.makeProbe()
                probe.beginning = run.inquiry.beginning
                return try await probe.document(most: HubLister.longest)
            } catch {
                guard error != .contract(.bodyTooLong) else {
                    throw .unusable(url: url.redacted, .tooLong)
                }
                throw .request(
                    DownloadError(reason: error, url: url.redacted, path: nil, bytesKept: 0))
            }
        }
        lister.found = found
        return try await lister()
    }
}

extension HubAccess {
    /// Adds the token to access options, unless the caller has set credentials or the URL must not
    /// get it.
    package func permit(_ access: AccessOptions, at url: String) -> AccessOptions {
        guard access.bearerToken == nil, access.credentials == nil, let token = token(for: url)
        else { return access }
        var access = access
        access.bearerToken = token
        // The caller did not give this token, and so did not mean it for other origins.
        access.crossesOrigins = false
        return access
    }
}

extension Probe {
    /// Requests the URL, and returns the final response with its whole body.
    ///
    /// Statuses that may be temporary are retried. Others are returned, without their bodies.
    ///
    /// - Parameter most: The longest body in bytes.
    /// - Returns: The response, and its body if the status is 200.
    /// - Throws: The reason why there is no response; `contract(.bodyTooLong)`.
    func document(
        most: Int
    ) async throws(DownloadError.Reason) -> (reply: Reply, body: [UInt8]) {
        try await persist(with: .first(beginning, isMute: false)) {
            (before) async throws(DownloadError.Reason) -> Attempt<(reply: Reply, body: [UInt8])> in
            let landing = try await follow(
                .get, range: nil, isBroken: before.isBroken, turn: before.turn)
            guard let reply = landing.exchange.reply else { return .failed(landing) }
            guard reply.status == 200 else {
                return isTransient(reply.status) ? .failed(landing) : .answered((reply, []))
            }
            before.served(landing.url)
            guard let paused = landing.exchange.paused else {
                return .answered((reply, landing.exchange.body))
            }
            let (bytes, end) = await loop.read(paused, most: most)
            switch end {
            case .complete: return .answered((reply, bytes))
            case .cancelled: throw .cancelled
            case .failed(.breach(.bodyTooLong)): throw .contract(.bodyTooLong)
            case .failed(let failure): return .failed(landing, failure)
            default: return .failed(landing)
            }
        }
    }
}
