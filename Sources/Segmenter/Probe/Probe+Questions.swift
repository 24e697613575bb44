import Assembler
import SegmenterRules
import SegmenterTransport

// The requests of the probe, and their repetition.
extension Probe {
    /// The number of equal responses that permit segments again after the file has changed.
    private static let consistencyChecks = 4
    /// The number of responses in a row with another date after which a sample counts as failed.
    private static let mostMisses = 8
    /// The seconds without a byte after which `HEAD` fails: some servers never respond to it.
    private static let headPatience = 5.0

    /// The result of one attempt.
    enum Attempt<Value> {
        case answered(Value)
        /// Send another request immediately; this attempt does not count.
        case again
        /// The attempt failed; the second value is the reason, if the exchange does not contain it.
        case failed(Landing, TransferFailure? = nil)
    }

    /// Repeats a request until it succeeds, with waits after temporary failures.
    ///
    /// - Parameters:
    ///   - question: The purpose of the request, which determines the number of attempts.
    ///   - attempt: Sends the request once.
    /// - Returns: The value that `attempt` returned.
    /// - Throws: The error that `attempt` threw, or the failure if no attempt remains.
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

    /// The parameters of a `GET`, and the facts that are known before it.
    struct Asking {
        /// The requested bytes, from the first byte on; `nil` for the whole file.
        var range: ByteRange?
        /// A strong validator for `If-Range`, if the range is the remainder of a file.
        var ifRange: String?
        /// A response that has already arrived.
        var first: Landing?
        /// Whether the server has sent nothing yet.
        var isMute = false
        /// The version that the response to `HEAD` stated.
        var said: RemoteIdentity?
        /// The status code of the response to `HEAD`.
        var headStatus: Int?
        /// Whether libcurl is to decode the body.
        var isDecoded = false
        /// The range that was removed because the server may have refused the request for it.
        var refused: ByteRange?
        /// The version that a partial response stated, with a smaller size than `HEAD` stated.
        var shortened: RemoteIdentity?

        /// Removes the range once, to find out whether it caused the refusal.
        ///
        /// - Returns: Whether another request may help.
        fileprivate mutating func leavesRangeOut(because status: Int) -> Bool {
            guard let range, refused == nil, mayRefuseRange(status),
                status != headStatus
            else { return false }
            (refused, self.range) = (range, nil)
            return true
        }

        /// Adapts the request after a response whose body is not usable.
        ///
        /// - Throws: The breach, if no other request may help.
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

    /// Sends `GET`, and repeats it while that may help.
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
                    isDecoded: asking.isDecoded, turn: before.turn, answered: answered,
                    mayRest: true)
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
                // No range of an empty file can be satisfied (RFC 9110 §14.1.2).
                asking.range = nil
                return .again
            case let status? where !asksOnce && asking.leavesRangeOut(because: status):
                return .again
            default:
                if let range = asking.refused, asking.range == nil { asking.range = range }
                return try await hasRested(after: landing) ? .again : .failed(landing)
            }
        }
    }

    /// Waits without the file's slot, if a request failed because its server demands a long pause.
    ///
    /// - Parameter landing: The result of the request.
    /// - Returns: Whether that was the reason; then the request can be made again.
    /// - Throws: `cancelled` if the task was cancelled.
    func hasRested(after landing: Landing) async throws(DownloadError.Reason) -> Bool {
        guard case .stepsAside(let stepAside)? = slotRelease,
            case .failed(.resting(let rest))? = landing.exchange.end
        else { return false }
        await stepAside(landing.url.origin, rest.inSeconds, true)
        if Task.isCancelled { throw .cancelled }
        return true
    }

    /// Follows the redirects of the original URL again, and checks the version of the file.
    ///
    /// This is necessary after the server has refused the effective URL.
    ///
    /// - Parameters:
    ///   - identity: The expected version.
    ///   - method: The method of the request.
    ///   - fresh: Whether a new connection is used, unless the server refuses it.
    /// - Returns: The effective URL, if it still has that version; the difference, or the failure.
    func resolveAgain(
        _ identity: RemoteIdentity, by method: RequestMethod = .get, fresh: Bool = false
    ) async -> Resolution {
        let asked = method == .get ? Self.firstByte : nil
        let check = ResponseCheck(asked: asked, identity: identity, sentIfRange: false)
        do throws(DownloadError.Reason) {
            return try await persist(with: .later) {
                (before) async throws(DownloadError.Reason) -> Attempt<Resolution> in
                // A server may refuse one connection more.
                var landing = try await follow(
                    method, range: asked, fresh: fresh && before.turn == 0, turn: before.turn)
                // Only the head is used; this cancels the transfer of the body.
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

    /// Returns whether several responses in a row, each on a new connection, state one version.
    ///
    /// Servers behind one address may disagree.
    func isConsistent(_ identity: RemoteIdentity) async -> Bool {
        for _ in 0..<Self.consistencyChecks {
            if case .changed = await resolveAgain(identity, fresh: true) { return false }
        }
        return true
    }

    /// Downloads bytes again, and keeps only their checksum.
    ///
    /// - Parameters:
    ///   - asked: The requested bytes.
    ///   - identity: The version to which the bytes belong.
    ///   - vouchedDates: Dates that arrived with the same strong ETag, with an equal sample.
    ///   - least: The number of bytes that suffice, if `asked` is longer.
    /// - Returns: The extent from the first requested byte on; `nil` if the version is another.
    /// - Throws: The reason why the bytes cannot be downloaded.
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
                // Servers behind one address may state different dates: try another connection.
                misses += 1
                return .again
            case .breach(let breach)?:
                return breach.isAnotherVersion
                    ? .answered(nil) : .failed(landing, .breach(breach))
            default: return .failed(landing)
            }
        }
    }

    /// Requests the effective URL once, and checks that it still offers the version of `finding`.
    ///
    /// `turn` receives the time until which the request waits for its turn.
    ///
    /// - Returns: The difference, `nil` if there is none; or the reason why the request failed.
    func recheck(
        _ finding: Finding, vouchedDates: Set<String>, turn: Monitor<Double>? = nil
    ) async -> Result<ContractBreach?, TransferFailure> {
        let identity = finding.file.identity
        let isByHead = finding.isStatedByHead || !identity.headOnly.isEmpty
        var request = TransferRequest(
            method: isByHead ? .head : .get, url: finding.effective, connecting: connecting)
        request.range = isByHead ? nil : Self.firstByte
        request.connecting.connectTimeout = min(connecting.connectTimeout, EndCheck.patience)
        request.connecting.stallTimeout = min(connecting.stallTimeout, EndCheck.patience)
        request.connecting.endsToRest = true
        let exchange = await loop.exchange(request, pausing: !isByHead, turn: turn)
        let check = ResponseCheck(
            asked: request.range, identity: identity, sentIfRange: false,
            vouchedDates: vouchedDates)
        switch exchange.reply.map(check.verdict) {
        case .accept?: return .success(nil)
        // A server without ranges sends the whole file. Its validators have been compared.
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

    /// Sends a request and follows redirects; see `RedirectChain`.
    ///
    /// If `mayRest` is set and the file can give up its slot, the request fails while the server
    /// demands a long pause; see `hasRested`.
    func follow(
        _ method: RequestMethod, range: ByteRange?, ifRange: String? = nil, fresh: Bool = false,
        conditions: [String] = [], isBroken: Bool = false, isDecoded: Bool = false, turn: Int = 0,
        answered: Exchange? = nil, patience: Double = .infinity, mayRest: Bool = false
    ) async throws(DownloadError.Reason) -> Landing {
        var connecting = connecting
        if mayRest, case .stepsAside? = slotRelease { connecting.endsToRest = true }
        let chain = RedirectChain(
            loop: loop, connecting: connecting, report: report, method: method, range: range,
            ifRange: ifRange, conditions: conditions, isFresh: fresh, isBroken: isBroken,
            isDecoded: isDecoded,
            // A decoded body may have any length.
            isCollected: collects && method == .get && !isDecoded, spreads: spreads, turn: turn,
            answered: answered, patience: patience)
        return try await chain.follow(from: url)
    }

    /// Sends a request once, with a short timeout for `HEAD`, and follows redirects.
    func landing(
        _ method: RequestMethod, _ range: ByteRange?
    ) async -> Result<Landing, DownloadError.Reason> {
        do throws(DownloadError.Reason) {
            let patience = method == .head ? Self.headPatience : .infinity
            return .success(
                try await follow(method, range: range, patience: patience, mayRest: true))
        } catch {
            return .failure(error)
        }
    }

    /// Returns the addresses among which requests rotate; none if connections are not spread.
    func addresses(of url: WebURL) async -> [String] {
        spreads ? await loop.spreadAddresses(of: url) : []
    }

    // MARK: Failures

    /// The requests of the session's other files at one server, at this moment.
    struct Others: Sendable {
        /// Whether the server is serving any of them.
        var areServed = false
        /// Whether they use up the number of requests that the server is known to serve at a time.
        var areAtLimit = false
    }

    /// Returns the state of the session's other requests at a server.
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

    /// Returns whether a failed request may have been over the server's limit.
    ///
    /// This is possible if the server is serving other files of the session at this moment. The
    /// request then does not count as an attempt.
    func isOverLimit(
        _ failure: TransferFailure, at url: WebURL, hadReply: Bool = false
    ) async -> Bool {
        guard failure.mayTurnAway(hadReply: hadReply) else { return false }
        return await others(at: url).areServed
    }

    /// Returns the error for a response that refuses access.
    static func loginFailure(_ reply: Reply) -> DownloadError.Reason {
        guard reply.status == 401, let schemes = reply.unusableSchemes else {
            return refusal(reply.status)
        }
        return .unusableScheme(schemes)
    }

    /// Returns the reason why an exchange failed, if a retry may help.
    ///
    /// - Throws: A permanent error.
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

    /// Waits before the next attempt; `random` is the fraction of the longest delay, in 0...1.
    func pause(
        _ failures: Int, _ retryAfter: Double?, _ failure: TransferFailure,
        random: Double = .random(in: 0..<1)
    ) async throws(DownloadError.Reason) {
        try await pause(
            failures, delay: try delay(failures, retryAfter, random: random), failure)
    }

    /// Returns the delay before the next attempt, in seconds; `random` is the same as in `pause`.
    ///
    /// - Throws: `retryAfterTooLong` if `Retry-After` exceeds the longest allowed wait.
    func delay(
        _ failures: Int, _ retryAfter: Double?, random: Double
    ) throws(DownloadError.Reason) -> Double {
        if let retryAfter, retryAfter > policy.longestRetryAfter {
            throw .transfer(.retryAfterTooLong(.init(seconds: retryAfter)), attempts: failures)
        }
        return policy.delay(failures: failures, retryAfter: retryAfter, random: random)
    }

    /// Reports the retry and waits for `delay` seconds before the next attempt.
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

    /// Reports that another attempt follows after `delay` seconds.
    func reportRetry(_ failures: Int, delay: Double, _ failure: TransferFailure) {
        report(
            .retrying(
                range: nil, attempt: failures + 1, delay: .init(seconds: delay), cause: failure))
    }
}
