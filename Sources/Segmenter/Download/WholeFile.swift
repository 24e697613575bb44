import Assembler
import SegmenterRules
import SegmenterTransport

// Small files of a list, which one request delivers.
extension DownloadRun {
    /// Whether one request asks for the whole file, if it is small.
    var asksForWhole: Bool {
        guard let batch, !batch.isBegun, !job.keepsPart, job.options.mirrors.isEmpty,
            job.options.limits.rate == nil, !job.options.singleRequest
        else { return false }
        return job.goesToFile
    }

    /// The result of publishing bytes, and the name that they have.
    struct WholeEnd: Sendable {
        let outcome: Result<WholeFilePublisher.Outcome, AssemblyError>
        let name: String
    }

    /// Hands bytes to the publisher, when it is the turn of the file's name.
    ///
    /// `request` and, unless that returns nothing, `then` are called on the publisher's thread.
    func submit(
        _ body: [UInt8], _ url: WebURL, isNamed: Bool,
        request: @escaping @Sendable () -> Assembly.Request?,
        then: @escaping @Sendable (WholeEnd) -> Void
    ) {
        guard let batch else { return }
        let job = WholeFilePublisher.Job(bytes: body) { [self] isOpen in
            guard var request = request() else { return nil }
            do throws(AssemblyError) {
                if !isOpen(request.folder) { try folders.make(request.folder) }
                guard !isNamed else { return request }
                let suggested = FileTarget(folder: request.folder, name: request.name)
                let mayTakeOver = self.job.mayTakeOver(suggested)
                request.name = try batch.claim(suggested, [url.text], mayTakeOver)
                guard mayTakeOver, request.name == suggested.name else { return request }
                // The file at the destination is looked at first.
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

    // MARK: The first request

    /// The response to a first request, for the code that continues with it.
    struct Answered: Sendable {
        let exchange: Exchange
        /// When the request was made, on the monotonic clock.
        let began: Double
        /// The bytes that the request asked for.
        var range = Probe.smallRange
        /// The destination, if the list has already given the file its name.
        var named: FileTarget?
    }

    /// Returns the request that may deliver the file, if nothing is to be done or waited for before it.
    ///
    /// - Parameter range: The bytes to request.
    /// - Returns: The probe, and the request.
    func firstRequest(
        _ range: ByteRange = Probe.smallRange
    ) -> (probe: Probe, request: TransferRequest)? {
        guard asksForWhole, job.options.limits.maxTime == nil,
            let probe = try? makeProbe()
        else { return nil }
        var request = TransferRequest(url: probe.url, connecting: probe.connecting)
        request.range = range
        // During a long pause of the server, the file gives its slot to another. Files of a set in
        // the queue would all end instead (`SlotRelease.ends`): they wait.
        request.connecting.endsToRest = !job.options.endsToRest
        return (probe, request)
    }

    /// Publishes a file that its first request has delivered.
    ///
    /// - Parameters:
    ///   - answered: The response, with a complete body.
    ///   - probe: The probe that made the request.
    ///   - then: Called once, on the publisher's thread, with the result; without one if there is
    ///     more to do, and with what to continue with.
    func publish(
        _ answered: Answered, _ probe: Probe,
        then: @escaping @Sendable (Result<DownloadedFile, DownloadError>?, Answered) -> Void
    ) {
        let found = Monitor<Found?>(nil)
        submit(answered.exchange.body, probe.url, isNamed: job.namesFile) { [self] in
            if let finding = whole(answered, probe) {
                var work = DownloadWork(self, probe)
                work.target = job.target(for: finding.file, from: probe.url)
                if !work.refuses(finding), let request = try? work.request(finding, probe.url) {
                    let ours = Found(work, finding)
                    found.withLock { $0 = ours }
                    return request
                }
            }
            then(nil, answered)
            return nil
        } then: { [self] end in
            guard let found = found.withLock({ $0 }) else { return }
            var work = found.work
            let finding = found.finding
            if case .success(.declined) = end.outcome {
                var answered = answered
                answered.named = work.target
                answered.named?.name = end.name
                return then(nil, answered)
            }
            if job.options.access.isInsecure { report(.notice(.certificatesUnchecked)) }
            report(.probed(finding.file))
            do throws(DownloadError.Reason) {
                guard let file = try work.take(end, finding, answered.began) else { return }
                report(.finished(file))
                then(.success(file), answered)
            } catch {
                then(.failure(work.error(error)), answered)
            }
        }
    }

    /// The facts that the response for a small file states, kept until the file is published.
    ///
    /// It is a class because its values are large.
    private final class Found: Sendable {
        let work: DownloadWork
        let finding: Probe.Finding

        init(_ work: DownloadWork, _ finding: Probe.Finding) {
            self.work = work
            self.finding = finding
        }
    }

    /// Returns what the response to the first request states, if it has delivered the whole file.
    private func whole(_ answered: Answered, _ probe: Probe) -> Probe.Finding? {
        let exchange = answered.exchange
        let landing = Probe.Landing(url: probe.url, redirects: 0, exchange: exchange)
        var asking = Probe.Asking(range: answered.range)
        guard let reply = exchange.reply,
            let finding = try? probe.accept(landing, reply, &asking),
            finding.whole(job.options) != nil, !job.isTooLarge(finding.file),
            job.difference(of: finding.file) == nil
        else { return nil }
        return finding
    }
}

extension DownloadWork {
    /// Publishes a file of which the probe has delivered all bytes.
    ///
    /// - Parameter started: When the download began, on the monotonic clock.
    /// - Returns: The file; `nil` if it is downloaded like any other. If the list gives names, it
    ///   has its name then.
    /// - Throws: Why it cannot be published.
    mutating func publishWhole(
        _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        let (finding, url) = (primary.finding, primary.probe.url)
        guard let batch, let body = finding.whole(job.options), mirrors == nil else { return nil }
        let request = try request()
        guard !refuses(finding) else { throw .htmlPage }
        batch.hasCome(body.count)
        let isNamed = machine.preparation.isNamed
        let end = await Answer<DownloadRun.WholeEnd>.wait { [run] answer in
            run.submit(body, url, isNamed: isNamed) {
                request
            } then: {
                answer.resume(returning: $0)
            }
        }
        let file = try take(end, finding, started)
        if file == nil { batch.isDeclined() }
        return file
    }

    /// Takes the result of handing bytes to the publisher.
    ///
    /// - Returns: The file; `nil` if it is downloaded like any other.
    mutating func take(
        _ end: DownloadRun.WholeEnd, _ finding: Probe.Finding, _ started: Double
    ) throws(DownloadError.Reason) -> DownloadedFile? {
        switch end.outcome {
        case .failure(let error): throw .assembly(error)
        case .success(let outcome):
            target?.name = end.name
            machine.preparation.takeName()
            switch outcome {
            case .declined: return nil
            case .named(let failure):
                record.isPublished = true
                throw .assembly(failure)
            case .published(let published):
                batch?.isDone(finding.firstReply?.wait)
                target.map { folders.keep($0.folder) }
                reportWhole(finding)
                if let problem = published.attributesProblem {
                    report(.notice(.attributesNotWritten(errno: problem)))
                }
                var file = DownloadedFile(
                    path: published.path, size: published.size, crc32: published.crc32,
                    verified: published.verified, bytesReceived: published.size,
                    bytesResumed: 0, duration: Duration(seconds: monotonicSeconds() - started))
                file.isPage = finding.isPage(for: target, job) ?? false
                return file
            }
        }
    }

    /// Whether the file is refused because it is an HTML page.
    func refuses(_ finding: Probe.Finding) -> Bool {
        job.options.files.refusesHTML && finding.isPage(for: target, job) == true
    }

    /// Reports the start of a small file, as of any other.
    private func reportWhole(_ finding: Probe.Finding) {
        guard let target else { return }
        report(
            .started(
                DownloadStart(
                    path: target.path, size: finding.file.size, resumedBytes: 0, connections: 1,
                    transfer: finding.file.transfer,
                    identity: finding.file.identity(with: job.options.checksum))))
    }
}

extension Probe.Finding {
    /// Whether the response begins an HTML page in place of the file; `nil` if its first bytes have not arrived.
    func isPage(for target: FileTarget?, _ job: DownloadJob) -> Bool? {
        guard let reply = firstReply, (reply.range?.start ?? 0) == 0, !reply.body.isEmpty else {
            return nil
        }
        return job.isPage(file, for: target, start: Array(reply.body.prefix(PageForFile.length)))
    }

    /// The bytes of the file, if a response has delivered all of them, and no manifest is kept.
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
