import Assembler

// The ranged `GET` that takes the place of `HEAD`, and what is made of its reply.
extension Probe {
    /// What `GET` asks, and what is known before.
    struct Asking {
        /// The bytes that it asks for, from the first on; `nil` for the whole file.
        var range: ByteRange?
        /// An answer that has come.
        var first: Landing?
        /// Whether nothing has come from the server so far.
        var isMute = false
        /// What `HEAD` said of the file, and the status that it was answered with.
        var said: RemoteIdentity?
        var headStatus: Int?
        /// Whether the body is to be decoded.
        var isDecoded = false
        /// The range that was left out, because of which a request may have been refused.
        var refused: ByteRange?
        /// What a part told of a file that is shorter than `HEAD` said.
        var shortened: RemoteIdentity?

        /// Leaves the range out, once: a request without one tells whether it was to blame.
        ///
        /// - Returns: Whether another request is worth it.
        mutating func leavesRangeOut(because status: Int) -> Bool {
            guard let range, refused == nil, Self.mayRefuseRanges.contains(status),
                status != headStatus
            else { return false }
            (refused, self.range) = (range, nil)
            return true
        }

        /// What servers answer to a range that they do not like.
        static let mayRefuseRanges: Set = [400, 403, 404, 405, 500, 501]
    }

    /// Asks with `GET`, again and again where that may help.
    func get(_ asking: Asking) async throws(DownloadError.Reason) -> Finding {
        var (asking, answered) = (asking, answered)
        var (attempts, failures, refusals) = (0, 0, 0)
        var isBroken = false
        var beginning = beginning
        beginning?.contact.isMute = asking.isMute
        while true {
            let landing: Landing
            if let first = asking.first {
                (landing, asking.first) = (first, nil)
            } else {
                landing = try await follow(
                    .get, range: asking.range, isBroken: isBroken, isDecoded: asking.isDecoded,
                    turn: failures + (asking.isMute ? 1 : 0), answered: answered)
                answered = nil
            }
            let exchange = landing.exchange
            switch exchange.reply?.status {
            case 200?, 206?:
                guard let reply = exchange.reply else { continue }
                noteServed(landing.url, after: refusals)
                do throws(ContractBreach) {
                    return try accept(landing, reply, &asking)
                } catch {
                    try asking.goOn(after: error, coding(of: reply, at: landing.url))
                    report(.replyRefused(error))
                    continue
                }
            case 416? where asking.range != nil:
                // An empty file has no range.
                asking.range = nil
                continue
            case let status? where asking.leavesRangeOut(because: status): continue
            default: break
            }
            if let range = asking.refused, asking.range == nil { asking.range = range }
            let failure = try await failure(of: exchange, at: landing.url, refusals: &refusals)
            failures += 1
            // Perhaps it is HTTP/2 that does not work there.
            isBroken = isBroken || exchange.reply == nil
            // An address that fails is no attempt that counts, nor to be waited for, before all have.
            let tried = failures + (asking.isMute ? 1 : 0)
            let isLast = await addresses(of: landing.url).count <= tried
            let isSpare = exchange.isOneTooMany || !isLast || refusals > 0
            var step = FirstContact.Step.asEver
            if !isSpare, !(await isOneTooMany(failure, at: landing.url)) {
                attempts += 1
                step = await self.step(after: failure, exchange, at: landing.url, &beginning)
            } else if !isLast, beginning?.contact.isBounded ?? false {
                step = .again(after: 0)
            }
            guard policy.allows(attempts), step != .giveUp else {
                if case .breach(let breach) = failure { throw .contract(breach) }
                throw .transfer(failure, attempts: attempts)
            }
            if case .again(let delay) = step {
                try await pause(failures, delay: delay, failure)
            } else {
                // What may be a limit is not asked for too soon.
                try await pause(
                    failures, isLast ? exchange.reply?.retryAfter : nil, failure,
                    random: .random(in: refusals > 0 ? 0.5..<1 : 0..<1))
            }
        }
    }

    /// What a reply to `GET` says, when its body can be kept.
    ///
    /// - Throws: Why it cannot, or may be no more than a part.
    func accept(
        _ landing: Landing, _ reply: Reply, _ asking: inout Asking
    ) throws(ContractBreach) -> Finding {
        var landing = landing
        // Whoever still holds the answer does not hold what waits of it.
        landing.exchange.paused = landing.exchange.paused?.handOn()
        if let coding = coding(of: reply, at: landing.url), coding != .saved {
            guard coding == .decoded, asking.isDecoded, reply.status == 200 else {
                throw .contentCoding(reply["content-encoding"] ?? "")
            }
            _ = try reply.part(asked: nil)
            return finding(landing, reply, by: .get, isDecoded: true)
        }
        var finding: Finding
        if let part = try reply.part(asked: asking.range), let asked = asking.range {
            try reply.check(part, asked: asked)
            finding = self.finding(landing, reply, by: .get, part: part)
        } else {
            let collected = landing.exchange.end == .complete ? landing.exchange.body.count : nil
            let length = reply.contentLength ?? collected.map { Int64($0) }
            guard !reply.mayBePart(of: asking.range, length: length) || length == asking.said?.size
            else { throw .contentRangeUnusable(nil) }
            finding = self.finding(landing, reply, by: .get)
            finding.firstReply?.ignored = asking.range
        }
        try asking.compare(&finding)
        return finding
    }

    /// The addresses of a host that are asked in turn; none where connections are not spread.
    func addresses(of url: WebURL) async -> [String] {
        guard spreads, NamedHost(origin: url.origin) != nil else { return [] }
        return await loop.addresses(of: url.origin)
    }

    /// Why an exchange failed, when trying again may help.
    ///
    /// - Throws: What no retry can mend.
    static func failure(of exchange: Exchange) throws(DownloadError.Reason)
        -> TransferFailure
    {
        if let status = exchange.reply?.status {
            if (200..<300).contains(status) { return .breach(.unexpectedStatus(status)) }
            guard !isRefusal(status) else { throw refusal(status) }
            guard isTransient(status) else { throw .transfer(.status(status), attempts: 1) }
            return .status(status)
        }
        switch exchange.end {
        case .failed(.network(let code, _)) where isInterfaceFailure(code):
            throw .access(.unusable(.interface))
        case .failed(.network(let code, let text)) where isHopelessHandshake(code, text):
            throw .transfer(.network(code: code, message: text), attempts: 1)
        case .failed(let failure): return failure
        case .untrusted(let text): throw .untrusted(text)
        case .cancelled: throw .cancelled
        default: return .network(code: 0, message: "no response")
        }
    }

    /// Waits before the next attempt; `random`, in 0...1, is the share of the longest delay.
    func pause(
        _ failures: Int, _ retryAfter: Double?, _ failure: TransferFailure,
        random: Double = .random(in: 0..<1)
    ) async throws(DownloadError.Reason) {
        if let retryAfter, retryAfter > policy.longestRetryAfter {
            throw .transfer(.retryAfterTooLong(seconds: retryAfter), attempts: failures)
        }
        let delay = policy.delay(
            failures: failures, retryAfter: retryAfter, random: random)
        try await pause(failures, delay: delay, failure)
    }

    /// Waits for so many seconds before the next attempt.
    private func pause(
        _ failures: Int, delay: Double, _ failure: TransferFailure
    ) async throws(DownloadError.Reason) {
        report(.retrying(range: nil, attempt: failures + 1, delay: delay, cause: failure))
        do {
            try await Task.sleep(for: .seconds(delay))
        } catch {
            throw .cancelled
        }
    }
}

extension Probe.Asking {
    /// Holds what `GET` says against what `HEAD` has said, and adds what only that tells.
    ///
    /// - Throws: `otherSize`, when a reply to a range makes the file shorter than `HEAD` said of the same
    ///   version: a request without a range is to say the same first.
    fileprivate mutating func compare(_ finding: inout Probe.Finding) throws(ContractBreach) {
        let got = finding.file.identity
        if range == nil, got == shortened {
            // So it was `HEAD` that lied, and ranges are served.
            finding.file.acceptsRanges = true
        }
        guard let said else { return }
        if range != nil, let length = said.size, let size = got.size, size < length,
            got.etag == said.etag, got.lastModified == said.lastModified
        {
            shortened = finding.firstReply?.range == nil ? nil : got
            throw .otherSize(expected: length, got: size)
        }
        finding.isToldByHead =
            said.size == got.size && said.etag == got.etag && said.lastModified == got.lastModified
        finding.file.identity.remember(said)
        if finding.modified == nil, let date = finding.file.identity.lastModified {
            finding.modified = secondsSince1970(httpDate: date)
        }
    }

    /// What to ask after a reply whose body cannot be used.
    ///
    /// - Throws: The breach, when nothing is left to be asked.
    fileprivate mutating func goOn(
        after breach: ContractBreach, _ coding: ContentCoding?
    ) throws(DownloadError.Reason) {
        if case .contentCoding = breach {
            guard coding == .decoded, !isDecoded else { throw .contract(breach) }
            (isDecoded, range) = (true, nil)
            return
        }
        guard range != nil else { throw .contract(breach) }
        range = nil
    }
}
