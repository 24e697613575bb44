import Assembler

/// The URL whose version of the file is put together, with what it offers.
struct Primary: Sendable {
    /// Which of the URLs it is, counted from 0.
    var number = 0
    var probe: Probe
    var finding: Probe.Finding
}

/// Asks a server what it offers, and holds the answer against the limit of size.
///
/// Tells every answer.
struct Inquiry: Sendable {
    let job: DownloadJob
    let report: @Sendable (DownloadEvent) -> Void

    /// What bounds the tries before the first byte.
    var beginning: Probe.Beginning {
        Probe.Beginning(contact: FirstContact(isBounded: !job.options.areRetriesGiven)) { [job] in
            await job.isContinued()
        }
    }

    /// Probes, and reports what was found.
    ///
    /// - Parameters:
    ///   - probe: What asks.
    ///   - byGet: Whether `HEAD` is skipped.
    ///   - range: What `GET` asks for; `nil` for the whole file.
    ///   - head: What was found just before, and may be no more than a hint.
    ///   - before: What was found before that may have changed since.
    /// - Returns: What was found; a body may wait.
    /// - Throws: Why the file cannot be had.
    func find(
        _ probe: Probe, byGet: Bool, range: ByteRange? = Probe.firstRange,
        after head: Probe.Finding? = nil, again before: Probe.Finding? = nil
    ) async throws(DownloadError.Reason) -> Probe.Finding {
        var probe = probe
        if let head, !head.isProven { probe.said = head.file.identity }
        if let known = head ?? before { probe.asksHead = !known.file.identity.headOnly.isEmpty }
        var finding = try await probe.run(byGet: byGet, range: range)
        if let before, before.isStatedByHead, before.file.identity == finding.file.identity {
            finding.isStatedByHead = true
        }
        report(.probed(finding.file))
        if job.isTooLarge(finding.file), !finding.isProven {
            // `HEAD` is a hint: a `GET` is to say the same.
            return try await find(probe, byGet: true, range: Probe.firstByte, after: finding)
        }
        try job.checkSize(of: finding.file)
        return finding
    }

    /// Has a `GET` say what is offered: what was found before may be no more than a hint.
    func prove(_ primary: Primary) async throws(DownloadError.Reason) -> Probe.Finding {
        try await find(
            primary.probe, byGet: true, range: Probe.firstByte, after: primary.finding)
    }

    /// Refuses a file that is larger than it may be; what a `HEAD` says has to be said by a `GET`.
    ///
    /// - Throws: `tooLarge`, or why there is no answer.
    func checkSize(_ primary: inout Primary) async throws(DownloadError.Reason) {
        guard job.isTooLarge(primary.finding.file) else { return }
        if !primary.finding.isProven { primary.finding = try await prove(primary) }
        try job.checkSize(of: primary.finding.file)
    }

    /// Makes a conditional request (RFC 9110 §13.1.2, §13.1.3), and hears whether the answer is 304.
    func isUnmodified(
        _ file: Plan.StandingFacts, _ probe: Probe
    ) async throws(DownloadError.Reason) -> Bool {
        let header = file.header(for: probe.url.text, probe.url.redacted)
        let date = header?.lastModified ?? httpDate(secondsSince1970: file.modified)
        let seconds = secondsSince1970(httpDate: date) ?? file.modified
        var conditions: [String] = []
        // What proves nothing is the same for another file, and so is the answer to it.
        if !RemoteIdentity.isPlaceholder(date: seconds) {
            conditions.append("If-Modified-Since: \(date)")
        }
        if let etag = header?.identity.wellFormedETag,
            !RemoteIdentity.isBlank(etag: etag, size: header?.size ?? file.size, date: seconds)
        {
            conditions.append("If-None-Match: \(etag)")
        }
        // What stands on the disk must not smuggle anything into a request.
        conditions.removeAll { (try? DownloadOptions.check(header: $0)) == nil }
        guard !conditions.isEmpty else { return false }
        let landing = try await probe.follow(
            .get, range: Probe.firstByte, conditions: conditions)
        return landing.exchange.reply?.status == 304
    }
}

extension Plan.Offer {
    /// What a server offers, as it was found; `isWhole` when its reply has brought all bytes.
    init(_ primary: Primary, isWhole: Bool = false) {
        let (finding, url) = (primary.finding, primary.probe.url)
        self.init(
            identity: finding.file.identity, modified: finding.modified,
            isProven: finding.isProven, isWhole: isWhole,
            servesRanges: finding.file.transfer == .segments, digests: finding.file.digests,
            fullURL: url.text, url: url.redacted)
    }
}

extension DownloadJob {
    /// The place of the part that an earlier run has begun for one of the URLs that were given, where the
    /// name is the server's to say; `nil` when there is none.
    func begunTarget() async -> FileTarget? {
        guard case .folder(let given) = destination, options.resume else { return nil }
        let (path, urls, parts) = (FileTarget.folder(given), urls, parts)
        return await offLoop("disk") {
            guard let folder = try? Folder(path) else { return nil }
            func isOurs(_ name: String) -> Bool {
                guard let header = folder.header(of: name) else { return false }
                return urls.contains { header.belongs(to: $0.text) }
            }
            let name =
                parts.candidates(in: path, for: urls).first(where: isOurs)
                ?? folder.finishedNames().first(where: isOurs)
            return name.map { FileTarget(folder: path, name: $0) }
        }
    }

    /// Whether a part of the file may be there that an earlier run has left.
    func isContinued() async -> Bool {
        guard options.resume else { return false }
        guard !isRepair else { return true }
        return await begunPart() != nil
    }

    /// What an earlier run has written down of the part that is continued; `nil` where none may be.
    ///
    /// Where the name is the server's to say, any part in the folder counts that was begun for the URL.
    func begunPart() async -> Manifest.Header? {
        guard options.resume else { return nil }
        let (urls, parts) = (urls, parts)
        switch destination {
        case .descriptor, .null: return nil
        case .file(let path):
            let target = FileTarget(path: path)
            return await offLoop("disk") {
                Assembly.bytesRecorded(folder: target.folder, name: target.name) > 0
                    ? Assembly.headerRecorded(folder: target.folder, name: target.name) : nil
            }
        case .folder(let path):
            let path = FileTarget.folder(path)
            return await offLoop("disk") {
                guard let folder = try? Folder(path) else { return nil }
                for name in parts.candidates(in: path, for: urls) {
                    guard let header = folder.header(of: name),
                        // Another query may be a fresh signature.
                        urls.contains(where: {
                            header.url == $0.redacted || header.belongs(to: $0.text)
                        }), Assembly.bytesRecorded(folder: path, name: name) > 0
                    else { continue }
                    return header
                }
                return nil
            }
        }
    }
}
