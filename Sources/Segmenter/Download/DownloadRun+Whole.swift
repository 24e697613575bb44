import Assembler

// Small files of a batch, which one request brings.
extension DownloadRun {
    /// Whether one request is to bring the file, if it is small.
    var asksForWhole: Bool {
        guard let batch, !batch.isBegun, !job.keepsPart, job.options.mirrors.isEmpty,
            job.options.limits.rate == nil, !job.options.singleRequest
        else {
            return false
        }
        switch job.destination {
        case .descriptor, .null: return false
        case .file, .folder: break
        }
        return true
    }

    /// Publishes a file whose bytes have all come.
    ///
    /// - Returns: The file; `nil` when it is to be put together like any other one. Where the list
    ///   gives names, it has its name then.
    func publishWhole(
        _ primary: Primary, _ state: inout DownloadState, _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard let batch, let body = primary.finding.whole(job.options), state.mirrors == nil
        else { return nil }
        let request = try state.request(primary)
        guard !refuses(primary.finding, for: state.target) else { throw .htmlPage }
        batch.hasCome(body.count)
        let end = await Answer<WholeEnd>.wait { [isNamed = state.plan.isNamed] answer in
            submit(body, primary.probe.url, isNamed: isNamed) {
                request
            } then: {
                answer.resume(returning: $0)
            }
        }
        let file = try take(end, primary.finding, &state, started)
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
        let job = WholeFilePublisher.Job(bytes: body) { [self] in
            guard var request = request() else { return nil }
            do throws(AssemblyError) {
                try folders.make(request.folder)
                guard !isNamed else { return request }
                let suggested = FileTarget(folder: request.folder, name: request.name)
                let mayTakeOver = self.job.mayTakeOver(suggested)
                request.name = try batch.claim(suggested, [url.text], mayTakeOver)
                guard mayTakeOver, request.name == suggested.name else { return request }
                // What stands there is looked at first.
                then(WholeEnd(outcome: .success(.declined), name: request.name))
                return nil
            } catch {
                then(WholeEnd(outcome: .failure(error), name: request.name))
                return nil
            }
        } report: {
            then(WholeEnd(outcome: .success($0), name: $1))
        }
        if isNamed {
            batch.publisher.submit(job)
        } else {
            batch.whenDue { batch.publisher.submit(job) }
        }
    }

    /// Takes what became of bytes that were handed to the publisher.
    ///
    /// - Returns: The file; `nil` when it is to be put together like any other one.
    private func take(
        _ end: WholeEnd, _ finding: Probe.Finding, _ state: inout DownloadState, _ started: Double
    ) throws(DownloadError.Reason) -> DownloadedFile? {
        switch end.outcome {
        case .failure(let error): throw .assembly(error)
        case .success(let outcome):
            state.target?.name = end.name
            state.plan.takeName()
            switch outcome {
            case .declined: return nil
            case .named(let failure):
                state.record.isPublished = true
                throw .assembly(failure)
            case .published(let published):
                batch?.isDone(finding.firstReply?.wait)
                state.target.map { folders.keep($0.folder) }
                reportWhole(finding, state)
                if let problem = published.attributesProblem {
                    report(.notice(.attributesNotWritten(errno: problem)))
                }
                var file = DownloadedFile(
                    path: published.path, size: published.size, crc32: published.crc32,
                    verified: published.verified, bytesReceived: published.size,
                    bytesResumed: 0, duration: Duration(seconds: monotonicSeconds() - started))
                file.isPage = finding.isPage(for: state.target, job) ?? false
                return file
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
        var named: FileTarget?
    }

    /// The request that may bring the file, when there is nothing to be done or waited for before it.
    func firstRequest() -> (probe: Probe, request: TransferRequest)? {
        guard asksForWhole, job.options.limits.maxTime == nil,
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
        submit(answered.exchange.body, probe.url, isNamed: job.namesFile) { [self] in
            var state = DownloadState(job)
            if let finding = whole(answered.exchange, probe) {
                state.target = job.target(for: finding.file, from: probe.url)
                if !refuses(finding, for: state.target),
                    let request = try? state.request(finding, probe.url)
                {
                    found.withLock { $0 = finding }
                    return request
                }
            }
            then(nil, answered)
            return nil
        } then: { [self] end in
            guard let finding = found.withLock({ $0 }) else { return }
            var state = DownloadState(job)
            state.target = job.target(for: finding.file, from: probe.url)
            if case .success(.declined) = end.outcome {
                var answered = answered
                answered.named = state.target
                answered.named?.name = end.name
                return then(nil, answered)
            }
            if job.options.access.isInsecure { report(.notice(.certificatesUnchecked)) }
            report(.probed(finding.file))
            do throws(DownloadError.Reason) {
                guard let file = try take(end, finding, &state, answered.began) else { return }
                report(.finished(file))
                then(.success(file), answered)
            } catch {
                then(.failure(state.error(error)), answered)
            }
        }
    }

    /// Whether what goes out through a descriptor is said to be a page: what has gone out cannot be taken back, so
    /// its bytes are not waited for.
    func isPageInStream(_ primary: Primary) -> Bool {
        guard case .descriptor = job.destination else { return false }
        return job.isPage(primary.finding.file, for: nil, start: nil)
    }

    /// Whether a file is refused because it is a page.
    private func refuses(_ finding: Probe.Finding, for target: FileTarget?) -> Bool {
        job.options.files.refusesHTML && finding.isPage(for: target, job) == true
    }

    /// What a reply to the first request says, when that has brought the whole file.
    private func whole(_ exchange: Exchange, _ probe: Probe) -> Probe.Finding? {
        let landing = Probe.Landing(url: probe.url, redirects: 0, exchange: exchange)
        var asking = Probe.Asking(range: Probe.smallRange)
        guard let reply = exchange.reply,
            let finding = try? probe.accept(landing, reply, &asking),
            finding.whole(job.options) != nil, !job.isTooLarge(finding.file)
        else { return nil }
        return finding
    }

    /// Reports of a small file that it began, as is reported of every file.
    private func reportWhole(_ finding: Probe.Finding, _ state: DownloadState) {
        guard let target = state.target else { return }
        report(
            .started(
                DownloadStart(
                    path: target.path, size: finding.file.size, resumedBytes: 0, connections: 1,
                    transfer: finding.file.transfer,
                    identity: finding.file.identity(with: job.options.checksum))))
    }
}

extension Probe.Finding {
    /// Whether the reply that is there begins an HTML page in place of the file; `nil` where its first bytes are not
    /// there.
    func isPage(for target: FileTarget?, _ job: DownloadJob) -> Bool? {
        guard let reply = firstReply, (reply.range?.start ?? 0) == 0, !reply.body.isEmpty else {
            return nil
        }
        return job.isPage(file, for: target, start: Array(reply.body.prefix(PageForFile.length)))
    }

    /// The bytes of the file, when a reply has brought all of them, and no part is wanted of it.
    func whole(_ options: DownloadOptions) -> [UInt8]? {
        guard let reply = firstReply, reply.end == .complete, !options.files.keepManifest
        else {
            return nil
        }
        let count = Int64(reply.body.count)
        if let size = file.size { return size == count ? reply.body : nil }
        return reply.range == nil && options.limits.maxSize == nil ? reply.body : nil
    }
}
