import Assembler
import SegmenterRules
import SegmenterTransport

/// The URLs of a file that has several: the primary, the mirrors that help, and the next primary.
struct MirrorSet: Sendable {
    let book: MirrorBook
    private let checksum: Digest?
    private let report: @Sendable (DownloadEvent) -> Void
    /// The bytes that each URL has delivered.
    private(set) var ledger = MirrorLedger()
    /// The URLs that were used alone for the whole file.
    private var tried: Set<Int> = []
    /// The repair that follows if the file's digest is wrong; `nil` if the download then ends.
    private(set) var repair: MirrorRepair?
    /// The bytes on the disk that the next attempt may keep; `nil` for all.
    private(set) var keeps: RangeSet?
    /// Digests that a primary advertised for the file although the downloaded bytes do not match.
    private(set) var promised: [Digest] = []

    /// The retries of a mirror's probe; there are few because other URLs remain.
    private static let retries = 2
    /// How long the first answer of a mirror waits for the URL given first, in seconds.
    private static let grace = 1.0

    /// Starts to probe all URLs of a file; `nil` if there is only one.
    ///
    /// - Parameters:
    ///   - inquiry: The download, and the receiver of its events.
    ///   - probe: The probe of the URL given first.
    /// - Throws: `invalidURL`, `foreignURL`.
    init?(_ inquiry: Inquiry, _ probe: Probe) throws(DownloadError.Reason) {
        let options = inquiry.job.options
        var probes = [probe]
        for text in options.mirrors {
            let url = try DownloadJob.usable(WebURL(text), text)
            guard !probes.contains(where: { $0.url.text == url.text }) else { continue }
            probes.append(
                Probe(
                    loop: probe.loop, url: url, connecting: probe.connecting.forMirror(url),
                    policy: RetryPolicy(
                        retries: min(Self.retries, options.retries),
                        least: options.retryWait.inSeconds),
                    report: { _ in }, spreads: probe.spreads))
        }
        guard probes.count > 1 else { return nil }
        checksum = options.checksum
        report = inquiry.report
        book = MirrorBook(
            probes, checksum: options.checksum, beginning: inquiry.beginning, loop: probe.loop
        ) { [report = inquiry.report] in report(.notice($0)) }
    }

    private var isAlone: Bool { !tried.isEmpty }

    /// Adds the effect of the other URLs on the part to a request.
    func amend(_ request: inout Assembly.Request) {
        for digest in promised where !request.advertised.contains(digest) {
            request.advertised.append(digest)
        }
        request.mirroring.otherURLs = book.probes.map(\.url.text)
        request.mirroring.isHeldByChecksum = MirrorAgreement.canDecide(checksum)
        request.mirroring.keeps = keeps
        // A later run has to verify the digests for which mirrors joined, even if no server states
        // them.
        if !request.mirroring.isHeldByChecksum { request.required += request.advertised }
    }

    /// Records that a part is open, without the bytes that were to be discarded.
    mutating func opened(_ output: any Output) {
        keeps = nil
        if output.bytesKept == 0 { ledger.keepOnly(nil) }
    }

    /// Takes a fetch's record of its mirrors.
    mutating func take(_ later: MirrorLedger) {
        ledger.add(later)
        for (number, fault) in later.faults { book.note(number, fault) }
    }

    /// Prepares the repair that follows if the complete file of `size` bytes has the wrong digest.
    mutating func prepareRepair(size: Int64) {
        repair = MirrorRepair(
            candidates: book.possible, wrote: ledger.wrote, tried: tried, size: size)
    }

    // MARK: The primary URL

    /// Returns the next primary URL, of those that are not dropped.
    ///
    /// The URL given first is the primary if it answers in time. Otherwise the first one that
    /// answers is, unless its version would discard an earlier run's part.
    ///
    /// - Parameter loses: Returns whether a primary would discard that part.
    /// - Returns: The URL, with what it offers.
    /// - Throws: The reason for which the first dropped URL was dropped, if none remains;
    ///   `cancelled`.
    func next(
        unless loses: @Sendable (Primary) throws(DownloadError.Reason) -> Bool
    ) async throws(DownloadError.Reason) -> Primary {
        var found: [Primary] = []
        // Whether the time of the URL given first is over.
        var isOpen = !book.usable.contains(0)
        for await event in book.answers(grace: Self.grace) {
            switch event {
            case .late: isOpen = true
            case .answer(_, .failure(.cancelled)): continue
            case .answer(let number, .failure(let reason)):
                book.drop(number, .failed(reason))
                isOpen = isOpen || number == 0
            case .answer(let number, .success(let finding)):
                let primary = Primary(number: number, probe: book.probes[number], finding: finding)
                if isAcceptable(primary) {
                    if number == 0 { return taken(primary) }
                    found.append(primary)
                } else if number == 0 {
                    isOpen = true
                }
            }
            guard isOpen else { continue }
            for primary in found where try !loses(primary) { return taken(primary) }
        }
        if Task.isCancelled { throw .cancelled }
        guard let primary = found.min(by: { $0.number < $1.number }) else {
            throw book.firstReason ?? .transfer(.network(code: 0, message: ""), attempts: 1)
        }
        return taken(primary)
    }

    /// Returns whether the advertised digests permit that a URL has the requested file.
    private func isAcceptable(_ primary: Primary) -> Bool {
        let fault = MirrorAgreement.contradiction(
            in: primary.finding.file.digests, to: [checksum].compactMap { $0 })
        if let fault { book.drop(primary.number, fault) }
        return fault == nil
    }

    private func taken(_ primary: Primary) -> Primary {
        report(.probed(primary.finding.file))
        if primary.number > 0 { report(.notice(.mirrorIsPrimary(url: primary.probe.url.redacted))) }
        return primary
    }

    /// Returns the primary after a failed attempt.
    ///
    /// - Parameters:
    ///   - primary: The previous primary.
    ///   - reason: The failure.
    ///   - attempts: The results of the previous server, which do not apply to another one.
    ///   - kept: The number of bytes of the file on the disk.
    /// - Returns: The URL that continues alone; `nil` if ``next(unless:)`` chooses the primary.
    /// - Throws: The failure, if no URL remains.
    mutating func successor(
        of primary: Primary, after reason: DownloadError.Reason, _ attempts: inout Attempts,
        kept: Int64
    ) async throws(DownloadError.Reason) -> Primary? {
        if case .assembly(.digestMismatch) = reason, let repair {
            return try await alone(repair, after: primary, &attempts, kept: kept)
        }
        guard reason.isOfServer else { throw reason }
        if book.usable.contains(primary.number) { book.drop(primary.number, .failed(reason)) }
        attempts.turnToAnotherServer()
        if isAlone || book.usable.isEmpty {
            // A part that may still be completed is not discarded for a server with other data,
            // because there is no evidence that its bytes are wrong.
            if !isAlone, reason.mayPass, kept > 0 { throw reason }
            // A mirror that differed from the others may have the right file.
            let next = MirrorRepair(
                candidates: book.possible, wrote: ledger.wrote, tried: tried, size: .max)
            guard let next else { throw book.firstReason ?? reason }
            return try await alone(next, after: primary, &attempts, kept: kept)
        }
        return nil
    }

    /// Uses one mirror alone for all bytes that it has not delivered yet.
    private mutating func alone(
        _ repair: MirrorRepair, after primary: Primary, _ attempts: inout Attempts, kept: Int64
    ) async throws(DownloadError.Reason) -> Primary? {
        for (number, wrote) in ledger.wrote.sorted(by: { $0.key < $1.key })
        where number != repair.number && !wrote.isEmpty {
            let isSole = ledger.wrote.values.filter { !$0.isEmpty }.count == 1
            let isAll = isSole && wrote.count == primary.finding.file.size
            book.drop(number, isAll ? .wrongDigest : .doubted(bytes: wrote.count))
        }
        if checksum == nil {
            for digest in primary.finding.file.digests where !promised.contains(digest) {
                promised.append(digest)
            }
        }
        attempts.turnToAnotherServer()
        tried.insert(repair.number)
        self.repair = nil
        ledger.keepOnly(repair.number)
        keeps = repair.keeps
        if repair.keeps.isEmpty { attempts.startOver(because: .mirrorsDiffer) }
        book.restore(repair.number)
        let probe = book.probes[repair.number]
        do throws(DownloadError.Reason) {
            let finding = try await probe.run(byGet: true, range: Probe.firstByte).released
            return taken(Primary(number: repair.number, probe: probe, finding: finding))
        } catch {
            let failed = Primary(
                number: repair.number, probe: probe, finding: primary.finding.released)
            return try await successor(of: failed, after: error, &attempts, kept: kept)
        }
    }

    // MARK: Mirrors that help

    /// Probes every other URL, and calls `join` for those that have the same file.
    func gather(
        for primary: Primary, join: @escaping @Sendable (Fetch.Mirror) -> Void
    ) async {
        guard !isAlone, primary.finding.file.transfer == .segments else { return }
        let (file, checksum, book) = (primary.finding.file, checksum, book)
        await withTaskGroup(of: Void.self) { group in
            for number in book.usable where number != primary.number {
                group.addTask {
                    switch await book.answer(of: number) {
                    case .failure(.cancelled): break
                    case .failure(let reason): book.drop(number, .failed(reason))
                    case .success(let finding):
                        guard !Task.isCancelled else { return }
                        switch MirrorAgreement(finding.file, with: file, checksum: checksum) {
                        case .contradicts(let fault): book.drop(number, fault)
                        case .standby: book.keepAsStandby(number)
                        case .together:
                            join(book.probes[number].mirror(number, finding))
                        }
                    }
                }
            }
        }
    }
}

extension Probe {
    /// Returns a server that answered, as a fetch describes it.
    func server(_ number: Int, _ finding: Finding) -> FetchMachine.Mirror {
        FetchMachine.Mirror(
            number: number, shownURL: url.redacted, url: finding.effective,
            identity: finding.file.identity, expiry: LinkExpiry(url),
            mayRest: mayRest(at: finding.effective))
    }

    /// Returns whether a server that answers 403 after it has served the file may serve it again
    /// later.
    ///
    /// It may not if the request carries credentials, or if a redirect led to a link with a query
    /// or credentials, which may have expired.
    private func mayRest(at effective: WebURL) -> Bool {
        let isLink = effective.text != url.text && effective.text != effective.redacted
        return !isLink && !connecting.identifies(at: effective)
    }

    /// Returns a server that answered, as a mirror that can join a fetch.
    fileprivate func mirror(_ number: Int, _ finding: Finding) -> Fetch.Mirror {
        let identity = finding.file.identity
        return Fetch.Mirror(server: server(number, finding)) { await resolveAgain(identity) }
    }
}

extension DownloadError.Reason {
    /// Whether the same request may succeed later.
    fileprivate var mayPass: Bool {
        guard case .transfer(let failure, _) = self else { return false }
        return if case .status(let status) = failure { isTransient(status) } else { true }
    }
}
