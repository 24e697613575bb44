import Assembler

// Several URLs of one file: which one leads, which ones help, and which one is next.
extension DownloadRun {
    /// The URL whose version of the file is put together, with what it offers.
    struct Primary {
        /// Which of the URLs it is, counted from 0.
        var number = 0
        var probe: Probe
        var finding: Probe.Finding
    }

    /// What is known of the URLs from one attempt to the next.
    struct Mirroring {
        var book: MirrorBook
        var ledger = MirrorLedger()
        /// Mirrors that were to bring the whole file alone.
        var tried: Set<Int> = []
        /// What to do if the file's digest is wrong.
        var repair: MirrorRepair?
        /// Bytes on the disk that may be kept; `nil` for all.
        var keeps: RangeSet?
        /// Digests that a mirror advertised of the file when that had other bytes.
        var promised: [Digest] = []

        var isAlone: Bool { !tried.isEmpty }

        /// A part is open: what was to be thrown away is.
        mutating func opened(_ assembly: any Output) {
            keeps = nil
            if assembly.bytesKept == 0 { ledger.keepOnly(nil) }
        }

        /// Takes what a fetch tells of its mirrors.
        mutating func take(_ later: MirrorLedger) {
            ledger.add(later)
            for (number, fault) in later.faults { book.note(number, fault) }
        }
    }

    /// Attempts to ask a mirror what it offers: there are others.
    private static let mirrorRetries = 2
    /// How long others wait for the URL given first once one of them has answered, in seconds.
    private static let grace = 1.0

    /// The URLs of the file, when there are several.
    ///
    /// - Throws: `invalidURL`, `foreignURL`.
    func makeBook(_ probe: Probe) throws(DownloadError.Reason) -> MirrorBook? {
        var probes = [probe]
        for text in options.mirrors {
            let url = try Self.usable(WebURL(text), text)
            guard !probes.contains(where: { $0.url.text == url.text }) else { continue }
            probes.append(
                Probe(
                    loop: loop, url: url, connecting: probe.connecting,
                    policy: RetryPolicy(retries: min(Self.mirrorRetries, options.retries)),
                    report: { _ in }, spreads: probe.spreads))
        }
        guard probes.count > 1 else { return nil }
        return MirrorBook(
            probes, checksum: options.checksum, beginning: beginning, loop: loop
        ) { self.report(.notice($0)) }
    }

    // MARK: Who leads

    /// The first URL that answers, and tells what it offers.
    ///
    /// Of several, the one given first leads if it answers in time; otherwise the first that does,
    /// unless an earlier run's part would be lost by that.
    func firstPrimary(
        _ probe: Probe, _ state: State
    ) async throws(DownloadError.Reason) -> Primary {
        guard state.mirroring != nil else {
            guard !asksForWhole else {
                var asking = probe
                asking.beginning = beginning
                asking.collects = true
                asking.answered = state.answered?.exchange
                let finding = try await find(asking, byGet: true, range: Probe.smallRange)
                return Primary(probe: probe, finding: finding)
            }
            var asking = probe
            asking.beginning = beginning
            asking.overlaps = begins(probe, state)
            let range = asking.overlaps ? Probe.overlappingRange : Probe.firstRange
            return Primary(
                probe: probe, finding: try await find(asking, byGet: false, range: range))
        }
        return try await nextPrimary(state)
    }

    /// Whether the first bytes are wanted for certain, and on more than one connection.
    ///
    /// Nothing stands at the names that are to be expected then. Credentials that may be wrong are shown
    /// once only.
    private func begins(_ probe: Probe, _ state: State) -> Bool {
        guard connections > 1, !isRepair, state.standing == nil, batch == nil,
            !probe.connecting.permitted(for: probe.url).access.authenticates
        else { return false }
        let target: Target
        switch destination {
        case .descriptor, .null: return true
        case .file(let path): target = Target(path: path)
        case .folder(let path):
            let name = FileName.suggested(disposition: nil, url: probe.url)
            target = Target(folder: path, name: name)
        }
        guard let folder = try? Folder(target.folder) else { return false }
        return Assembly.isUntouched(target.name, in: folder)
    }

    /// Whether what a URL advertises leaves it possible that it has the file that is wanted.
    private func isAcceptable(_ primary: Primary, _ book: MirrorBook) -> Bool {
        let fault = MirrorAgreement.contradiction(
            in: primary.finding.file.digests, to: [options.checksum].compactMap { $0 })
        if let fault { book.drop(primary.number, fault) }
        return fault == nil
    }

    /// The next URL to lead, of those that are not given up.
    func nextPrimary(_ state: State) async throws(DownloadError.Reason) -> Primary {
        guard let book = state.mirroring?.book else { preconditionFailure("no mirrors") }
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
                if isAcceptable(primary, book) {
                    if number == 0 { return taken(primary) }
                    found.append(primary)
                } else if number == 0 {
                    isOpen = true
                }
            }
            guard isOpen else { continue }
            for primary in found where try !loses(primary, state) { return taken(primary) }
        }
        if Task.isCancelled { throw .cancelled }
        guard let primary = found.min(by: { $0.number < $1.number }) else {
            throw book.firstReason ?? .transfer(.network(code: 0, message: ""), attempts: 1)
        }
        return taken(primary)
    }

    private func taken(_ primary: Primary) -> Primary {
        report(.probed(primary.finding.file))
        if primary.number > 0 { report(.notice(.mirrorLeads(url: primary.probe.url.redacted))) }
        return primary
    }

    /// Whether an earlier run's part would be lost if this URL led.
    private func loses(_ primary: Primary, _ state: State) throws(DownloadError.Reason) -> Bool {
        // A stream continues no earlier run's part.
        switch destination {
        case .descriptor, .null: return false
        case .file, .folder: break
        }
        var state = state
        if state.target == nil, case .folder(let folder) = destination {
            state.target = Target(
                folder: folder,
                name: name(primary.finding, state.mirroring?.book.probes.first ?? primary.probe))
        }
        return try loss(request(primary.finding, primary.probe.url, state)) != nil
    }

    /// The lead after an attempt that failed.
    ///
    /// - Throws: The failure, when there is none.
    func successor(
        of primary: Primary, after reason: DownloadError.Reason, _ state: inout State
    ) async throws(DownloadError.Reason) -> Primary {
        guard let mirroring = state.mirroring else { throw reason }
        let book = mirroring.book
        if case .assembly(.digestMismatch) = reason, let repair = mirroring.repair {
            return try await alone(repair, after: primary, reason, &state)
        }
        guard reason.isOfServer else { throw reason }
        if book.usable.contains(primary.number) { book.drop(primary.number, .failed(reason)) }
        state.attempts.turnToAnotherServer()
        if mirroring.isAlone || book.usable.isEmpty {
            // What is there is not given up, as long as it may yet be completed, for a server that
            // has other data: nothing has shown that it is wrong.
            if !mirroring.isAlone, reason.mayPass, state.kept > 0 { throw reason }
            // What differed from others may be what is right after all.
            let next = MirrorRepair(
                candidates: book.possible, wrote: mirroring.ledger.wrote, tried: mirroring.tried,
                size: .max)
            guard let next else { throw book.firstReason ?? reason }
            return try await alone(next, after: primary, reason, &state)
        }
        return try await nextPrimary(state)
    }

    // MARK: Wrong digests

    /// What to do if the complete file turns out to have the wrong digest; `nil` when that is final.
    func repair(size: Int64, _ state: State) -> MirrorRepair? {
        guard let mirroring = state.mirroring else { return nil }
        return MirrorRepair(
            candidates: mirroring.book.possible, wrote: mirroring.ledger.wrote,
            tried: mirroring.tried, size: size)
    }

    /// Has one mirror bring alone all that it has not brought yet.
    private func alone(
        _ repair: MirrorRepair, after primary: Primary, _ reason: DownloadError.Reason,
        _ state: inout State
    ) async throws(DownloadError.Reason) -> Primary {
        guard var mirroring = state.mirroring else { throw reason }
        let book = mirroring.book
        for (number, wrote) in mirroring.ledger.wrote.sorted(by: { $0.key < $1.key })
        where number != repair.number && !wrote.isEmpty {
            let isSole = mirroring.ledger.wrote.values.filter { !$0.isEmpty }.count == 1
            let isAll = isSole && wrote.count == primary.finding.file.size
            book.drop(number, isAll ? .wrongDigest : .doubted(bytes: wrote.count))
        }
        if options.checksum == nil {
            for digest in primary.finding.file.digests where !mirroring.promised.contains(digest) {
                mirroring.promised.append(digest)
            }
        }
        state.attempts.turnToAnotherServer()
        mirroring.tried.insert(repair.number)
        mirroring.repair = nil
        mirroring.ledger.keepOnly(repair.number)
        mirroring.keeps = repair.keeps
        if repair.keeps.isEmpty { state.attempts.startOver(because: .mirrorsDiffer) }
        state.mirroring = mirroring
        book.restore(repair.number)
        let probe = book.probes[repair.number]
        do throws(DownloadError.Reason) {
            let finding = try await probe.run(byGet: true, range: Probe.firstByte).released
            return taken(Primary(number: repair.number, probe: probe, finding: finding))
        } catch {
            let failed = Primary(
                number: repair.number, probe: probe, finding: primary.finding.released)
            return try await successor(of: failed, after: error, &state)
        }
    }

    // MARK: Who helps

    /// Asks every other URL what it offers, and has those join that have the same file.
    func gatherMirrors(
        for primary: Primary, _ state: State, join: @escaping @Sendable (Fetch.Mirror) -> Void
    ) async {
        guard let mirroring = state.mirroring, !mirroring.isAlone,
            primary.finding.file.plan == .segments
        else { return }
        let book = mirroring.book
        let (file, checksum) = (primary.finding.file, options.checksum)
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
    /// A server that answered, for a fetch.
    func mirror(_ number: Int, _ finding: Finding) -> Fetch.Mirror {
        let identity = finding.file.identity
        let server = FetchMachine.Mirror(
            number: number, shownURL: url.redacted, url: finding.effective, identity: identity,
            expiry: LinkExpiry(url))
        return Fetch.Mirror(server: server) { await resolveAgain(identity) }
    }
}

extension DownloadError.Reason {
    /// Whether asking again later may help.
    var mayPass: Bool {
        guard case .transfer(let failure, _) = self else { return false }
        return if case .status(let status) = failure { isTransient(status) } else { true }
    }
}
