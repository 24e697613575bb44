import Assembler

// The questions that are asked, and how often.
extension Probe {
    /// Replies that must agree before a file that has changed is fetched in segments again.
    private static let consistencyChecks = 4
    /// Replies of another date in a row after which a sample is given up.
    private static let mostMisses = 8
    /// Seconds without a word after which `HEAD` is not waited for any more: some servers never answer it.
    private static let headPatience = 5.0

    /// What became of one attempt to have a question answered.
    enum Attempt<Value> {
        case answered(Value)
        /// It is asked otherwise, at once; that counts for nothing.
        case again
        /// It has failed, and why, where the exchange does not say.
        case failed(Landing, TransferFailure? = nil)
    }

    /// Asks until there is an answer; trouble that may pass is waited out.
    ///
    /// - Parameters:
    ///   - question: What is asked, as far as patience goes.
    ///   - attempt: Asks once.
    /// - Returns: The answer.
    /// - Throws: What `attempt` throws; the failure when there were enough.
    func persist<Value>(
        with question: Persistence.Question,
        _ attempt: (Persistence) async throws(DownloadError.Reason) -> Attempt<Value>
    ) async throws(DownloadError.Reason) -> Value {
        var persistence = Persistence(question, self)
        while true {
            switch try await attempt(persistence) {
            case .answered(let value): return value
            case .again: continue
            case .failed(let landing, let failure):
                try await persistence.wait(after: landing, failure)
            }
        }
    }

    /// What `GET` asks, and what is known before.
    struct Asking {
        /// The bytes that it asks for, from the first on; `nil` for the whole file.
        var range: ByteRange?
        /// A strong validator for `If-Range`, where the range is the rest of a file.
        var ifRange: String?
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
        /// What a part stated of a file that is shorter than `HEAD` said.
        var shortened: RemoteIdentity?

        /// Leaves the range out, once: a request without one shows whether it was to blame.
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

        /// What to ask after a reply whose body cannot be used.
        ///
        /// - Throws: The breach, when nothing is left to be asked.
        mutating func goOn(
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

    /// Asks with `GET`, again and again where that may help.
    func get(_ asking: Asking) async throws(DownloadError.Reason) -> Finding {
        var (asking, answered) = (asking, answered)
        let isStated = asking.said != nil || asking.headStatus == 200
        return try await persist(
            with: .first(beginning, isMute: asking.isMute, isStated: isStated)
        ) {
            (before) async throws(DownloadError.Reason) -> Attempt<Finding> in
            let landing: Landing
            if let first = asking.first {
                (landing, asking.first) = (first, nil)
            } else {
                landing = try await follow(
                    .get, range: asking.range,
                    ifRange: asking.range == nil ? nil : asking.ifRange,
                    isBroken: before.isBroken,
                    isDecoded: asking.isDecoded, turn: before.turn, answered: answered)
                answered = nil
            }
            switch landing.exchange.reply?.status {
            case 200?, 206?:
                guard let reply = landing.exchange.reply else { return .again }
                before.served(landing.url)
                do throws(ContractBreach) {
                    return .answered(try accept(landing, reply, &asking))
                } catch {
                    try asking.goOn(after: error, coding(of: reply, at: landing.url))
                    report(.replyRefused(error))
                    return .again
                }
            case 416? where asking.range != nil:
                // An empty file has no range.
                asking.range = nil
                return .again
            case let status? where !asksOnce && asking.leavesRangeOut(because: status):
                return .again
            default:
                if let range = asking.refused, asking.range == nil { asking.range = range }
                return .failed(landing)
            }
        }
    }

    /// Resolves the original URL again, because the effective one was refused, and checks that the
    /// file is still the one of `identity`.
    func resolveAgain(
        _ identity: RemoteIdentity, by method: RequestMethod = .get, fresh: Bool = false
    ) async -> Resolution {
        let asked = method == .get ? Self.firstByte : nil
        let check = ResponseCheck(asked: asked, identity: identity, sentIfRange: false)
        do throws(DownloadError.Reason) {
            return try await persist(with: .later) {
                (before) async throws(DownloadError.Reason) -> Attempt<Resolution> in
                var landing = try await follow(
                    method, range: asked, fresh: fresh, turn: before.turn)
                // The head is enough.
                landing.exchange.paused = nil
                switch landing.exchange.reply.map(check.verdict) {
                case .accept?: return .answered(.same(landing.url))
                case .breach(let breach)? where breach.isAnotherVersion:
                    return .answered(.changed(breach))
                case .breach(let breach)?: return .failed(landing, .breach(breach))
                case .status?, nil: return .failed(landing)
                }
            }
        } catch {
            return .failed(error)
        }
    }

    /// Whether several replies in a row, each on a connection of its own, state the same version:
    /// servers behind one address may disagree.
    func isConsistent(_ identity: RemoteIdentity) async -> Bool {
        for _ in 0..<Self.consistencyChecks {
            if case .changed = await resolveAgain(identity, fresh: true) { return false }
        }
        return true
    }

    /// Has the server send bytes again, and keeps their checksum only.
    ///
    /// - Parameters:
    ///   - asked: Which bytes.
    ///   - identity: The version that they are of.
    ///   - vouchedDates: Dates with which the same strong tag came, and a sample was the same.
    ///   - least: How many are enough, where fewer were not asked for.
    /// - Returns: What came, from the first byte that was asked for on; `nil` when the reply is of another
    ///   version.
    /// - Throws: Why the bytes cannot be had.
    func sample(
        _ asked: ByteRange, of identity: RemoteIdentity, vouchedDates: Set<String>, least: Int64
    ) async throws(DownloadError.Reason) -> Extent? {
        let check = ResponseCheck(
            asked: asked, identity: identity, sentIfRange: false, vouchedDates: vouchedDates)
        var misses = 0
        return try await persist(with: .later) {
            (before) async throws(DownloadError.Reason) -> Attempt<Extent?> in
            var landing = try await follow(
                .get, range: asked, fresh: misses > 0, turn: before.turn)
            let paused = landing.exchange.paused
            landing.exchange.paused = nil
            switch landing.exchange.reply.map(check.verdict) {
            case .accept(let served?)?:
                guard let paused else { return .again }
                let (taken, end) = await loop.readAway(paused, served)
                if let taken, taken.range.count >= min(asked.count, least) {
                    return .answered(taken)
                }
                if end == .cancelled || Task.isCancelled { throw .cancelled }
                if case .failed(let reason) = end { return .failed(landing, reason) }
                let range = taken?.range ?? served
                return .failed(landing, .breach(.otherRange(asked: asked, got: range)))
            case .breach(let breach)?
            where breach.isDoubt(of: identity) && misses < Self.mostMisses:
                // One of several servers, which differ in the date: another one is to answer.
                misses += 1
                return .again
            case .breach(let breach)?:
                return breach.isAnotherVersion
                    ? .answered(nil) : .failed(landing, .breach(breach))
            default: return .failed(landing)
            }
        }
    }

    /// Asks where the file came from, once, whether it is still the version of `finding`.
    ///
    /// - Returns: How it differs, if it does; or why there is no answer.
    func recheck(
        _ finding: Finding, vouchedDates: Set<String>
    ) async -> Result<ContractBreach?, TransferFailure> {
        let identity = finding.file.identity
        let isByHead = finding.isStatedByHead || !identity.headOnly.isEmpty
        var request = TransferRequest(
            method: isByHead ? .head : .get, url: finding.effective, connecting: connecting)
        request.range = isByHead ? nil : Self.firstByte
        request.connecting.connectTimeout = min(connecting.connectTimeout, EndCheck.patience)
        request.connecting.stallTimeout = min(connecting.stallTimeout, EndCheck.patience)
        request.connecting.endsToRest = true
        let exchange = await loop.exchange(request, pausing: !isByHead)
        let check = ResponseCheck(
            asked: request.range, identity: identity, sentIfRange: false,
            vouchedDates: vouchedDates)
        switch exchange.reply.map(check.verdict) {
        case .accept?: return .success(nil)
        // Where no ranges are served it comes whole: its validators are the same.
        case .breach(.wholeFileForRange)?: return .success(nil)
        case .breach(let breach)?:
            return breach.isAnotherVersion ? .success(breach) : .failure(.breach(breach))
        case .status(let status)?: return .failure(.status(status))
        case nil:
            if case .failed(let failure)? = exchange.end { return .failure(failure) }
            return .failure(.network(code: 0, message: "no answer"))
        }
    }

    // MARK: One attempt

    /// Follows redirects until a response is none, judging each hop; see `RedirectChain`.
    func follow(
        _ method: RequestMethod, range: ByteRange?, ifRange: String? = nil, fresh: Bool = false,
        conditions: [String] = [], isBroken: Bool = false, isDecoded: Bool = false, turn: Int = 0,
        answered: Exchange? = nil, patience: Double = .infinity
    ) async throws(DownloadError.Reason) -> Landing {
        let chain = RedirectChain(
            loop: loop, connecting: connecting, report: report, method: method, range: range,
            ifRange: ifRange, conditions: conditions, isFresh: fresh, isBroken: isBroken,
            isDecoded: isDecoded,
            // What is decoded may be of any length.
            isCollected: collects && method == .get && !isDecoded, spreads: spreads, turn: turn,
            answered: answered, patience: patience)
        return try await chain.follow(from: url)
    }

    /// Asks once, following redirects.
    func landing(
        _ method: RequestMethod, _ range: ByteRange?
    ) async -> Result<Landing, DownloadError.Reason> {
        do throws(DownloadError.Reason) {
            let patience = method == .head ? Self.headPatience : .infinity
            return .success(try await follow(method, range: range, patience: patience))
        } catch {
            return .failure(error)
        }
    }

    /// The addresses of a host that are asked in turn; none where connections are not spread.
    func addresses(of url: WebURL) async -> [String] {
        spreads ? await loop.spreadAddresses(of: url) : []
    }

    // MARK: Failures

    /// The other files of the session, as one server sees them at this moment.
    struct Others: Sendable {
        /// Whether any of them is being served.
        var areServed = false
        /// Whether they have all that the server is known to serve at a time.
        var areAtLimit = false
    }

    /// What the other files of the session have under way at a server.
    func others(at url: WebURL) async -> Others {
        await loop.ask(otherwise: Others()) { [origin = url.origin] worker in
            let load = worker.servers.load(of: origin, now: monotonicSeconds())
            let limit = worker.servers.limits[origin]?.limit
            return Others(
                areServed: load.served > 0 || worker.isServed(by: origin),
                areAtLimit: limit.map { load.served > 0 && load.served + load.asking >= $0 }
                    ?? false)
        }
    }

    /// Whether a request that failed may have been over the server's limit: other files of the
    /// session are being served by the same server at this moment, so that it is no attempt that
    /// counts.
    func isOverLimit(
        _ failure: TransferFailure, at url: WebURL, hadReply: Bool = false
    ) async -> Bool {
        guard failure.mayTurnAway(hadReply: hadReply) else { return false }
        return await others(at: url).areServed
    }

    /// Why a reply refused access.
    static func loginFailure(_ reply: Reply) -> DownloadError.Reason {
        guard reply.status == 401, let schemes = reply.unusableSchemes else {
            return refusal(reply.status)
        }
        return .unusableScheme(schemes)
    }

    /// Why an exchange failed, when trying again may help.
    ///
    /// - Throws: What no retry can mend.
    static func failure(of exchange: Exchange) throws(DownloadError.Reason)
        -> TransferFailure
    {
        if let status = exchange.reply?.status {
            if (200..<300).contains(status) { return .breach(.unexpectedStatus(status)) }
            guard !isRefusal(status) else {
                throw exchange.reply.map(loginFailure) ?? refusal(status)
            }
            guard isTransient(status) else { throw .transfer(.status(status), attempts: 1) }
            return .status(status)
        }
        switch exchange.end {
        case .failed(.network(let code, _)) where isInterfaceFailure(code):
            throw .access(.unusable(.interface))
        case .failed(.network(let code, let text)) where isHopelessHandshake(code, text):
            throw .transfer(.network(code: code, message: text), attempts: 1)
        case .failed(.resting(let rest)): throw .transfer(.resting(for: rest), attempts: 1)
        case .failed(.proxy(let code, let text)) where isHopelessHandshake(code, text):
            throw .transfer(.proxy(code: code, message: text), attempts: 1)
        case .failed(let failure): return failure
        case .untrusted(let text): throw .untrusted(text)
        case .denied(let address): throw .addressDenied(.privateAddress(address))
        case .cancelled: throw .cancelled
        default: return .network(code: 0, message: "no response")
        }
    }

    /// Waits before the next attempt; `random`, in 0...1, is the share of the longest delay.
    func pause(
        _ failures: Int, _ retryAfter: Double?, _ failure: TransferFailure,
        random: Double = .random(in: 0..<1)
    ) async throws(DownloadError.Reason) {
        try await pause(
            failures, delay: try delay(failures, retryAfter, random: random), failure)
    }

    /// How long to wait before the next attempt, in seconds; `random` as for `pause`.
    ///
    /// - Throws: That the server asks to wait for longer than anybody does.
    func delay(
        _ failures: Int, _ retryAfter: Double?, random: Double
    ) throws(DownloadError.Reason) -> Double {
        if let retryAfter, retryAfter > policy.longestRetryAfter {
            throw .transfer(.retryAfterTooLong(.init(seconds: retryAfter)), attempts: failures)
        }
        return policy.delay(failures: failures, retryAfter: retryAfter, random: random)
    }

    /// Waits for so many seconds before the next attempt.
    func pause(
        _ failures: Int, delay: Double, _ failure: TransferFailure
    ) async throws(DownloadError.Reason) {
        reportRetry(failures, delay: delay, failure)
        do {
            try await Task.sleep(for: .seconds(delay))
        } catch {
            throw .cancelled
        }
    }

    /// Reports that another attempt comes after so many seconds.
    func reportRetry(_ failures: Int, delay: Double, _ failure: TransferFailure) {
        report(
            .retrying(
                range: nil, attempt: failures + 1, delay: .init(seconds: delay), cause: failure))
    }
}
