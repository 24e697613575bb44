import Assembler

extension Fetch: FetchActions {
    // MARK: Requests

    func request(_ slot: Int, _ ask: FetchMachine.Ask) {
        while lines.count <= slot { lines.append(Line()) }
        let transfer = worker.start(request(ask)) { [unowned self, check = ask.check] reply in
            judge(slot, reply, check)
        } onEnd: { [unowned self] end in
            ended(slot, end)
        }
        own(transfer)
        transfer.stallClock.before = ask.stalledBefore
        lines[slot] = Line(transfer: transfer)
    }

    /// Assigns a transfer to this fetch, so that the fetch's rate limit applies to it.
    private func own(_ transfer: Transfer) {
        transfer.owner = id
        if worker.pacing.isLimited(id), !transfer.pace.isOn { transfer.pace.start() }
    }

    private func request(_ ask: FetchMachine.Ask) -> TransferRequest {
        var request = TransferRequest(url: ask.url, connecting: setup.connecting)
        request.range = ask.range
        request.ifRange = ask.ifRange
        request.isDecoded = setup.machine.isDecoded
        request.address = ask.address
        request.wantsFreshConnection = ask.wantsFreshConnection
        if let size = ask.bufferSize { request.bufferSize = size }
        return request
    }

    /// Creates the writer for the body of a connection's response.
    func makeWriter(_ slot: Int, _ body: FetchMachine.Body) -> ExtentWriter {
        let writer = output.makeWriter(at: body.start)
        if let digest = body.proof { writer.expect(digest, end: body.replyEnd) }
        lines[slot].writer = writer
        return writer
    }

    func adopt(
        _ slot: Int, _ body: FetchMachine.Body, upTo limit: Int64?, goesOn: Bool
    ) -> Int32 {
        guard let first = setup.firstReply else { return 0 }
        while lines.count <= slot { lines.append(Line()) }
        let writer = makeWriter(slot, body)
        let problem = first.body.withUnsafeBytes { bytes in
            bytes.baseAddress.map { writer.write($0, bytes.count) } ?? 0
        }
        guard problem == 0 else {
            declineOffer()
            return problem
        }
        guard goesOn, let transfer = offered.flatMap(worker.transfer) else { return 0 }
        offered = nil
        own(transfer)
        if first.body.isEmpty, let seconds = transfer.connectSeconds {
            servers.connected(to: transfer.request.url.origin, in: seconds)
        }
        lines[slot].transfer = transfer
        if let limit { worker.allow(transfer.id, upTo: limit) }
        let verdict = Transfer.Verdict.write(
            writer, limit: body.limit, replyEnd: body.replyEnd)
        worker.resume(transfer, verdict) { [unowned self] end in ended(slot, end) }
        return 0
    }

    func declineOffer() {
        if let offered { worker.drop(offered) }
        offered = nil
    }

    func drop(_ slot: Int) {
        guard let transfer = lines[slot].transfer else { return }
        lines[slot].transfer = nil
        worker.drop(transfer.id)
    }

    func allow(_ slot: Int, upTo offset: Int64) {
        if let transfer = line(slot).transfer { worker.allow(transfer.id, upTo: offset) }
    }

    func shorten(_ slot: Int, to end: Int64) -> Int64? {
        line(slot).transfer?.shorten(to: end)
        line(slot).writer?.waiveProof()
        return line(slot).writer?.position
    }

    func retire(_ slot: Int, dropping: Bool) -> Int64? {
        guard let writer = line(slot).writer else { return nil }
        lines[slot].writer = nil
        if dropping { writer.dropUnproven() } else { writer.waiveProof() }
        output.retire(writer)
        return writer.position
    }

    // MARK: Hedges, canaries and other tasks

    func sendHedge(_ slot: Int, _ ask: FetchMachine.Ask) {
        let transfer = worker.start(request(ask)) { [unowned self, check = ask.check] reply in
            judgeHedge(slot, reply, check)
        } onEnd: { [unowned self] end in
            hedgeEnded(slot, end)
        }
        own(transfer)
        transfer.collecting.patience = .infinity
        hedges[slot] = transfer
    }

    func writeHedge(_ slot: Int, from offset: Int, to range: ByteRange) -> Int32 {
        let writer = output.makeWriter(at: range.start)
        lines[slot].writer = writer
        let bytes = hedges[slot]?.collecting.bytes ?? []
        return bytes.withUnsafeBytes { bytes in
            bytes.baseAddress.map { writer.write($0 + offset, Int(range.count)) } ?? 0
        }
    }

    func dropHedge(_ slot: Int) {
        if let transfer = hedges.removeValue(forKey: slot) { worker.drop(transfer.id) }
    }

    func sendCanary(_ ask: FetchMachine.Ask, patience: Double) {
        var request = request(ask)
        request.connecting.bound(by: patience)
        let transfer = worker.start(request) { [unowned self, check = ask.check] reply in
            judgeCanary(reply, check)
        } onEnd: { [unowned self] end in
            canaryEnded(end)
        }
        own(transfer)
        canary = transfer
    }

    func dropCanary() {
        if let canary { worker.drop(canary.id) }
        canary = nil
    }

    func resolve(_ source: Int, mirror number: Int) {
        guard let resolve = resolvers[number] else { return }
        resolving[source] = Task { [id, loop] in
            let resolution = await resolve()
            loop.perform { $0.fetch(id)?.resolved(source, resolution) }
        }
    }

    func cancelResolving(_ source: Int) { resolving.removeValue(forKey: source)?.cancel() }

    func findAddresses() {
        let url = setup.machine.primary.url
        loop.findAddresses(for: .init(url: url, connecting: setup.connecting))
    }

    func startVerifying() {
        output.startVerifying { [id, loop] range, isIntact in
            loop.perform { $0.fetch(id)?.verified(range, isIntact: isIntact) }
        }
    }

    // MARK: Records and reports

    func record() throws(AssemblyError) { try output.record() }

    func reached(_ address: String, of origin: String) {
        servers.addresses.reached(address, of: origin)
    }

    func gaveUp(_ origin: String) { servers.contacts.gaveUp(origin, now: now) }

    func report(_ notice: DownloadNotice) { notify(notice) }

    func report(_ progress: FetchMachine.Progress) {
        reporter.report(
            progress, size: setup.machine.identity.size,
            limit: worker.pacing.limit.bytesPerSecond, now: now)
    }

    func finish(_ outcome: FetchMachine.Outcome, _ ledger: MirrorLedger) {
        // The worker must not know this fetch any more when `completion` runs: the machine handles
        // an event until this function returns, and must not be called meanwhile.
        worker.remove(id)
        worker.pacing.limit(id, to: nil, now: now)
        servers.leave(id)
        do throws(AssemblyError) {
            try output.record()
            completion(outcome, ledger)
        } catch {
            // The machine's failure is the cause, so it is reported rather than the failed record.
            completion(outcome.isFailure ? outcome : .failed(.assembly(error)), ledger)
        }
    }
}
