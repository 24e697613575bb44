import Assembler
import SegmenterRules
import SegmenterTransport

/// Decides whether to repeat a failed request of the probe, and waits before each attempt.
///
/// Failures of requests over the server's limit do not count as attempts. For the first request,
/// two more kinds do not count: failures while other addresses of the host are untried, and a 403
/// that may signal a limit.
///
/// A file of which no byte has arrived gives up its slot after three refusals. From then on,
/// refusals beside other requests count as attempts, unless the server is known to be at its limit.
struct Persistence {
    /// The purpose of a request.
    enum Question {
        /// The first request for the facts about a file, from a host that may not exist.
        ///
        /// `isMute` is whether the host has already failed to respond to `HEAD`, `isStated` whether
        /// it has just responded to `HEAD` with 200.
        case first(Probe.Beginning?, isMute: Bool, isStated: Bool = false)
        /// A request about a file whose facts are known.
        case later
    }

    /// The number of refusals after which a file gives up its slot.
    private static let patience = 3
    /// The longest `Retry-After`, in seconds, during which a file keeps its slot.
    private static let longestWait = 5.0

    private let probe: Probe
    private let isFirst: Bool
    /// The bounds on the attempts at a host that has served nothing yet; `nil` if none apply.
    private var beginning: Probe.Beginning?
    private var failures = 0
    /// The number of failures that count as attempts.
    private var attempts = 0
    /// The number of requests that were refused, with a status code or without a connection.
    private var refused = 0
    /// The number of failures in a row that look like a loss of the network.
    private var losses = 0
    /// The number of responses with 403 in a row.
    private var refusals = 0
    /// Whether the host has just responded to `HEAD` with 200, and no 403 has been retried since.
    private var isStated = false
    /// The number of earlier requests to the same host that failed.
    private let earlier: Int
    /// Whether an attempt has ended without a response, perhaps because HTTP/2 does not work.
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

    /// The number of failures so far; it selects the address of the next request.
    var turn: Int { failures + earlier }

    /// Records that a host has served a file, which it may have refused before.
    func served(_ url: WebURL) {
        guard refusals > 0 else { return }
        probe.loop.perform { $0.servers.forbidding[url.origin, default: .init()].served() }
    }

    /// Waits for the next attempt.
    ///
    /// - Parameters:
    ///   - landing: The result of the last attempt.
    ///   - known: The reason for its failure, if the exchange does not contain it.
    /// - Throws: A permanent error, or the failure if no attempt remains.
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
        // Until every address has failed, a failure does not count, and no backoff follows.
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

    /// Waits before the next attempt, and gives up the slot first if that is due.
    private func pause(
        _ step: FirstContact.Decision, _ retryAfter: Double?, _ failure: TransferFailure,
        at url: WebURL
    ) async throws(DownloadError.Reason) {
        let delay: Double
        if case .again(let wait) = step {
            delay = wait
        } else {
            // If a 403 may signal a limit, wait for at least half of the longest delay.
            delay = try probe.delay(
                failures, retryAfter, random: .random(in: refusals > 0 ? 0.5..<1 : 0..<1))
        }
        let isDemanded = retryAfter ?? 0 > Self.longestWait
        let isDue = refused > 0 && (refused % Self.patience == 0 || isDemanded)
        guard isFirst, isDue, let givesUp = probe.slotRelease else {
            return try await probe.pause(failures, delay: delay, failure)
        }
        switch givesUp {
        case .ends: throw .transfer(failure, attempts: refused)
        case .stepsAside(let stepAside):
            probe.reportRetry(failures, delay: delay, failure)
            await stepAside(url.origin, delay, isDemanded)
            if Task.isCancelled { throw .cancelled }
        }
    }

    // MARK: A host that may not exist

    /// Returns the step that follows a failed request.
    private mutating func step(
        after failure: TransferFailure, _ exchange: Exchange, at url: WebURL, areOthersServed: Bool
    ) async -> FirstContact.Decision {
        guard var begun = beginning else { return .asEver }
        let origin = url.origin
        let known = await probe.loop.ask(otherwise: (hasServed: false, isGivenUp: false)) {
            let isGivenUp = $0.servers.contacts.isGivenUp(origin, now: monotonicSeconds())
            return ($0.hasServed(origin), isGivenUp)
        }
        // If the host serves other files, an error status concerns this file only.
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
            failure, retryAfter: exchange.reply?.retryAfter, isUnknownName: verdict == .unknown)
        let step = begun.contact.step(
            after: trouble, isGivenUp: known.isGivenUp, random: .random(in: 0..<1))
        beginning = begun
        if step == .giveUp, !known.hasServed {
            probe.loop.perform { $0.servers.contacts.gaveUp(origin, now: monotonicSeconds()) }
        }
        return step
    }

    // MARK: A 403 that may be a limit

    /// Returns the reason why an exchange failed, if a retry may help.
    ///
    /// A 403 in response to the first request, while the server serves others, may mean that the
    /// request was over the server's limit.
    ///
    /// - Throws: A permanent error.
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
            // A server that limits the rate of requests may have counted the `HEAD`.
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

    /// Increases the time between requests to a server, and returns once that is in effect.
    private func space(_ origin: String) async {
        await probe.loop.ask(otherwise: ()) { worker in
            var quota = worker.servers[quotaOf: origin] ?? RequestQuota()
            quota.refused(asked: monotonicSeconds())
            worker.servers[quotaOf: origin] = quota
        }
    }

    /// Starts another pause for a server that has served nothing since its last pause.
    ///
    /// - Returns: The length of the pause; `nil` if there was none before, or if no more follow.
    private func rest(at url: WebURL) async -> Duration? {
        let rest = await probe.loop.ask(otherwise: Double?.none) { [origin = url.origin] worker in
            guard (worker.servers[quotaOf: origin]?.rests ?? 0) > 0,
                case .rest(let seconds)? = worker.servers[quotaOf: origin]?.forbidden(
                    now: monotonicSeconds())
            else { return nil }
            return seconds
        }.map { Duration(seconds: $0) }
        if let rest { probe.report(.resting(url: url.redacted, for: rest)) }
        return rest
    }

    private func mayPass(_ isBeside: Bool, at origin: String) async -> Bool {
        await probe.loop.ask(otherwise: false) { [refusals] worker in
            // Paused responses of files that will be downloaded in segments count as active, too.
            let isBeside = isBeside || worker.serves(origin)
            let servers = worker.servers
            let isLimited = servers.limits[origin]?.limit != nil
            return servers.forbidding[origin, default: .init()].mayPass(
                refusals, isBeside: isBeside, isLimited: isLimited)
        }
    }
}
