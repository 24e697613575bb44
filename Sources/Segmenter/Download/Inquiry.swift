import Assembler
import SegmenterRules
import SegmenterTransport

/// The URL whose version of the file is downloaded, with what it offers.
struct Primary: Sendable {
    /// The number of the URL in the caller's order, from 0.
    var number = 0
    var probe: Probe
    var finding: Probe.Finding
}

/// Asks a server what it offers, and checks the limit of the file's size.
///
/// Reports every finding.
struct Inquiry: Sendable {
    let job: DownloadJob
    let report: @Sendable (DownloadEvent) -> Void

    /// The bounds on the attempts before the first byte.
    var beginning: Probe.Beginning {
        Probe.Beginning(contact: FirstContact(isBounded: !job.options.areRetriesGiven)) { [job] in
            await job.isContinued()
        }
    }

    /// Probes a URL, and reports the finding.
    ///
    /// - Parameters:
    ///   - probe: The probe of the URL.
    ///   - byGet: Whether `HEAD` is omitted.
    ///   - range: The range that `GET` requests; `nil` for the whole file.
    ///   - head: The finding of a request just before, which may be from a `HEAD` alone.
    ///   - before: An earlier finding, after which the file may have changed.
    /// - Returns: The finding. The caller takes or drops the body if one is paused.
    /// - Throws: `tooLarge`, or the reason why the file cannot be downloaded.
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
            // A `HEAD` is only a hint: a `GET` has to state the same size.
            return try await find(probe, byGet: true, range: Probe.firstByte, after: finding)
        }
        try job.checkSize(of: finding.file)
        return finding
    }

    /// Returns the finding of a `GET`, because the earlier one may be from a `HEAD` alone.
    func prove(_ primary: Primary) async throws(DownloadError.Reason) -> Probe.Finding {
        try await find(
            primary.probe, byGet: true, range: Probe.firstByte, after: primary.finding)
    }

    /// Throws if the file is larger than the limit; a `GET` has to confirm a size that a `HEAD`
    /// stated.
    ///
    /// - Throws: `tooLarge`, or the reason why there is no answer.
    func checkSize(_ primary: inout Primary) async throws(DownloadError.Reason) {
        guard job.isTooLarge(primary.finding.file) else { return }
        if !primary.finding.isProven { primary.finding = try await prove(primary) }
        try job.checkSize(of: primary.finding.file)
    }

    /// Sends a conditional request (RFC 9110 §13.1.2, §13.1.3), and returns whether the status is
    /// 304.
    func isUnmodified(
        _ file: Preparation.StandingFacts, _ probe: Probe
    ) async throws(DownloadError.Reason) -> Bool {
        let header = file.header(for: probe.url.text, probe.url.redacted)
        let date = header?.lastModified ?? httpDate(secondsSince1970: file.modified)
        let seconds = secondsSince1970(httpDate: date) ?? file.modified
        var conditions: [String] = []
        // A placeholder may be the same for another file: a 304 would prove nothing.
        if !RemoteIdentity.isPlaceholder(date: seconds) {
            conditions.append("If-Modified-Since: \(date)")
        }
        if let etag = header?.identity.wellFormedETag,
            !RemoteIdentity.isBlank(etag: etag, size: header?.size ?? file.size, date: seconds)
        {
            conditions.append("If-None-Match: \(etag)")
        }
        // The values are from the disk, and must not add fields to the request.
        conditions.removeAll { (try? DownloadOptions.check(header: $0)) == nil }
        guard !conditions.isEmpty else { return false }
        let landing = try await probe.follow(
            .get, range: Probe.firstByte, conditions: conditions)
        return landing.exchange.reply?.status == 304
    }
}

extension Preparation.Offer {
    /// Describes the offer of a primary; `isWhole`: its response has delivered all bytes.
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
    /// Returns where an earlier run has begun or finished the file, if the server chooses the name.
    ///
    /// Considers all URLs that the caller gave. `nil` if there is no such part or file.
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

    /// Returns whether a part of an earlier run may exist.
    func isContinued() async -> Bool {
        guard options.resume else { return false }
        guard !isRepair else { return true }
        return await begunPart() != nil
    }

    /// Returns the manifest's header of the part that is resumed; `nil` if there is none.
    ///
    /// If the server chooses the name, any part in the folder counts that was begun for one of the
    /// URLs.
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
                        // Another query may be a newer signature of the same link.
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
