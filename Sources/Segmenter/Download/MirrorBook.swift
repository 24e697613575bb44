import Assembler

/// The URLs of one file, in their order: what each offers, and which are given up.
///
/// May be used from any task.
final class MirrorBook: Sendable {
    typealias Answer = Result<Probe.Finding, DownloadError.Reason>

    private struct Entry: Sendable {
        var fault: MirrorFault?
        var isOnStandby = false
        var asking: Task<Answer, Never>?
    }

    /// One for each URL; the first is the one that was given first.
    let probes: [Probe]
    private let checksum: Digest?
    private let loop: TransferLoop
    private let beginning: Probe.Beginning
    private let entries: Monitor<[Entry]>
    private let report: @Sendable (DownloadNotice) -> Void

    /// Begins to ask every URL what it offers.
    init(
        _ probes: [Probe], checksum: Digest?, beginning: Probe.Beginning, loop: TransferLoop,
        report: @escaping @Sendable (DownloadNotice) -> Void
    ) {
        self.probes = probes
        self.checksum = checksum
        self.loop = loop
        self.beginning = beginning
        self.report = report
        entries = Monitor(probes.map { _ in Entry() })
        for number in probes.indices { ask(number, beginning) }
    }

    private func ask(_ number: Int, _ beginning: Probe.Beginning) {
        var probe = probes[number]
        probe.beginning = beginning
        // Those after the first have few retries, and short waits, in any case.
        if number > 0 { probe.beginning?.contact.isBounded = false }
        let task = Task { [probe] () async -> Answer in
            do throws(DownloadError.Reason) {
                return .success(
                    try await probe.run(byGet: false, range: Probe.firstByte).released)
            } catch {
                return .failure(error)
            }
        }
        entries.withLock { $0[number].asking = task }
    }

    /// What a URL answered; waits for it.
    func answer(of number: Int) async -> Answer {
        guard let task = entries.withLock({ $0[number].asking }) else {
            return .failure(.cancelled)
        }
        return await task.value
    }

    /// What comes while one waits for answers.
    enum Event: Sendable {
        case answer(Int, Answer)
        /// The first URL has not answered in time, though another one has.
        case late
    }

    /// The answers of all URLs that are not given up, as they come; ends with the last.
    ///
    /// - Parameter grace: Time for the first URL to answer after another one has, in seconds.
    /// - Returns: The events, for one reader.
    func answers(grace: Double) -> AsyncStream<Event> {
        let usable = usable
        return AsyncStream { continuation in
            let task = Task { [self] in
                await withTaskGroup(of: Void.self) { group in
                    for number in usable {
                        group.addTask { [self] in
                            let answer = await answer(of: number)
                            continuation.yield(.answer(number, answer))
                            guard case .success = answer, number > 0 else { return }
                            if usable.contains(0) { try? await Task.sleep(for: .seconds(grace)) }
                            continuation.yield(.late)
                        }
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Ends all that is asked.
    func cancel() {
        for entry in entries.withLock({ $0 }) { entry.asking?.cancel() }
    }

    /// URLs that are not given up, by number.
    var usable: [Int] { numbers { $0 == nil } }
    /// URLs that may have the right file, as far as only a digest can show.
    var possible: [Int] { numbers { $0?.mayBeRight(checksum) ?? true } }

    private func numbers(_ matches: (MirrorFault?) -> Bool) -> [Int] {
        let entries = entries.withLock { $0 }
        return entries.indices.filter { matches(entries[$0].fault) }
    }

    /// Gives a URL up; says so, the first time.
    func drop(_ number: Int, _ fault: MirrorFault) {
        guard note(number, fault) else { return }
        report(.mirrorDropped(url: probes[number].url.redacted, why: fault))
    }

    /// Notes that a URL is given up.
    ///
    /// - Returns: Whether it was not before, or for a reason that can pass.
    @discardableResult
    func note(_ number: Int, _ fault: MirrorFault) -> Bool {
        entries.withLock { entries in
            let before = entries[number].fault
            guard before?.mayBeRight(checksum) ?? true, before != fault else { return false }
            entries[number].fault = fault
            return true
        }
    }

    /// The first URL that was given up because the server refused it, as an expired link would be, and why.
    var firstRefusal: (number: Int, reason: DownloadError.Reason)? {
        for (number, entry) in entries.withLock({ $0 }).enumerated() {
            if case .failed(let reason)? = entry.fault, reason.linkStatus != nil {
                return (number, reason)
            }
        }
        return nil
    }

    /// Takes those into use again that were given up because the network was away, and asks them anew.
    ///
    /// - Parameter before: Those that were in use when that was noticed: whatever was wrong with them since
    ///   then, was the network's doing.
    func revive(_ before: [Int]) {
        for (number, fault) in entries.withLock({ $0 }).map(\.fault).enumerated() {
            guard let fault else { continue }
            guard before.contains(number) || fault.reason.isNetworkLoss else { continue }
            restore(number)
            ask(number, beginning)
        }
    }

    /// Takes a URL that was given up into use again.
    func restore(_ number: Int) { entries.withLock { $0[number].fault = nil } }

    /// Keeps a URL as a standby mirror; says so, the first time.
    func keepAsStandby(_ number: Int) {
        let isNew = entries.withLock { entries in
            defer { entries[number].isOnStandby = true }
            return !entries[number].isOnStandby
        }
        if isNew { report(.mirrorOnStandby(url: probes[number].url.redacted)) }
    }

    /// Every URL that was given up, in order, and why.
    var failed: [FailedMirror] {
        zip(probes, entries.withLock { $0 }).compactMap { probe, entry in
            entry.fault.map { FailedMirror(url: probe.url.redacted, fault: $0) }
        }
    }

    /// Why the first URL that was given up is.
    var firstReason: DownloadError.Reason? { failed.first?.fault.reason }
}
