import Assembler
import SegmenterRules
import SegmenterTransport

/// The URLs of one file, in the caller's order: the offer of each, and which of them are dropped.
///
/// May be used from any task.
final class MirrorBook: Sendable {
    typealias Answer = Result<Probe.Finding, DownloadError.Reason>

    private struct Entry: Sendable {
        var fault: MirrorFault?
        var isOnStandby = false
        var asking: Task<Answer, Never>?
    }

    /// The probes, one for each URL, in the caller's order.
    let probes: [Probe]
    private let checksum: Digest?
    private let loop: TransferLoop
    private let beginning: Probe.Beginning
    private let entries: Monitor<[Entry]>
    private let report: @Sendable (DownloadNotice) -> Void

    /// Starts to probe every URL.
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
        // Mirrors always have few retries and short waits, so that they need no limit of first
        // contact.
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

    /// Returns the answer of a URL; waits until it has arrived.
    func answer(of number: Int) async -> Answer {
        guard let task = entries.withLock({ $0[number].asking }) else {
            return .failure(.cancelled)
        }
        return await task.value
    }

    /// An event while a download waits for answers.
    enum Event: Sendable {
        case answer(Int, Answer)
        /// The URL given first has not answered in time, but another one has.
        case late
    }

    /// Returns the answers of all URLs that are not dropped, in order of arrival.
    ///
    /// The stream ends after the last answer.
    ///
    /// - Parameter grace: The seconds that the URL given first has to answer after another one has.
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

    /// Cancels all probes.
    func cancel() {
        for entry in entries.withLock({ $0 }) { entry.asking?.cancel() }
    }

    /// The numbers of the URLs that are not dropped.
    var usable: [Int] { numbers { $0 == nil } }
    /// The numbers of the URLs that may have the right file, which only a digest can show.
    var possible: [Int] { numbers { $0?.mayBeRight(checksum) ?? true } }

    private func numbers(_ matches: (MirrorFault?) -> Bool) -> [Int] {
        let entries = entries.withLock { $0 }
        return entries.indices.filter { matches(entries[$0].fault) }
    }

    /// Drops a URL, and reports that if the fault is new.
    func drop(_ number: Int, _ fault: MirrorFault) {
        guard note(number, fault) else { return }
        report(.mirrorDropped(url: probes[number].url.redacted, why: fault))
    }

    /// Records that a URL is dropped.
    ///
    /// - Returns: Whether the record has changed: the URL was in use, or its earlier fault did not
    ///   exclude that it has the right file.
    @discardableResult
    func note(_ number: Int, _ fault: MirrorFault) -> Bool {
        entries.withLock { entries in
            let before = entries[number].fault
            guard before?.mayBeRight(checksum) ?? true, before != fault else { return false }
            entries[number].fault = fault
            return true
        }
    }

    /// The first URL that was dropped because the server refused it as it refuses an expired link,
    /// with the reason.
    var firstRefusal: (number: Int, reason: DownloadError.Reason)? {
        for (number, entry) in entries.withLock({ $0 }).enumerated() {
            if case .failed(let reason)? = entry.fault, reason.linkStatus != nil {
                return (number, reason)
            }
        }
        return nil
    }

    /// Uses URLs again that were dropped because the network was lost, and probes them anew.
    ///
    /// - Parameter before: The URLs that were in use when the loss was noticed. Their later faults
    ///   are attributed to the network.
    func revive(_ before: [Int]) {
        for (number, fault) in entries.withLock({ $0 }).map(\.fault).enumerated() {
            guard let fault else { continue }
            guard before.contains(number) || fault.reason.isNetworkLoss else { continue }
            restore(number)
            ask(number, beginning)
        }
    }

    /// Uses a dropped URL again.
    func restore(_ number: Int) { entries.withLock { $0[number].fault = nil } }

    /// Keeps a URL as a standby mirror, and reports that the first time.
    func keepAsStandby(_ number: Int) {
        let isNew = entries.withLock { entries in
            defer { entries[number].isOnStandby = true }
            return !entries[number].isOnStandby
        }
        if isNew { report(.mirrorOnStandby(url: probes[number].url.redacted)) }
    }

    /// Every dropped URL with its fault, in the caller's order.
    var failed: [FailedMirror] {
        zip(probes, entries.withLock { $0 }).compactMap { probe, entry in
            entry.fault.map { FailedMirror(url: probe.url.redacted, fault: $0) }
        }
    }

    /// The reason for which the first dropped URL was dropped.
    var firstReason: DownloadError.Reason? { failed.first?.fault.reason }
}
