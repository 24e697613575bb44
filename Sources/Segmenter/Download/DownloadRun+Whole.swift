import Assembler

// Small files of a batch, which one request brings.
extension DownloadRun {
    /// What a batch does for its small files.
    struct BatchContext: Sendable {
        /// Chooses the name in the folder, from the one that is suggested and the full URLs.
        let naming: @Sendable (Target, [String]) async throws(DownloadError.Reason) -> String
        let publisher: WholeFilePublisher
        let gate: BatchGate
        /// Whether it is begun like any other file, with a place at the gate that it has already: it has
        /// mirrors, or something stands at the names that are to be expected.
        let isBegun: Bool
        /// Notes that one request has brought the file, of so many bytes.
        let hasCome: @Sendable (Int) -> Void
        /// Notes that it goes the way of others nevertheless.
        let isDeclined: @Sendable () -> Void
        /// Notes that it is done; takes how long replies let wait.
        let isDone: @Sendable (BatchWidth.Wait?) -> Void
        /// Runs what chooses a name when the turn of the file has come.
        let whenDue: @Sendable (@escaping @Sendable () -> Void) -> Void
        /// The folders that the batch makes.
        let folders: MadeFolders
        /// Chooses the name in a folder, from the one that is suggested and the full URLs; blocks.
        let claim: @Sendable (Target, [String]) throws(AssemblyError) -> String
    }

    /// Whether one request is to bring the file, if it is small.
    var asksForWhole: Bool {
        guard let batch, !batch.isBegun, !isRepair, options.mirrors.isEmpty else {
            return false
        }
        switch destination {
        case .descriptor, .null: return false
        case .file, .folder: break
        }
        return true
    }

    /// The bytes of the file, when a reply has brought all of them.
    func wholeBody(_ finding: Probe.Finding) -> [UInt8]? {
        guard let reply = finding.firstReply, reply.end == .complete, !options.files.keepManifest
        else {
            return nil
        }
        let count = Int64(reply.body.count)
        if let size = finding.file.size { return size == count ? reply.body : nil }
        return reply.range == nil && options.limits.maxSize == nil ? reply.body : nil
    }

    /// Publishes a file whose bytes have all come.
    ///
    /// - Returns: The file; `nil` when it is to be put together like any other one. Where the list
    ///   gives names, it has its name then.
    func publishWhole(
        _ body: [UInt8], _ finding: Probe.Finding, _ url: WebURL, _ state: inout State,
        _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard let batch, state.target != nil, state.standing == nil, state.mirroring == nil
        else { return nil }
        let request = try request(finding, url, state)
        batch.hasCome(body.count)
        let end = await Answer<WholeEnd>.wait { [isNamed = state.isNamed] answer in
            submit(body, url, isNamed: isNamed) {
                request
            } then: {
                answer.resume(returning: $0)
            }
        }
        let file = try take(end, finding, &state, started)
        if file == nil { batch.isDeclined() }
        return file
    }

    /// What became of bytes that were handed to the publisher, under which name.
    private struct WholeEnd: Sendable {
        let outcome: Result<WholeFilePublisher.Outcome, AssemblyError>
        let name: String
    }

    /// Hands bytes to the publisher, once the turn of the file's name has come.
    ///
    /// `request` and, unless that gives nothing, `then` are called on the publisher's thread.
    private func submit(
        _ body: [UInt8], _ url: WebURL, isNamed: Bool,
        request: @escaping @Sendable () -> Assembly.Request?,
        then: @escaping @Sendable (WholeEnd) -> Void
    ) {
        guard let batch else { return }
        var needsName = !isNamed
        if case .file = destination { needsName = needsName && options.naming.numbersTaken }
        let job = WholeFilePublisher.Job(bytes: body) { [self, needsName] in
            guard var request = request() else { return nil }
            do throws(AssemblyError) {
                try makeFolder(request.folder)
                guard needsName else { return request }
                let suggested = Target(folder: request.folder, name: request.name)
                request.name = try batch.claim(suggested, [url.text])
                return request
            } catch {
                then(WholeEnd(outcome: .failure(error), name: request.name))
                return nil
            }
        } report: {
            then(WholeEnd(outcome: .success($0), name: $1))
        }
        if needsName {
            batch.whenDue { batch.publisher.submit(job) }
        } else {
            batch.publisher.submit(job)
        }
    }

    /// Takes what became of bytes that were handed to the publisher.
    ///
    /// - Returns: The file; `nil` when it is to be put together like any other one.
    private func take(
        _ end: WholeEnd, _ finding: Probe.Finding, _ state: inout State, _ started: Double
    ) throws(DownloadError.Reason) -> DownloadedFile? {
        switch end.outcome {
        case .failure(let error): throw .assembly(error)
        case .success(let outcome):
            state.target?.name = end.name
            state.isNamed = true
            switch outcome {
            case .declined: return nil
            case .named(let failure):
                state.isPublished = true
                throw .assembly(failure)
            case .published(let published):
                batch?.isDone(finding.firstReply?.wait)
                state.target.map { folders.keep($0.folder) }
                tellOfWhole(finding, state)
                if let problem = published.attributesProblem {
                    report(.notice(.attributesNotWritten(errno: problem)))
                }
                return DownloadedFile(
                    path: published.path, size: published.size, crc32: published.crc32,
                    verified: published.verified, bytesReceived: published.size,
                    bytesResumed: 0, seconds: monotonicSeconds() - started)
            }
        }
    }

    // MARK: The first request

    /// What a first request has brought, for whoever goes on with it.
    struct Answered: Sendable {
        let exchange: Exchange
        /// When it was made, on the monotonic clock.
        let began: Double
        /// Where the file goes, when the list has given it its name already.
        var named: Target?
    }

    /// The request that may bring the file, when there is nothing to be done or waited for before it.
    func firstRequest() -> (probe: Probe, request: TransferRequest)? {
        guard asksForWhole, options.limits.maxTime == nil,
            let probe = try? makeProbe()
        else { return nil }
        var request = TransferRequest(url: probe.url, connecting: probe.connecting)
        request.range = Probe.smallRange
        return (probe, request)
    }

    /// Publishes a file that its first request has brought.
    ///
    /// - Parameters:
    ///   - answered: What it has brought: a body that is complete.
    ///   - probe: What made the request.
    ///   - then: Called once, on the publisher's thread, with the end of the file; without one when there
    ///     is more to do, and with what to go on with.
    func publish(
        _ answered: Answered, _ probe: Probe,
        then: @escaping @Sendable (Result<DownloadedFile, DownloadError>?, Answered) -> Void
    ) {
        let found = Monitor<Probe.Finding?>(nil)
        submit(answered.exchange.body, probe.url, isNamed: false) { [self] in
            var state = State()
            if let finding = whole(answered.exchange, probe) {
                state.target = target(finding, probe)
                if let request = try? request(finding, probe.url, state) {
                    found.withLock { $0 = finding }
                    return request
                }
            }
            then(nil, answered)
            return nil
        } then: { [self] end in
            guard let finding = found.withLock({ $0 }) else { return }
            var state = State()
            state.target = target(finding, probe)
            if case .success(.declined) = end.outcome {
                var answered = answered
                answered.named = state.target
                answered.named?.name = end.name
                return then(nil, answered)
            }
            if options.access.isInsecure { report(.notice(.certificatesUnchecked)) }
            report(.probed(finding.file))
            do throws(DownloadError.Reason) {
                guard let file = try take(end, finding, &state, answered.began) else { return }
                report(.finished(file))
                then(.success(file), answered)
            } catch {
                then(.failure(failure(error, state)), answered)
            }
        }
    }

    /// What a reply to the first request says, when that has brought the whole file.
    private func whole(_ exchange: Exchange, _ probe: Probe) -> Probe.Finding? {
        let landing = Probe.Landing(url: probe.url, redirects: 0, exchange: exchange)
        var asking = Probe.Asking(range: Probe.smallRange)
        guard let reply = exchange.reply,
            let finding = try? probe.accept(landing, reply, &asking),
            wholeBody(finding) != nil, !isTooLarge(finding)
        else { return nil }
        return finding
    }

    /// Where the file goes, unless that is taken.
    func target(_ finding: Probe.Finding, _ probe: Probe) -> Target? {
        switch destination {
        case .file(let path): Target(path: path)
        case .folder(let folder):
            Target(folder: folder, name: name(finding, probe))
        case .descriptor, .null: nil
        }
    }

    /// Tells of a small file that it began, as is told of every file.
    private func tellOfWhole(_ finding: Probe.Finding, _ state: State) {
        guard let target = state.target else { return }
        let kind = finding.file.identity.kind
        report(
            .started(
                DownloadStart(
                    path: target.path, size: finding.file.size, resumedBytes: 0, connections: 1,
                    plan: finding.file.plan,
                    identity: kind == "none" && options.checksum != nil ? "checksum" : kind)))
    }

    /// Waits until one more file may be fetched in segments.
    func enter(
        _ state: inout State, _ finding: inout Probe.Finding
    ) async throws(DownloadError.Reason) {
        guard let gate = batch?.gate, !state.hasEntered else { return }
        if !gate.tryEnter() {
            if let reply = finding.firstReply, reply.end == nil {
                // No connection waits for other files: the rest is asked for again.
                finding.firstReply = reply.body.isEmpty ? nil : reply.released
            }
            guard await gate.enter() else { throw .cancelled }
        }
        state.hasEntered = true
    }
}
