import Assembler

/// Waits out trouble that may pass, from one attempt to ask a question to the next, and says when it is
/// enough.
///
/// Which failures count as attempts is decided here: not those that were over the server's limit,
/// and of the first question those neither that another address may mend, nor a 403 that may be a
/// limit. A file that nothing has come of gives up its slot after three tries; whatever turns it away beside
/// others counts from then on, unless the server is known to serve no more at a time.
struct Persistence {
    /// What is asked.
    enum Question {
        /// What the file is, of a host that may not be there, the first time.
        ///
        /// `isStated`: whether `HEAD` was answered with 200 just before.
        case first(Probe.Beginning?, isMute: Bool, isStated: Bool = false)
        /// Something of a file that is known.
        case later
    }

    /// Tries after which a file gives up its slot.
    private static let patience = 3
    /// The longest wait, in seconds, for which it keeps the slot.
    private static let longestWait = 5.0

    private let probe: Probe
    /// Whether it is the first question, and what bounds it; that is `nil` from when on the host need
    /// not prove that it is there.
    private let isFirst: Bool
    private var beginning: Probe.Beginning?
    /// Failures, and those of them that count as attempts.
    private var failures = 0
    private var attempts = 0
    /// Tries that ended at once: with a status, or without a connection.
    private var refused = 0
    /// Failures in a row that look as if the network was away.
    private var losses = 0
    /// How many times in a row it was answered 403.
    private var refusals = 0
    /// Whether `HEAD` was answered with 200 just before, and 403 has not been waited out since.
    private var isStated = false
    /// Failures of earlier questions to the same host.
    private let earlier: Int
    /// Whether an attempt has ended without a reply: perhaps it is HTTP/2 that does not work there.
    private(set) var isBroken = false

    init(_ question: Question, _ probe: Probe) {
        self.probe = probe
        switch question {
        case .first(let beginning, let isMute, let isStated):
            isFirst = true
            self.isStated = isStated
            self.beginning = beginning
            self.beginning?.contact.isMute = isMute
            earlier = isMute ? 1 : 0
        case .later:
            isFirst = false
            earlier = 0
        }
    }

    /// How many attempts have failed: each time another address is asked.
    var turn: Int { failures + earlier }

    /// Notes that a host has served what it may have refused before.
    func served(_ url: WebURL) {
        guard refusals > 0 else { return }
        probe.loop.perform { $0.servers.forbidding[url.origin, default: .init()].served() }
    }

    /// Waits for the next attempt.
    ///
    /// - Parameters:
    ///   - landing: Where the last one has led.
    ///   - known: Why it failed, where the exchange does not say.
    /// - Throws: What no retry can mend, or the failure when there were enough.
    mutating func wait(
        after landing: Probe.Landing, _ known: TransferFailure?
    ) async throws(DownloadError.Reason) {
        let (exchange, url) = (landing.exchange, landing.url)
        let failure = if let known { known } else { try await self.failure(of: exchange, at: url) }
        failures += 1
        isBroken = isBroken || exchange.reply == nil
        losses = failure.isNetworkLoss ? losses + 1 : 0
        if probe.endsWithNetwork, losses > 1 { throw .transfer(failure, attempts: losses) }
        if probe.endsWithoutRoute, losses > 1, await !probe.hasRoute() {
            throw .transfer(failure, attempts: losses)
        }
        // An address that fails is no attempt that counts, nor to be waited for, before all have.
        let isLast = isFirst ? await probe.addresses(of: url).count <= turn : true
        let others = await probe.others(at: url)
        let isSurplus =
            refusals > 0 || exchange.isOverLimit
            || others.areServed && failure.mayTurnAway(hadReply: false)
        if isLast, failure.mayTurnAway(hadReply: false) || failure.isStatus { refused += 1 }
        let isBorne =
            !isFirst || refusals > 0 || refused <= Self.patience || others.areAtLimit
        var step = FirstContact.Decision.asEver
        if isLast, !(isSurplus && isBorne) {
            attempts += 1
            step = await self.step(
                after: failure, exchange, at: url, areOthersServed: others.areServed)
        } else if !isLast, beginning?.contact.isBounded ?? false {
            step = .again(after: 0)
        }
        guard probe.policy.allows(attempts), step != .giveUp else {
            if isFirst, case .breach(let breach) = failure { throw .contract(breach) }
            throw .transfer(failure, attempts: attempts)
        }
        try await pause(step, isLast ? exchange.reply?.retryAfter : nil, failure, at: url)
    }

    /// Waits, without a slot where the file has had it for long enough.
    private func pause(
        _ step: FirstContact.Decision, _ retryAfter: Double?, _ failure: TransferFailure,
        at url: WebURL
    ) async throws(DownloadError.Reason) {
        let delay: Double
        if case .again(let wait) = step {
            delay = wait
        } else {
            // What may be a limit is not asked for too soon.
            delay = try probe.delay(
                failures, retryAfter, random: .random(in: refusals > 0 ? 0.5..<1 : 0..<1))
        }
        let isDue =
            refused > 0
            && (refused % Self.patience == 0 || retryAfter ?? 0 > Self.longestWait)
        guard isFirst, isDue, let givesUp = probe.slotRelease else {
            return try await probe.pause(failures, delay: delay, failure)
        }
        switch givesUp {
        case .ends: throw .transfer(failure, attempts: refused)
        case .stepsAside(let stepAside):
            probe.reportRetry(failures, delay: delay, failure)
            await stepAside(url.origin, delay)
            if Task.isCancelled { throw .cancelled }
        }
    }

    // MARK: A host that may not be there

    /// What comes after a request that failed.
    private mutating func step(
        after failure: TransferFailure, _ exchange: Exchange, at url: WebURL, areOthersServed: Bool
    ) async -> FirstContact.Decision {
        guard var begun = beginning else { return .asEver }
        let origin = url.origin
        let known = await probe.loop.ask(otherwise: (hasServed: false, isGivenUp: false)) {
            let isGivenUp = $0.servers.contacts.isGivenUp(origin, now: monotonicSeconds())
            return ($0.hasServed(origin), isGivenUp)
        }
        // Where others are served the host is there, and it is the file that is in trouble.
        guard !known.hasServed || areOthersServed && failure.isStatus else { return .asEver }
        guard !(await begun.isContinued()) else {
            beginning = nil
            return .asEver
        }
        var verdict = NameVerdict.noAnswer
        if let name = failure.unresolvedName(host: NamedHost(origin: origin)?.name) {
            verdict = await NameVerdict.of(name, probe.connecting.access.addressFamily)
        }
        let trouble = FirstContact.Trouble(
            failure, retryAfter: exchange.reply?.retryAfter, verdict: verdict)
        let step = begun.contact.step(
            after: trouble, isGivenUp: known.isGivenUp, random: .random(in: 0..<1))
        beginning = begun
        if step == .giveUp, !known.hasServed {
            probe.loop.perform { $0.servers.contacts.gaveUp(origin, now: monotonicSeconds()) }
        }
        return step
    }

    // MARK: A 403 that may be a limit

    /// Why an exchange failed, when trying again may help: a 403 to the first question, beside requests
    /// that are served, may say that they are over its limit.
    ///
    /// - Throws: What no retry can mend.
    private mutating func failure(
        of exchange: Exchange, at url: WebURL
    ) async throws(DownloadError.Reason) -> TransferFailure {
        guard isFirst, exchange.reply?.status == 403,
            !probe.connecting.identifies(at: url)
        else {
            refusals = 0
            return try Probe.failure(of: exchange)
        }
        refusals += 1
        if await mayPass(exchange.isBeside, at: url.origin) { return .status(403) }
        if isStated {
            // A server that counts requests may have counted that.
            isStated = false
            await space(url.origin)
            return .status(403)
        }
        guard let rest = await rest(at: url) else { return try Probe.failure(of: exchange) }
        guard !probe.connecting.endsToRest else {
            throw .transfer(.resting(for: rest), attempts: refusals)
        }
        return .status(403)
    }

    /// Has a server be asked less often, and waits until that is known.
    private func space(_ origin: String) async {
        await probe.loop.ask(otherwise: ()) { worker in
            worker.servers.quotas[origin, default: .init()].refused(asked: monotonicSeconds())
        }
    }

    /// Has a server rest once more that was to be left alone, and has served nothing since.
    ///
    /// - Returns: For how long; `nil` where it has not been left alone, or no more.
    private func rest(at url: WebURL) async -> Duration? {
        let rest = await probe.loop.ask(otherwise: Double?.none) { [origin = url.origin] worker in
            guard (worker.servers.quotas[origin]?.rests ?? 0) > 0,
                case .rest(let seconds)? = worker.servers.quotas[origin]?.forbidden(
                    now: monotonicSeconds())
            else { return nil }
            return seconds
        }.map { Duration(seconds: $0) }
        if let rest { probe.report(.resting(url: url.redacted, for: rest)) }
        return rest
    }

    private func mayPass(_ isBeside: Bool, at origin: String) async -> Bool {
        await probe.loop.ask(otherwise: false) { [refusals] worker in
            // Those that wait to be fetched in segments hold a place, too.
            let isBeside = isBeside || worker.serves(origin)
            let servers = worker.servers
            let isLimited = servers.limits[origin]?.limit != nil
            return servers.forbidding[origin, default: .init()].mayPass(
                refusals, isBeside: isBeside, isLimited: isLimited)
        }
    }
}
