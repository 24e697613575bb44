import Assembler

/// The URLs of a file that has several: which one is the primary, which ones help, and which one is
/// next.
struct MirrorSet: Sendable {
    let book: MirrorBook
    private let checksum: Digest?
    private let report: @Sendable (DownloadEvent) -> Void
    /// What each of them has brought.
    private(set) var ledger = MirrorLedger()
    /// Those that were to bring the whole file alone.
    private var tried: Set<Int> = []
    /// What to do if the file's digest is wrong; `nil` when that is final.
    private(set) var repair: MirrorRepair?
    /// Bytes on the disk that may be kept; `nil` for all.
    private(set) var keeps: RangeSet?
    /// Digests that a mirror advertised of the file when that had other bytes.
    private(set) var promised: [Digest] = []

    /// Attempts to ask a mirror what it offers: there are others.
    private static let retries = 2
    /// How long others wait for the URL given first once one of them has answered, in seconds.
    private static let grace = 1.0

    /// Begins to ask all URLs of a file; `nil` when there is one only.
    ///
    /// - Parameters:
    ///   - inquiry: What is asked for, and who hears of it.
    ///   - probe: What asks the URL that was given first.
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

    /// Adds to a request what the other URLs mean for the part.
    func amend(_ request: inout Assembly.Request) {
        for digest in promised where !request.advertised.contains(digest) {
            request.advertised.append(digest)
        }
        request.mirroring.otherURLs = book.probes.map(\.url.text)
        request.mirroring.isHeldByChecksum = MirrorAgreement.canDecide(checksum)
        request.mirroring.keeps = keeps
        // What they were joined by, should no server state it any more.
        if !request.mirroring.isHeldByChecksum { request.required += request.advertised }
    }

    /// A part is open: what was to be thrown away is.
    mutating func opened(_ output: any Output) {
        keeps = nil
        if output.bytesKept == 0 { ledger.keepOnly(nil) }
    }

    /// Takes what a fetch reports of its mirrors.
    mutating func take(_ later: MirrorLedger) {
        ledger.add(later)
        for (number, fault) in later.faults { book.note(number, fault) }
    }

    /// Settles what to do if the complete file of `size` bytes turns out to have the wrong digest.
    mutating func prepareRepair(size: Int64) {
        repair = MirrorRepair(
            candidates: book.possible, wrote: ledger.wrote, tried: tried, size: size)
    }

    // MARK: Which one is the primary

    /// The next primary URL, of those that are not given up.
    ///
    /// The one given first is the primary if it answers in time; otherwise the first that does,
    /// unless an earlier run's part would be lost by that.
    ///
    /// - Parameter loses: Whether it would be.
    /// - Returns: The URL, with what it offers.
    /// - Throws: Why the first one that was given up is, when all are; `cancelled`.
    func next(
        unless loses: @Sendable (Primary) throws(DownloadError.Reason) -> Bool
    ) async throws(DownloadError.Reason) -> Primary {
        var found: [Primary] = []
        // Whether the URL given first has had its time.
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

    /// Whether what a URL advertises leaves it possible that it has the file that is wanted.
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

    /// The primary after an attempt that failed.
    ///
    /// - Parameters:
    ///   - primary: The primary before.
    ///   - reason: Why it failed.
    ///   - attempts: What it has shown, which does not count for another server.
    ///   - kept: Bytes that are there.
    /// - Returns: The one that goes on alone; `nil` when the ``next(unless:)`` one is to be the
    ///   primary.
    /// - Throws: The failure, when there is none.
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
            // What is there is not given up, as long as it may yet be completed, for a server that
            // has other data: nothing has shown that it is wrong.
            if !isAlone, reason.mayPass, kept > 0 { throw reason }
            // What differed from others may be what is right after all.
            let next = MirrorRepair(
                candidates: book.possible, wrote: ledger.wrote, tried: tried, size: .max)
            guard let next else { throw book.firstReason ?? reason }
            return try await alone(next, after: primary, &attempts, kept: kept)
        }
        return nil
    }

    /// Has one mirror bring alone all that it has not brought yet.
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

    // MARK: Who helps

    /// Asks every other URL what it offers, and has those join that have the same file.
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
    /// A server that answered, as a fetch knows it.
    func server(_ number: Int, _ finding: Finding) -> FetchMachine.Mirror {
        FetchMachine.Mirror(
            number: number, shownURL: url.redacted, url: finding.effective,
            identity: finding.file.identity, expiry: LinkExpiry(url),
            mayRest: mayRest(at: finding.effective))
    }

    /// Whether a server that forbids what it has served may mean anything but a password, or a link that a
    /// redirect has led to and that holds no more.
    private func mayRest(at effective: WebURL) -> Bool {
        let isLink = effective.text != url.text && effective.text != effective.redacted
        return !isLink && !connecting.identifies(at: effective)
    }

    /// A server that answered, for a fetch to be joined.
    fileprivate func mirror(_ number: Int, _ finding: Finding) -> Fetch.Mirror {
        let identity = finding.file.identity
        return Fetch.Mirror(server: server(number, finding)) { await resolveAgain(identity) }
    }
}

extension DownloadError.Reason {
    /// Whether asking again later may help.
    fileprivate var mayPass: Bool {
        guard case .transfer(let failure, _) = self else { return false }
        return if case .status(let status) = failure { isTransient(status) } else { true }
    }
}
