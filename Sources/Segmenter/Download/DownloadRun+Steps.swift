import Assembler
import Glibc

// The steps of a download.
extension DownloadRun {
    /// What a fetch and whoever waits for it share.
    private struct FetchTicket: Sendable {
        var fetch: Int?
        var isCancelled = false
        var end: (Fetch.Outcome, DownloadProgress?, MirrorLedger) = (.cancelled, nil, .init())
        /// Asks further mirrors, which join.
        var gathering: Task<Void, Never>?
    }

    /// Most connections at a time.
    var connections: Int { options.connections.most }

    /// What is to be done before anything is asked of the server: finish what a crash left almost
    /// done, and refuse a destination that may not be replaced.
    func before(
        _ state: inout State, _ url: WebURL, _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard let target = state.target else { return nil }
        let (options, isRepair) = (options, isRepair)
        let found = try await onDiskUntilCancelled {
            [self] (isCancelled: () -> Bool) throws(AssemblyError) -> Found? in
            if try parentOfMissingFolder(target) != nil { return .free }
            // Whoever does not want to resume does not want an earlier run's file either.
            if options.resume {
                for url in [url] + options.mirrors.compactMap({ WebURL($0) }) {
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

    func request(
        _ finding: Probe.Finding, _ url: WebURL, _ state: State
    ) throws(DownloadError.Reason) -> Assembly.Request {
        guard let target = state.target else { preconditionFailure("no destination") }
        var request = Assembly.Request(
            folder: target.folder, name: target.name, fullURL: url.text, url: url.redacted,
            identity: finding.file.identity, servesRanges: finding.file.plan == .segments)
        request.checksum = options.checksum
        request.advertised = finding.file.digests
        // What the whole file had when it was downloaded, it must have again.
        switch state.standing {
        case .damaged(let plan)?: request.required = plan.facts.digests
        case .begun(let required)?: request.required = required
        case .known?, .dated?, nil: break
        }
        request.resume = options.resume || state.hasBegun
        request.overwrite = options.overwrite
        request.startOver = state.attempts.startOver
        request.sampled = state.attempts.samples.generation
        request.replacesDestination = state.mayReplace
        request.modified = options.files.remoteTime ? finding.modified : nil
        request.allocation = options.files.allocation
        request.attributes = options.files.attributes
        request.keepsAttributes = isRepair
        request.keepManifest = options.files.keepManifest
        if let mirroring = state.mirroring {
            for digest in mirroring.promised where !request.advertised.contains(digest) {
                request.advertised.append(digest)
            }
            request.mirroring.otherURLs = mirroring.book.probes.map(\.url.text)
            request.mirroring.isHeldByChecksum = MirrorAgreement.canDecide(options.checksum)
            request.mirroring.keeps = mirroring.keeps
            // What they were joined by, should no server tell it any more.
            if !request.mirroring.isHeldByChecksum { request.required += request.advertised }
        }
        return request
    }

    /// Why a part would be thrown away because of what the server said; `nil` when none would be.
    func loss(
        _ request: Assembly.Request
    ) throws(DownloadError.Reason) -> StartOverReason? {
        guard request.resume else { return nil }
        do throws(AssemblyError) {
            guard case .startOver(let reason) = try Assembly.preview(request) else { return nil }
            return reason == .rejected ? nil : reason
        } catch {
            throw .assembly(error)
        }
    }

    /// Probes, and tells what was found.
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
        if let before, before.isToldByHead, before.file.identity == finding.file.identity {
            finding.isToldByHead = true
        }
        report(.probed(finding.file))
        if isTooLarge(finding), !finding.isProven {
            // `HEAD` is a hint: a `GET` is to say the same.
            return try await find(probe, byGet: true, range: Probe.firstByte, after: finding)
        }
        try checkSize(finding)
        return finding
    }

    /// Opens the part.
    ///
    /// - Returns: `nil` when there is no space for a size that only a `HEAD` has told: a `GET` is to
    ///   say first.
    func open(
        _ finding: Probe.Finding, _ probe: Probe, _ state: inout State
    ) async throws(DownloadError.Reason) -> (any Output)? {
        if case .descriptor(let descriptor) = destination {
            return try await openStream(descriptor, finding, probe, &state)
        }
        if destination == .null {
            return try await onDisk { () throws(AssemblyError) in try NullOutput() }
        }
        let request = try request(finding, probe.url, state)
        let result = await openPart(request)
        if case .failure(.assembly(.noSpace)) = result, !finding.isProven { return nil }
        return try result.get()
    }

    func close(_ assembly: any Output) async throws(DownloadError.Reason) {
        try await onDisk { () throws(AssemblyError) in try assembly.stop() }
    }

    func fetch(
        _ primary: Primary, _ assembly: any Output, _ started: Double, _ state: State
    ) async -> (Fetch.Outcome, DownloadProgress?, MirrorLedger) {
        let (finding, probe, received) = (primary.finding, primary.probe, state.attempts.received)
        let identity = finding.file.identity
        let server = FetchMachine.Mirror(
            number: primary.number, shownURL: probe.url.redacted, url: finding.effective,
            identity: identity, expiry: LinkExpiry(probe.url))
        let machine = FetchMachine.Setup(
            primary: server, isOneStream: finding.file.plan != .segments,
            isDecoded: finding.file.isDecoded, vouchedDates: state.attempts.samples.vouchedDates,
            isProven: finding.isProven, connections: options.connections.most,
            findsConnections: options.connections == .automatic, limits: options.limits,
            policy: probe.policy, isBeginning: !options.areRetriesGiven && !isRepair,
            isDoubted: state.attempts.isDoubted,
            hasContradicted: state.attempts.hasContradicted)
        let setup = Fetch.Setup(
            machine: machine, connecting: probe.connecting, firstReply: finding.firstReply
        ) { await probe.resolveAgain(identity) }
        // The outcome goes through the lock, and with it everything that the loop thread did to the
        // assembly, which is this task's again from here on.
        let ticket = Monitor(FetchTicket())
        await withTaskCancellationHandler {
            await Answer.wait { answer in
                let isTaken = loop.perform { [loop, report] worker in
                    let reporter = ProgressReporter(started: started, earlier: received) {
                        report(.progress($0))
                    }
                    let fetch = Fetch(
                        setup, assembly: assembly, worker: worker, loop: loop, reporter: reporter,
                        report: { report(.notice($0)) }
                    ) { outcome, ledger in
                        ticket.withLock { $0.end = (outcome, reporter.last, ledger) }
                        answer.resume(returning: ())
                    }
                    ticket.withLock { ticket in
                        ticket.fetch = fetch.id
                        ticket.gathering = Task { [id = fetch.id] in
                            await self.gatherMirrors(for: primary, state) { mirror in
                                loop.perform { $0.fetch(id)?.join(mirror) }
                            }
                        }
                    }
                    fetch.start(now: monotonicSeconds())
                    if ticket.withLock({ $0.isCancelled }) { worker.fetch(fetch.id)?.cancel() }
                }
                if !isTaken { answer.resume(returning: ()) }
            }
        } onCancel: {
            ticket.withLock { $0.isCancelled = true }
            loop.perform { worker in
                ticket.withLock { $0.fetch }.flatMap(worker.fetch)?.cancel()
            }
        }
        return ticket.withLock { ticket in
            ticket.gathering?.cancel()
            return ticket.end
        }
    }

    func publish(
        _ assembly: any Output, _ size: Int64, _ last: DownloadProgress?, _ started: Double,
        _ check: EndCheck?, _ state: inout State
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        let phase: @Sendable (DownloadProgress.Phase) -> Void = { [report] phase in
            guard var progress = last else { return }
            progress.phase = phase
            progress.elapsed = monotonicSeconds() - started
            report(.progress(progress))
        }
        phase(.verifying)
        let keeping = state.mirroring?.repair?.keeps
        let outcome = await withTaskCancellationHandler {
            await onDiskResult { () throws(AssemblyError) in
                try assembly.publish(size: size, keeping: keeping) {
                    phase(.publishing)
                } isCurrent: {
                    check?.passes() ?? true
                }
            }
        } onCancel: {
            assembly.interrupt()
            check?.cancel()
        }
        check?.cancel()
        if case .failure = outcome, let assembly = assembly as? Assembly {
            state.isPublished = assembly.isPublished
        }
        guard let published = try outcome.get() else { return nil }
        if let problem = published.attributesProblem {
            report(.notice(.attributesNotWritten(errno: problem)))
        }
        if published.isLinked { report(.notice(.namedByLink)) }
        return DownloadedFile(
            path: published.path, size: published.size, crc32: published.crc32,
            verified: published.verified, bytesReceived: state.attempts.received,
            bytesResumed: state.resumed, seconds: monotonicSeconds() - started,
            isSampled: state.attempts.samples.areNeeded)
    }

    /// Runs work on the disk that looks now and then whether it is cancelled, and then returns `nil`.
    func onDiskUntilCancelled<Value: Sendable>(
        _ body: @escaping @Sendable (() -> Bool) throws(AssemblyError) -> Value?
    ) async throws(DownloadError.Reason) -> Value {
        let flag = Monitor(false)
        let outcome = await withTaskCancellationHandler {
            await onDiskResult { () throws(AssemblyError) -> Value? in
                try body { flag.withLock { $0 } }
            }
        } onCancel: {
            flag.withLock { $0 = true }
        }
        guard let value = try outcome.get() else { throw .cancelled }
        return value
    }

    func onDisk<Value: Sendable>(
        _ body: @escaping @Sendable () throws(AssemblyError) -> Value
    ) async throws(DownloadError.Reason) -> Value {
        try await onDiskResult(body).get()
    }

    func onDiskResult<Value: Sendable>(
        _ body: @escaping @Sendable () throws(AssemblyError) -> Value
    ) async -> Result<Value, DownloadError.Reason> {
        do throws(AssemblyError) {
            return .success(try await offLoop("disk", body))
        } catch {
            return .failure(.assembly(error))
        }
    }

    func start(
        _ finding: Probe.Finding, _ assembly: any Output, _ state: State
    ) -> DownloadStart {
        let isUnverified =
            state.attempts.samples.generation != nil && assembly.startedOver == nil
            && assembly.bytesKept > 0
        let kind = isUnverified ? "unverified" : finding.file.identity.kind
        return DownloadStart(
            path: assembly.destination, size: finding.file.identity.size,
            resumedBytes: assembly.bytesKept,
            connections: finding.file.plan == .segments ? connections : 1,
            plan: finding.file.plan,
            identity: kind == "none" && options.checksum != nil ? "checksum" : kind,
            mirrors: state.mirroring?.book.usable.count ?? 1)
    }
}
