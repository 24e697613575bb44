import Assembler
import Glibc

// What stands at the destination already, and whether anything needs to be fetched.
extension DownloadRun {
    /// A file that stands at the destination, until the server has said what it offers.
    enum Standing: Sendable {
        /// An earlier run wrote down which version it is.
        case known(StandingFile)
        /// It is compared by its time; `isConfirmed`: the server said that it was not modified.
        case dated(StandingFile, isConfirmed: Bool)
        /// Some of it is damaged.
        case damaged(RepairPlan)
        /// A repair was begun, and the whole file is to have these digests.
        case begun(required: [Digest])
    }

    /// What was found on the disk, before anything was asked of the server.
    enum Found: Sendable {
        /// Nothing is in the way.
        case free
        /// An earlier run's publishing was finished.
        case published(PublishedFile)
        /// The file is complete.
        case complete(path: String, size: Int64, crc32: UInt32, verified: [Digest])
        /// The server has to say more.
        case standing(Standing)
        /// The file has not the digest that is expected; it may be replaced or not.
        case wrong(FinishedDoubt, path: String, mayReplace: Bool)
        /// It cannot be repaired.
        case unrepairable(RepairObstacle)
    }

    /// What is to be done before anything is asked of the server: finish what a crash left almost
    /// done, and refuse a destination that may not be replaced.
    func before(
        _ state: inout DownloadState, _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard let target = state.target else { return nil }
        let (options, isRepair, urls) = (job.options, job.isRepair, job.urls)
        let found = try await Disk.runUntilCancelled {
            [folders] (isCancelled: () -> Bool) throws(AssemblyError) -> Found? in
            if try folders.parent(ofMissing: target.folder) != nil { return .free }
            // Whoever does not want to resume does not want an earlier run's file either.
            if options.resume {
                for url in urls {
                    let file = try Publishing.recover(
                        folder: target.folder, name: target.name, fullURL: url.text,
                        checksum: options.checksum, keepManifest: options.files.keepManifest,
                        isCancelled: isCancelled)
                    if let file { return .published(file) }
                }
            }
            return isRepair
                ? try Self.survey(target, options, isCancelled)
                : try Self.look(at: target, options, isCancelled)
        }
        return try take(found, &state, started)
    }

    /// Finds out what of the file is damaged.
    static func survey(
        _ target: FileTarget, _ options: DownloadOptions, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> Found? {
        let finding = try RepairPlan.survey(
            folder: target.folder, name: target.name, isCancelled: isCancelled)
        switch finding {
        case nil: return nil
        case .noManifest(let isFileThere)?:
            return .unrepairable(.noManifest(isFileThere: isFileThere))
        case .part(let manifest)?: return .standing(.begun(required: manifest.header.required))
        case .damaged(let plan)?: return .standing(.damaged(plan))
        case .intact(let facts, let file)?:
            let expected = options.checksum
            let wanted = expected ?? facts.digests.first ?? Digest(crc32: 0)
            guard let found = file.digest(like: wanted, isCancelled: isCancelled) else {
                guard !isCancelled() else { return nil }
                throw .io(operation: "pread", path: file.path, errno: EIO)
            }
            if let expected, found.digest != expected {
                return .unrepairable(.otherDigest(expected: expected, actual: found.digest))
            }
            return .complete(
                path: file.path, size: file.status.size, crc32: found.crc32,
                verified: facts.digests.filter { $0.algorithm != .crc32 && $0 != expected }
                    + [expected].compactMap { $0 })
        }
    }

    /// Looks at what stands at the destination of a download.
    static func look(
        at target: FileTarget, _ options: DownloadOptions, _ isCancelled: () -> Bool
    ) throws(AssemblyError) -> Found? {
        let byTime = options.files.timestamping
        let file =
            options.overwrite && !byTime
            ? nil : try StandingFile.open(folder: target.folder, name: target.name)
        guard let file else {
            try Assembly.checkDestination(
                folder: target.folder, name: target.name, overwrite: options.overwrite)
            return .free
        }
        if let expected = options.checksum {
            guard let found = file.digest(like: expected, isCancelled: isCancelled) else {
                guard !isCancelled() else { return nil }
                throw .destinationExists(path: file.path)
            }
            guard found.digest == expected else {
                return .wrong(
                    .otherDigest(expected: expected, actual: found.digest), path: file.path,
                    mayReplace: byTime)
            }
            return .complete(
                path: file.path, size: file.status.size, crc32: found.crc32, verified: [expected])
        }
        guard !byTime else { return .standing(.dated(file, isConfirmed: false)) }
        guard file.facts != nil else { throw .destinationExists(path: file.path) }
        return .standing(.known(file))
    }

    /// Acts on what was found on the disk.
    ///
    /// - Returns: The file, when there is nothing left to do.
    func take(
        _ found: Found, _ state: inout DownloadState, _ started: Double
    ) throws(DownloadError.Reason) -> DownloadedFile? {
        switch found {
        case .free: return nil
        case .published(let file):
            return DownloadedFile(
                path: file.path, size: file.size, crc32: file.crc32, verified: file.verified,
                bytesReceived: 0, bytesResumed: file.size, seconds: monotonicSeconds() - started)
        case .complete(let path, let size, let crc, let verified):
            return DownloadedFile(
                path: path, size: size, crc32: crc, verified: verified, bytesReceived: 0,
                bytesResumed: 0, seconds: monotonicSeconds() - started,
                unchanged: .alreadyComplete)
        case .standing(let standing):
            state.standing = standing
            return nil
        case .wrong(let doubt, let path, let mayReplace):
            report(.notice(.notFinished(doubt)))
            guard mayReplace else { throw .assembly(.destinationExists(path: path)) }
            state.mayReplace = true
            return nil
        case .unrepairable(let obstacle): throw .unrepairable(obstacle)
        }
    }

    /// Compares what stands at the destination with what the server offers.
    ///
    /// - Returns: The file, when nothing needs to be fetched.
    func settle(
        _ primary: inout Primary, _ state: inout DownloadState, _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        switch state.standing {
        case .known(let file)?:
            return try await settle(file, &primary, started)
        case .dated(let file, let isConfirmed)?:
            if try await isKept(file, isConfirmed: isConfirmed, primary.finding, primary.probe) {
                return notNewer(file, started)
            }
            state.mayReplace = true
            return nil
        case .damaged?, .begun?, nil: return nil
        }
    }

    private func settle(
        _ file: StandingFile, _ primary: inout Primary, _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard let facts = file.facts else { return nil }
        let (url, urls) = (primary.probe.url, job.urls)
        func decision(_ finding: Probe.Finding) -> FinishedDecision {
            FinishedDecision(
                facts, size: file.status.size, offered: finding.file.identity, fullURL: url.text,
                url: url.redacted, otherURLs: urls.map(\.text))
        }
        var decided = decision(primary.finding)
        if decided != .same, !primary.finding.isProven {
            // `HEAD` is a hint: some servers leave out there what tells the version.
            primary.finding = try await inquiry.prove(primary)
            decided = decision(primary.finding)
        }
        var isSampled = false
        if decided != .same, file.status.size == facts.size,
            facts.header.isFor(fullURL: url.text),
            facts.header.identity.isDoubted(by: primary.finding.file.identity)
        {
            isSampled = try await primary.agrees(with: file)
            if isSampled { decided = .same }
        }
        var doubt = FinishedDoubt.damaged
        switch decided {
        case .doubtful(let reason): doubt = reason
        case .same:
            let found = try await Disk.runUntilCancelled {
                (isCancelled: () -> Bool) throws(AssemblyError) -> Found? in
                if let check = file.check(isCancelled: isCancelled) {
                    return .complete(
                        path: file.path, size: file.status.size, crc32: check.crc32,
                        verified: check.verified)
                }
                return isCancelled() ? nil : .free
            }
            var none = DownloadState(job)
            if var file = try take(found, &none, started) {
                file.isSampled = isSampled
                return file
            }
        }
        report(.notice(.notFinished(doubt)))
        throw .assembly(.destinationExists(path: file.path))
    }
}

// MARK: - Timestamping

extension DownloadRun {
    /// Asks, before anything else, whether the remote file is newer.
    ///
    /// - Returns: The file, when that is all that need be asked.
    func settleByTime(
        _ probe: Probe, _ state: inout DownloadState, _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard case .dated(let file, _)? = state.standing else { return nil }
        guard try await isUnmodified(file, probe) else { return nil }
        // What was downloaded and has the same size still need not be compared by it.
        if known(file, probe) != nil { return notNewer(file, started) }
        state.standing = .dated(file, isConfirmed: true)
        return nil
    }

    /// Whether the file is left as it is.
    private func isKept(
        _ file: StandingFile, isConfirmed: Bool, _ finding: Probe.Finding, _ probe: Probe
    ) async throws(DownloadError.Reason) -> Bool {
        let offered = finding.file.identity
        let decision = TimestampDecision(
            size: file.status.size, time: file.status.modified, known: known(file, probe)?.identity,
            offered: offered, modified: finding.modified)
        guard decision == .fetch else { return true }
        guard (offered.size ?? file.status.size) == file.status.size else { return false }
        if isConfirmed { return true }
        // The last word before anything is replaced.
        return try await isUnmodified(file, probe)
    }

    /// What an earlier run wrote down about the file, when it is about this URL and fits its size.
    private func known(_ file: StandingFile, _ probe: Probe) -> Manifest.Header? {
        guard let facts = file.facts, facts.size == file.status.size,
            facts.header.isFor(fullURL: probe.url.text)
                || (facts.header.url == probe.url.redacted
                    && facts.header.identity.strongETag != nil)
        else { return nil }
        return facts.header
    }

    /// Makes a conditional request (RFC 9110 §13.1.2, §13.1.3), and hears whether the answer is 304.
    private func isUnmodified(
        _ file: StandingFile, _ probe: Probe
    ) async throws(DownloadError.Reason) -> Bool {
        let header = known(file, probe)
        let date = header?.lastModified ?? httpDate(secondsSince1970: file.status.modified)
        var conditions = ["If-Modified-Since: \(date)"]
        if let etag = header?.identity.wellFormedETag {
            conditions.append("If-None-Match: \(etag)")
        }
        // What stands on the disk must not smuggle anything into a request.
        conditions.removeAll { (try? DownloadOptions.check(header: $0)) == nil }
        let landing = try await probe.follow(
            .get, range: Probe.firstByte, conditions: conditions)
        return landing.exchange.reply?.status == 304
    }

    private func notNewer(_ file: StandingFile, _ started: Double) -> DownloadedFile {
        DownloadedFile(
            path: file.path, size: file.status.size, crc32: nil, verified: [], bytesReceived: 0,
            bytesResumed: 0, seconds: monotonicSeconds() - started, unchanged: .notNewer)
    }
}

/// A time as HTTP writes it (IMF-fixdate, RFC 9110 §5.6.7).
func httpDate(secondsSince1970 time: Int64) -> String {
    var seconds = time_t(time)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    // Not strftime: its names depend on the locale.
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    func digits(_ number: Int32, _ count: Int) -> String {
        let text = "\(number)"
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    return "\(days[Int(parts.tm_wday)]), \(digits(parts.tm_mday, 2)) \(months[Int(parts.tm_mon)])"
        + " \(digits(1900 + parts.tm_year, 4)) \(digits(parts.tm_hour, 2)):"
        + "\(digits(parts.tm_min, 2)):\(digits(parts.tm_sec, 2)) GMT"
}
