import Assembler

/// One fetch on the loop thread, which a task waits for.
struct FetchRun: Sendable {
    /// How a fetch ended, what it reported last, and what each server has brought.
    typealias End = (outcome: Fetch.Outcome, last: DownloadProgress?, ledger: MirrorLedger)

    let loop: TransferLoop
    let setup: Fetch.Setup
    let output: any Output
    /// When the download began, on the monotonic clock.
    let started: Double
    /// Bytes that earlier fetches of the download have received.
    let earlier: Int64
    let report: @Sendable (DownloadEvent) -> Void
    /// Where whoever asks finds it; `nil` where nobody does.
    let present: PresentFetch?

    /// Fetches until all is there or nothing more can be done; cancelling the task stops it in order.
    ///
    /// - Parameter gather: Has mirrors join, as long as it is under way.
    /// - Returns: How it ended.
    func callAsFunction(
        _ gather:
            @escaping @Sendable (_ join: @escaping @Sendable (Fetch.Mirror) -> Void) async
            -> Void
    ) async -> End {
        // Asks further mirrors, which join.
        let gathering = Monitor<Task<Void, Never>?>(nil)
        defer {
            present?.ended()
            gathering.withLock { $0 }?.cancel()
        }
        // With the answer comes everything that the loop thread did to the output, which is this task's
        // again from here on.
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
    /// What a fetch of a file works with, as earlier attempts have left it.
    init(
        _ job: DownloadJob, _ primary: Primary, _ attempts: Attempts, hasLinks: Bool,
        resolve: @escaping @Sendable () async -> Probe.Resolution
    ) {
        let (finding, probe, options) = (primary.finding, primary.probe, job.options)
        var server = probe.server(primary.number, finding)
        // A new link is tried before its server is left alone.
        if hasLinks { server.mayRest = false }
        let machine = FetchMachine.Setup(
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
        self.init(
            machine: machine, connecting: probe.connecting, firstReply: finding.firstReply,
            resolve: resolve)
    }
}
