import Assembler

// Several URLs of one file: which one leads, which ones help, and which one is next.
extension DownloadRun {
    /// The URL whose version of the file is put together, with what it offers.
    struct Lead {
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
                    tell: { _ in }, spreads: probe.spreads))
        }
        guard probes.count > 1 else { return nil }
        return MirrorBook(
            probes, checksum: options.checksum, beginning: beginning, loop: loop
        ) { self.tell(.notice($0)) }
    }

    // MARK: Who leads

    /// The first URL that answers, and tells what it offers.
    ///
    /// Of several, the one given first leads if it answers in time; otherwise the first that does,
    /// unless an earlier run's part would be lost by that.
    func firstLead(
        _ probe: Probe, _ state: State
    ) async throws(DownloadError.Reason) -> Lead {
        guard state.mirroring != nil else {
            guard !asksForWhole else {
                var asking = probe
                asking.beginning = beginning
                asking.collects = true
                asking.answered = state.answered?.exchange
                let finding = try await find(asking, byGet: true, range: Probe.smallRange)
                return Lead(probe: probe, finding: finding)
            }
            var asking = probe
            asking.beginning = beginning
            asking.overlaps = begins(probe, state)
            let range = asking.overlaps ? Probe.overlappingRange : Probe.firstRange
            return Lead(probe: probe, finding: try await find(asking, byGet: false, range: range))
        }
        return try await nextLead(state)
    }

    /// Whether the first bytes are wanted for certain, and on more than one connection.
    ///
    /// Nothing stands at the names that are to be expected then. Credentials that may be wrong are shown
    /// once only.
    private func begins(_ probe: Probe, _ state: State) -> Bool {
        guard connections > 1, !isRepair, state.standing == nil, together == nil,
            !probe.connecting.permitted(for: probe.url).access.authenticates
        else { return false }
        let target: Target
        switch destination {
        case .descriptor, .null: return true
        case .file(let path): target = Self.split(path)
        case .folder(let path):
            let name = FileName.suggested(disposition: nil, url: probe.url)
            target = Target(folder: path.isEmpty ? "." : path, name: name)
        }
        guard let folder = try? Folder(target.folder) else { return false }
        return Assembly.isUntouched(target.name, in: folder)
    }

    /// Whether what a URL advertises leaves it possible that it has the file that is wanted.
    private func isAcceptable(_ lead: Lead, _ book: MirrorBook) -> Bool {
        let fault = MirrorAgreement.contradiction(
            in: lead.finding.file.digests, to: [options.checksum].compactMap { $0 })
        if let fault { book.drop(lead.number, fault) }
        return fault == nil
    }

    /// The next URL to lead, of those that are not given up.
    func nextLead(_ state: State) async throws(DownloadError.Reason) -> Lead {
        guard let book = state.mirroring?.book else { preconditionFailure("no mirrors") }
        var found: [Lead] = []
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
                let lead = Lead(number: number, probe: book.probes[number], finding: finding)
                if isAcceptable(lead, book) {
                    if number == 0 { return taken(lead) }
                    found.append(lead)
                } else if number == 0 {
                    isOpen = true
                }
            }
            guard isOpen else { continue }
            for lead in found where try !loses(lead, state) { return taken(lead) }
        }
        if Task.isCancelled { throw .cancelled }
        guard let lead = found.min(by: { $0.number < $1.number }) else {
            throw book.firstReason ?? .transfer(.network(code: 0, message: ""), attempts: 1)
        }
        return taken(lead)
    }

    private func taken(_ lead: Lead) -> Lead {
        tell(.probed(lead.finding.file))
        if lead.number > 0 { tell(.notice(.mirrorLeads(url: lead.probe.url.redacted))) }
        return lead
    }

    /// Whether an earlier run's part would be lost if this URL led.
    private func loses(_ lead: Lead, _ state: State) throws(DownloadError.Reason) -> Bool {
        // A stream continues no earlier run's part.
        switch destination {
        case .descriptor, .null: return false
        case .file, .folder: break
        }
        var state = state
        if state.target == nil, case .folder(let folder) = destination {
            state.target = Target(
                folder: folder.isEmpty ? "." : folder,
                name: name(lead.finding, state.mirroring?.book.probes.first ?? lead.probe))
        }
        return try loss(request(lead.finding, lead.probe.url, state)) != nil
    }

    /// The lead after an attempt that failed.
    ///
    /// - Throws: The failure, when there is none.
    func successor(
        of lead: Lead, after reason: DownloadError.Reason, _ state: inout State
    ) async throws(DownloadError.Reason) -> Lead {
        guard let mirroring = state.mirroring else { throw reason }
        lead.finding.held.map { loop.drop($0.transfer) }
        let book = mirroring.book
        if case .assembly(.digestMismatch) = reason, let repair = mirroring.repair {
            return try await alone(repair, after: lead, reason, &state)
        }
        guard reason.isOfServer else { throw reason }
        if book.usable.contains(lead.number) { book.drop(lead.number, .failed(reason)) }
        reset(&state)
        if mirroring.isAlone || book.usable.isEmpty {
            // What is there is not given up, as long as it may yet be completed, for a server that
            // has other data: nothing has shown that it is wrong.
            if !mirroring.isAlone, reason.mayPass, state.kept > 0 { throw reason }
            // What differed from others may be what is right after all.
            let next = MirrorRepair(
                candidates: book.possible, wrote: mirroring.ledger.wrote, tried: mirroring.tried,
                size: .max)
            guard let next else { throw book.firstReason ?? reason }
            return try await alone(next, after: lead, reason, &state)
        }
        return try await nextLead(state)
    }

    private func reset(_ state: inout State) {
        state.startOver = nil
        state.restarts = 0
        state.change = nil
        state.isUndated = false
        state.takenBack = 0
        state.isRangeless = false
        (state.streamBreaks, state.streamFailures) = (0, 0)
        state.streamReached = 0
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
        _ repair: MirrorRepair, after lead: Lead, _ reason: DownloadError.Reason,
        _ state: inout State
    ) async throws(DownloadError.Reason) -> Lead {
        guard var mirroring = state.mirroring else { throw reason }
        let book = mirroring.book
        for (number, wrote) in mirroring.ledger.wrote.sorted(by: { $0.key < $1.key })
        where number != repair.number && !wrote.isEmpty {
            let isSole = mirroring.ledger.wrote.values.filter { !$0.isEmpty }.count == 1
            let isAll = isSole && wrote.count == lead.finding.file.size
            book.drop(number, isAll ? .wrongDigest : .doubted(bytes: wrote.count))
        }
        if options.checksum == nil {
            for digest in lead.finding.file.digests where !mirroring.promised.contains(digest) {
                mirroring.promised.append(digest)
            }
        }
        reset(&state)
        mirroring.tried.insert(repair.number)
        mirroring.repair = nil
        mirroring.ledger.keepOnly(repair.number)
        mirroring.keeps = repair.keeps
        if repair.keeps.isEmpty { state.startOver = .mirrorsDiffer }
        state.mirroring = mirroring
        book.restore(repair.number)
        let probe = book.probes[repair.number]
        do throws(DownloadError.Reason) {
            let finding = try await probe.run(byGet: true, range: Probe.firstByte)
            finding.held.map { loop.drop($0.transfer) }
            return taken(Lead(number: repair.number, probe: probe, finding: finding.released))
        } catch {
            let failed = Lead(number: repair.number, probe: probe, finding: lead.finding.released)
            return try await successor(of: failed, after: error, &state)
        }
    }

    // MARK: Who helps

    /// Asks every other URL what it offers, and has those join that have the same file.
    func gatherMirrors(
        for lead: Lead, _ state: State, join: @escaping @Sendable (Fetch.Mirror) -> Void
    ) async {
        guard let mirroring = state.mirroring, !mirroring.isAlone,
            lead.finding.file.plan == .segments
        else { return }
        let book = mirroring.book
        let (file, checksum) = (lead.finding.file, options.checksum)
        await withTaskGroup(of: Void.self) { group in
            for number in book.usable where number != lead.number {
                group.addTask {
                    switch await book.answer(of: number) {
                    case .failure(.cancelled): break
                    case .failure(let reason): book.drop(number, .failed(reason))
                    case .success(let finding):
                        guard !Task.isCancelled else { return }
                        switch MirrorAgreement(finding.file, with: file, checksum: checksum) {
                        case .contradicts(let fault): book.drop(number, fault)
                        case .spare: book.spare(number)
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
        return Fetch.Mirror(
            number: number, shownURL: url.redacted, url: finding.effective, identity: identity,
            expiry: LinkExpiry(url)
        ) { await resolveAgain(identity) }
    }
}

extension Probe.Finding {
    /// The same, with no body waiting.
    var released: Self {
        var copy = self
        copy.held = nil
        return copy
    }
}

extension DownloadError.Reason {
    /// Whether asking again later may help.
    var mayPass: Bool {
        guard case .transfer(let failure, _) = self else { return false }
        return if case .status(let status) = failure { isTransient(status) } else { true }
    }
}
