import Assembler
import SegmenterRules
import SegmenterTransport

/// Runs one fetch on the loop thread, while a task waits for its result.
struct FetchRun: Sendable {
    /// The result of a fetch, its last progress, and the bytes that each server has delivered.
    typealias End = (outcome: Fetch.Outcome, last: DownloadProgress?, ledger: MirrorLedger)

    let loop: TransferLoop
    let setup: Fetch.Setup
    let output: any Output
    /// When the download started, in seconds on the monotonic clock.
    let started: Double
    /// The number of bytes that earlier fetches of the download have received.
    let earlier: Int64
    let report: @Sendable (DownloadEvent) -> Void
    /// Where other tasks find the fetch; `nil` if no task looks for it.
    let present: PresentFetch?

    /// Downloads until all bytes have arrived or the fetch cannot continue.
    ///
    /// Cancelling the task stops the fetch in an orderly way.
    ///
    /// - Parameter gather: Looks for mirrors and lets them join; cancelled when the fetch ends.
    /// - Returns: The result.
    func callAsFunction(
        _ gather:
            @escaping @Sendable (_ join: @escaping @Sendable (Fetch.Mirror) -> Void) async
            -> Void
    ) async -> End {
        // The task that probes mirrors, which then join.
        let gathering = Monitor<Task<Void, Never>?>(nil)
        defer {
            present?.ended()
            gathering.withLock { $0 }?.cancel()
        }
        // The loop thread owns the output until it resumes the answer. All its writes are visible
        // to this task afterwards.
        return await loop.wait(otherwise: (.cancelled, nil, .init())) { [self] worker, answer in
            let reporter = ProgressReporter(started: started, earlier: earlier) {
                [report] in report(.progress($0))
            }
            let fetch = Fetch(
                setup, assembly: output, worker: worker, loop: loop, reporter: reporter,
                report: { [report] in report(.notice($0)) }
            ) { outcome, ledger in
                answer.resume(returning: (outcome, reporter.last, ledger))
            }
            gathering.withLock { gathering in
                gathering = Task { [loop, id = fetch.id] in
                    await gather { mirror in loop.perform { $0.fetch(id)?.join(mirror) } }
                }
            }
            present?.began(fetch.id, on: loop)
            fetch.start(now: monotonicSeconds())
            return fetch.id
        } cancel: { worker, number in
            worker.fetch(number)?.cancel()
        }
    }
}

extension Fetch.Setup {
    /// Describes a fetch of a file, with the results of earlier attempts.
    init(
        _ job: DownloadJob, _ primary: Primary, _ attempts: Attempts, hasLinks: Bool,
        set: Fetch.FileSet? = nil,
        resolve: @escaping @Sendable () async -> Probe.Resolution
    ) {
        let (finding, probe, options) = (primary.finding, primary.probe, job.options)
        var server = probe.server(primary.number, finding)
        // A new link is tried before segget leaves the server alone for a while.
        if hasLinks { server.mayRest = false }
        var machine = FetchMachine.Setup(
            primary: server,
            isOneStream: finding.file.transfer != .segments, asksOnce: probe.asksOnce,
            isDecoded: finding.file.isDecoded,
            vouchedDates: attempts.samples.vouchedDates, isProven: finding.isProven,
            connections: job.connections(for: finding.file.size),
            findsConnections: options.connections.isFound && !options.singleRequest,
            isMostGiven: options.connections != .automatic,
            limits: options.limits, policy: probe.policy,
            isBeginning: !options.areRetriesGiven && !job.isRepair,
            isDoubted: attempts.isDoubted, hasContradicted: attempts.hasContradicted,
            endsWithNetwork: probe.endsWithNetwork, endsToRest: probe.connecting.endsToRest)
        // A file with mirrors uses several hosts, and finds its own number of connections.
        let isOfSet =
            set != nil && !machine.isOneStream && !machine.asksOnce && options.mirrors.isEmpty
        machine.isOfSet = isOfSet
        self.init(
            machine: machine, connecting: probe.connecting, firstReply: finding.firstReply,
            resolve: resolve, set: isOfSet ? set : nil)
    }
}
