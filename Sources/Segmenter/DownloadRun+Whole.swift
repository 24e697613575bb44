import Assembler

// Small files of a batch, which one request brings.
extension DownloadRun {
    /// What a batch does for its small files.
    struct Together: Sendable {
        let publisher: WholeFilePublisher
        let gate: BatchGate
        /// Whether it is begun like any other file, with a place at the gate that it has already: it has
        /// mirrors, or something stands at the names that are to be expected.
        var isBegun: Bool
        /// Notes that one request has brought the file, of so many bytes.
        let hasCome: @Sendable (Int) -> Void
        /// Notes that it goes the way of others nevertheless.
        let isDeclined: @Sendable () -> Void
        /// Notes that it is done; takes the usual time to the beginning of a reply, in seconds.
        let isDone: @Sendable (Double?) -> Void
        /// Runs what chooses a name when the turn of the file has come.
        let whenDue: @Sendable (@escaping @Sendable () -> Void) -> Void
        /// Chooses the name in a folder, from the one that is suggested and the full URLs; blocks.
        let claim: @Sendable (Target, [String]) throws(AssemblyError) -> String
    }

    /// Whether one request is to bring the file, if it is small.
    var asksForWhole: Bool {
        guard let together, !together.isBegun, !isRepair, options.mirrors.isEmpty else {
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
        guard let held = finding.held, held.end == .complete, !options.files.keepManifest else {
            return nil
        }
        let count = Int64(held.body.count)
        if let size = finding.file.size { return size == count ? held.body : nil }
        return held.range == nil && options.limits.maxSize == nil ? held.body : nil
    }

    /// Publishes a file whose bytes have all come.
    ///
    /// - Returns: The file; `nil` when it is to be put together like any other one. Where the list
    ///   gives names, it has its name then.
    func publishWhole(
        _ body: [UInt8], _ finding: Probe.Finding, _ url: WebURL, _ state: inout State,
        _ started: Double
    ) async throws(DownloadError.Reason) -> DownloadedFile? {
        guard let together, let suggested = state.target, state.standing == nil,
            state.mirroring == nil
        else { return nil }
        var isFixed = false
        if case .file = destination { isFixed = !options.naming.numbersTaken }
        let needsName = !isFixed && !state.isNamed
        let (chosen, problem) = (Monitor<Target>(suggested), Monitor<AssemblyError?>(nil))
        let template = try request(finding, url, state)
        together.hasCome(body.count)
        let outcome = await Answer<WholeFilePublisher.Outcome>.wait { answer in
            let job = WholeFilePublisher.Job(
                bytes: body,
                request: { [urls = [url.text]] in
                    guard needsName else { return template }
                    var request = template
                    do throws(AssemblyError) {
                        request.name = try together.claim(suggested, urls)
                    } catch {
                        problem.withLock { [error] in $0 = error }
                        answer.resume(returning: .declined)
                        return nil
                    }
                    chosen.withLock { [name = request.name] in $0.name = name }
                    return request
                }, tell: { answer.resume(returning: $0) })
            if needsName {
                together.whenDue { together.publisher.submit(job) }
            } else {
                together.publisher.submit(job)
            }
        }
        if let problem = problem.withLock({ $0 }) { throw .assembly(problem) }
        state.target = chosen.withLock { $0 }
        state.isNamed = true
        switch outcome {
        case .declined:
            together.isDeclined()
            return nil
        case .named(let failure):
            state.isPublished = true
            throw .assembly(failure)
        case .published(let published):
            together.isDone(finding.held?.usualWait)
            state.received = published.size
            tellOfWhole(finding, state)
            if let problem = published.attributesProblem {
                tell(.notice(.attributesNotWritten(errno: problem)))
            }
            return DownloadedFile(
                path: published.path, size: published.size, crc32: published.crc32,
                verified: published.verified, bytesReceived: published.size, bytesResumed: 0,
                seconds: monotonicSeconds() - started)
        }
    }

    /// Tells of a small file that it began, as is told of every file.
    private func tellOfWhole(_ finding: Probe.Finding, _ state: State) {
        guard let target = state.target else { return }
        let kind = finding.file.identity.kind
        tell(
            .started(
                DownloadStart(
                    path: Assembly.path(of: target.name, in: target.folder),
                    size: finding.file.size, resumedBytes: 0, connections: 1,
                    plan: finding.file.plan,
                    identity: kind == "none" && options.checksum != nil ? "checksum" : kind)))
    }

    /// Waits until one more file may be fetched in segments.
    func enter(
        _ state: inout State, _ finding: inout Probe.Finding
    ) async throws(DownloadError.Reason) {
        guard let gate = together?.gate, !state.hasEntered else { return }
        if !gate.tryEnter() {
            if let held = finding.held, held.end == nil {
                // No connection waits for other files: the rest is asked for again.
                loop.drop(held.transfer)
                if held.body.isEmpty { finding.held = nil }
            }
            guard await gate.enter() else { throw .cancelled }
        }
        state.hasEntered = true
    }
}
