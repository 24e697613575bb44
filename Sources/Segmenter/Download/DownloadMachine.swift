import Assembler
import SegmenterRules
import SegmenterTransport

/// Decides what one download does next, from the first look at its place to the published file.
///
/// A runner carries out ``next`` and reports the result with one of the methods, or the failure with
/// ``failed(_:)``. A run and a preview are two runners of the same machine. ``Preparation`` decides until
/// the file is downloaded, ``Attempts`` after each attempt. What a download does not use, such as
/// new links or waiting for the network, the machine never asks for.
///
/// Pure: no I/O and no clock.
struct DownloadMachine: Sendable {
    /// The next thing for the runner to carry out.
    enum Effect: Sendable, Hashable {
        /// Look or ask; a run and a preview do the same.
        case look(Look)
        /// Change something; a preview says what would happen instead.
        case act(Act)
        /// End the download with this error.
        case fail(DownloadError.Reason)
    }

    /// The effects that only look or ask.
    enum Look: Sendable, Hashable {
        // Until the file is downloaded: see `Preparation.Step`.
        case survey, existing, ifModified, name, prove, sample, content
        case digest(Digest)
        /// Check that no other program uses the file that is to be replaced.
        case unused(FinishedDoubt?)

        /// Look for the part of an earlier run, before the network is waited for.
        case begunPart
        /// Ask the server of the earlier run, where redirects lead to another one now.
        case earlierServer
        /// Look whether the part on the disk would be discarded.
        case part
        /// Compare a sample of the part with the bytes of the server, if only that can decide.
        case partSample
        /// Ask whether all servers behind the address state the same version.
        case servers
        /// Ask for the whole file in one response.
        case whole
        /// Ask what the server offers for the next attempt.
        case question(Attempts.Question)
        /// Ask what the server offers, after the network or the server was away.
        case again(isRangeless: Bool)
        /// Ask once more for the date of the complete file.
        case date
        /// Wait before the next request, after this number of failures.
        case pause(failures: Int, retryAfter: Double?, TransferFailure, isExact: Bool)

        /// Take another URL of the file after this failure of the primary.
        case successor(after: DownloadError.Reason)
        /// Ask the caller for a new link after this failure.
        case newLink(after: DownloadError.Reason)
        /// Ask whether the server, or a login page in its place, responds.
        case canary(Probe.Known?)
        /// Look whether the machine has a route to any server of the file.
        case route
        /// Wait until the network is back.
        case network(Outage)
    }

    /// The effects that change files, or may.
    enum Act: Sendable, Hashable {
        /// Publish a file that a killed run had completed.
        case finish
        /// Leave the file as it is, and end.
        case leave(Preparation.Left)
        /// Ask all URLs for the first time.
        case ask(First)
        /// Publish a file that one response has delivered.
        case publishWhole
        case makeFolder
        case prepareRepair
        case adopt
        /// Wait for a place among the files of a list.
        case enter
        case attempt(Attempt)
    }

    /// The steps of one attempt to download the file.
    enum Attempt: Sendable, Hashable {
        case open, fetch
        /// Publish the complete file; `isChecked`: the server was just asked whether it has changed.
        case publish(size: Int64, isChecked: Bool)
        /// Close the part; `discards`: no later run can resume it.
        case close(discards: Bool)
    }

    /// When the first question to the servers is repeated.
    enum First: Sendable, Hashable {
        /// Never.
        case once
        /// Until the network is back, because the part of an earlier run is resumed.
        case untilBack
        /// Until there is a route to a server.
        case untilRoute
    }

    /// The known facts when a download begins to wait for the network.
    struct Outage: Sendable, Hashable {
        /// The failure that showed it.
        var cause: TransferFailure?
        /// Whether a login page responds in place of the server.
        var isOccupied = false
        /// Whether the wait ends with a route to the server.
        var endsWithRoute = false
    }

    /// The offer of the primary URL.
    struct Offered: Sendable {
        var file: RemoteFile
        /// Whether a `GET` has stated it, not only a `HEAD`.
        var isProven: Bool
        /// Whether the URL is a new link in place of a given one.
        var isRefreshed = false
        /// Whether the list has already given the file its name.
        var isNamed = false
        var policy: RetryPolicy
        var offer: Preparation.Offer
    }

    /// The part at the destination.
    enum FoundPart: Sendable {
        case nothing
        /// A part that can be resumed.
        case resumable
        /// A part that would be discarded.
        case lost(LostPart)
    }

    /// Why the part on the disk would be discarded.
    struct LostPart: Sendable {
        var reason: StartOverReason
        /// The part, if its manifest is readable.
        var begun: (identity: RemoteIdentity, isOneStream: Bool, isSampled: Bool)?
        /// Whether another link has begun the part.
        var isNewLink = false
        /// Whether the URL led to another server then.
        var isElsewhere = false
    }

    /// The result of comparing a sample of the part.
    enum PartComparison: Sendable, Hashable {
        /// Nothing was compared.
        case none
        /// The part is discarded.
        case startOver(StartOverReason)
        /// The bytes agree; `date`: the date of the part that is trusted from now on.
        case agrees(generation: String, date: String?)
    }

    /// The purpose of a question to the primary.
    private enum Purpose {
        case confirming, judging(LossCheck), startingOver, attempting
    }

    /// The step after a wait for the network.
    private enum Return { case preparing, asking }

    private enum Stage {
        /// The preparation decides.
        case preparing
        /// Another response than the part's version came first: perhaps a login page.
        case suspecting(Offered)
        case seekingRoute(DownloadError.Reason)
        case judging(LossCheck), seekingServer(LossCheck), comparingServers, comparingPart
        case pausing(Look, then: Look, Purpose)
        case asking(Look, Purpose)
        case opening, fetching
        case checkingChange(ContractBreach)
        case askingForDate(Fetch.Outcome)
        case publishing(size: Int64, isChecked: Bool)
        case closing(Attempts.Step)
        /// The primary failed for `cause`: another URL is wanted.
        case replacing(cause: DownloadError.Reason)
        /// `error` is the failure if there is no new link; `cause` that of the primary, if there was one.
        case renewing(error: DownloadError.Reason, cause: DownloadError.Reason)
        case meetingServer(DownloadError.Reason, Return)
        case waiting(Outage, Return)
        case askingAgain
        case over(DownloadError.Reason)
    }

    private let job: DownloadJob
    private let hasLinks: Bool
    var preparation: Preparation
    var attempts = Attempts()
    /// The known facts of a lost network; `nil` if the download does not wait for it.
    var network: NetworkLoss?
    /// The offer of the primary URL; `nil` until a server has answered.
    private(set) var offered: Offered?
    private var first: First?
    /// The part of an earlier run that is resumed.
    private var begun: Probe.Known?
    private var stage = Stage.preparing
    /// Whether attempts have begun.
    private(set) var isAttempting = false
    /// Whether the server of the earlier run was looked for, since the last answer.
    private var hasSoughtServer = false
    /// Whether there may be a part.
    private var mayHavePart = true
    /// Bytes that all attempts have received, and whether the last request exceeded the server's limit.
    private var fetched = (received: Int64(0), isSurplus: false)
    private var notices: [DownloadNotice] = []

    /// Creates the machine of a download.
    ///
    /// - Parameters:
    ///   - job: What the caller asks for.
    ///   - isListed: Whether it is a file of a list, which gives its files their names.
    ///   - hasLinks: Whether the caller provides new links.
    ///   - isPreview: Whether nothing is waited for.
    init(_ job: DownloadJob, isListed: Bool, hasLinks: Bool, isPreview: Bool = false) {
        self.job = job
        self.hasLinks = hasLinks
        preparation = Preparation(job, isListed: isListed)
        if job.options.waitsForNetwork, !isPreview {
            network = NetworkLoss()
        } else {
            first = .once
        }
    }

    // MARK: The next effect

    /// The next effect.
    var next: Effect {
        switch stage {
        case .preparing: prepared
        case .suspecting: .look(.canary(begun))
        case .seekingRoute: .look(.route)
        case .seekingServer: .look(.earlierServer)
        case .judging: .look(.part)
        case .comparingServers: .look(.servers)
        case .comparingPart: .look(.partSample)
        case .pausing(let look, _, _), .asking(let look, _): .look(look)
        case .opening: .act(.attempt(.open))
        case .fetching: .act(.attempt(.fetch))
        case .checkingChange, .meetingServer: .look(.canary(known))
        case .askingForDate: .look(.date)
        case .publishing(let size, let isChecked):
            .act(.attempt(.publish(size: size, isChecked: isChecked)))
        case .closing(.end(.tooLarge(size: nil, _))): .act(.attempt(.close(discards: true)))
        case .closing: .act(.attempt(.close(discards: false)))
        case .replacing(let cause): .look(.successor(after: cause))
        case .renewing(let error, let cause):
            .look(.newLink(after: offered == nil ? error : cause))
        case .waiting(let outage, _): .look(.network(outage))
        case .askingAgain: .look(.again(isRangeless: attempts.isRangeless))
        case .over(let reason): .fail(reason)
        }
    }

    private var prepared: Effect {
        switch preparation.next {
        case .probe: first.map { .act(.ask($0)) } ?? .look(.begunPart)
        case .finish: .act(.finish)
        case .survey: .look(.survey)
        case .seekExisting: .look(.existing)
        case .askIfModified: .look(.ifModified)
        case .publishWhole: .act(.publishWhole)
        case .makeFolder: .act(.makeFolder)
        case .chooseName: .look(.name)
        case .prove: .look(.prove)
        case .compareSample: .look(.sample)
        case .checkContent: .look(.content)
        case .prepareRepair: .act(.prepareRepair)
        case .compareDigest(let digest): .look(.digest(digest))
        case .adopt: .act(.adopt)
        case .replace(let doubt): .look(.unused(doubt))
        case .fetch: .act(.enter)
        case .leave(let file): .act(.leave(file))
        case .refuse(let reason, _): .fail(reason)
        }
    }

    /// The facts with which a canary compares a response.
    var known: Probe.Known? { offered.map { Probe.Known($0.file) } ?? begun }

    /// Returns what the user is to be told, once.
    mutating func takeNotices() -> [DownloadNotice] {
        if case .preparing = stage, case .refuse(_, let doubt?) = preparation.next {
            notices.append(.notFinished(doubt))
        }
        defer { notices = [] }
        return notices
    }

    // MARK: The first answer

    /// Takes what an earlier run has left.
    ///
    /// - Parameters:
    ///   - begun: The part; `nil` if there is none.
    ///   - isContinued: Whether the download resumes something.
    mutating func sought(_ begun: Probe.Known?, isContinued: Bool) {
        self.begun = begun
        first =
            isContinued ? .untilBack : job.options.waitsForNetworkFirst ? .untilRoute : .once
    }

    /// Takes what the primary offers, after any question.
    mutating func found(_ offered: Offered) {
        switch stage {
        case .preparing where self.offered == nil: answered(offered)
        case .renewing where self.offered == nil:
            attempts.turnToAnotherServer()
            answered(offered)
        case .renewing:
            attempts.turnToAnotherServer()
            confirm(offered)
        case .replacing: confirm(offered)
        case .askingAgain:
            attempts.take(offered.file)
            confirm(offered)
        case .seekingServer(let check):
            self.offered = offered
            stage = .judging(check)
        case .asking(_, .confirming): confirm(offered)
        case .asking(_, .attempting):
            attempts.take(offered.file)
            confirm(offered)
        case .asking(_, .judging(let check)):
            self.offered = offered
            stage = .judging(check)
        case .asking(_, .startingOver):
            self.offered = offered
            startOver(offered)
        default:
            self.offered = offered
            preparation.take(offered.offer)
        }
    }

    private mutating func answered(_ offered: Offered) {
        // A new link may lead elsewhere: what responds there is no page in place of the file.
        if first == .untilBack, let begun, !job.options.continuesOtherURL,
            begun.identity.obstacle(toContinuingWith: offered.file.identity) != nil
        {
            stage = .suspecting(offered)
        } else {
            accept(offered)
        }
    }

    private mutating func accept(_ offered: Offered) {
        self.offered = offered
        if let difference = job.difference(of: offered.file) {
            return end(.otherVersion(difference))
        }
        if offered.isNamed { preparation.takeName() }
        preparation.take(offered.offer)
        stage = .preparing
    }

    // MARK: Before an attempt

    /// The file may be downloaded now.
    mutating func entered() {
        guard let offered else { return }
        isAttempting = true
        confirm(offered)
    }

    private mutating func confirm(_ offered: Offered) {
        self.offered = offered
        if let difference = job.difference(of: offered.file) {
            return recover(from: .otherVersion(difference))
        }
        guard !job.isTooLarge(offered.file) else {
            // `HEAD` is only a hint: a `GET` has to state the same size.
            guard offered.isProven else { return ask(.prove, for: .confirming) }
            return recover(
                from: .tooLarge(size: offered.file.size, limit: job.options.limits.maxSize ?? 0))
        }
        (hasSoughtServer, mayHavePart) = (false, preparation.missingFolder == nil)
        guard !attempts.isRangeless, mayHavePart else { return settleChange() }
        stage = .judging(
            LossCheck(isWary: network != nil, asksAgain: !job.options.singleRequest))
    }

    /// The server of the earlier run is not used.
    mutating func foundNoEarlierServer() {
        if case .seekingServer(let check) = stage { stage = .judging(check) }
    }

    /// Takes what is at the place of the part.
    mutating func looked(at part: FoundPart) {
        guard case .judging(var check) = stage, let offered else { return }
        let loss: LostPart
        switch part {
        case .nothing:
            mayHavePart = false
            return settleChange()
        case .resumable: return settleChange()
        case .lost(let lost): loss = lost
        }
        if loss.isElsewhere, !hasSoughtServer, !job.options.singleRequest {
            hasSoughtServer = true
            stage = .seekingServer(check)
            return
        }
        // A sample decides, and without it nothing starts over.
        if loss.reason == .noValidator, loss.begun?.isSampled == true || loss.isNewLink {
            return settleChange()
        }
        if loss.reason == .otherServer, offered.isProven { return settleChange() }
        let step = check.step(
            loss.reason, begun: loss.begun.map { ($0.identity, $0.isOneStream) },
            offered: offered.file, isProven: offered.isProven)
        switch step {
        case .accept: settleChange()
        case .refuse(let breach): recover(from: .contract(breach))
        case .prove:
            notices.append(.headUnusable("said that the part cannot be continued"))
            ask(.prove, for: .judging(check))
        case .askAgain(let failures?, let breach):
            let pause = Look.pause(
                failures: failures, retryAfter: nil, .breach(breach), isExact: true)
            stage = .pausing(pause, then: .prove, .judging(check))
        case .askAgain(nil, _): ask(.prove, for: .judging(check))
        }
    }

    private mutating func settleChange() {
        guard let offered else { return }
        if attempts.takeRangesIgnored(offered.file) { notices.append(.rangesIgnored) }
        let keepsPart = job.keepsPart || offered.isRefreshed
        switch attempts.settle(offered.file.identity, keepsPart: keepsPart) {
        case .goOn: comparePart()
        case .end(let reason): recover(from: reason)
        case .startOver:
            if offered.file.transfer == .segments, !job.options.singleRequest {
                stage = .comparingServers
            } else {
                startOver(offered)
            }
        }
    }

    /// Takes whether all servers behind the address state the same version.
    mutating func compared(serversAgree: Bool) {
        guard let offered else { return }
        guard !serversAgree else { return startOver(offered) }
        // One response of one server is one version.
        attempts.distrustRanges()
        notices.append(.serversDisagree)
        ask(.whole, for: .startingOver)
    }

    private mutating func startOver(_ offered: Offered) {
        attempts.startOver(with: offered.file.identity)
        comparePart()
    }

    private mutating func comparePart() {
        attempts.samples.forgetPart()
        stage = mayHavePart ? .comparingPart : .opening
    }

    /// Takes the result of comparing a sample of the part.
    mutating func compared(_ part: PartComparison) {
        switch part {
        case .none: break
        case .startOver(let reason): attempts.startOver(because: reason)
        case .agrees(let generation, let date):
            attempts.samples.agree(generation: generation, date: date)
        }
        stage = .opening
    }

    // MARK: One attempt

    /// The part is open; `hasStartedOver`: an earlier one was discarded.
    mutating func opened(hasStartedOver: Bool) {
        attempts.opened(hasStartedOver: hasStartedOver)
        stage = .fetching
    }

    /// There is no space for a size that only a `HEAD` has stated.
    mutating func foundNoSpace() {
        notices.append(.headUnusable("stated a size for which there is no space"))
        ask(.prove, for: .confirming)
    }

    /// Takes the end of a fetch.
    ///
    /// - Parameters:
    ///   - outcome: How it ended.
    ///   - received: Bytes that all attempts have received.
    ///   - isSurplus: Whether the request exceeded the number that the server serves at a time.
    mutating func fetched(_ outcome: Fetch.Outcome, received: Int64, isSurplus: Bool = false) {
        fetched = (received, isSurplus)
        check(outcome)
    }

    /// Another version may be a login page: for such a page, nothing on the disk is given up.
    private mutating func check(_ outcome: Fetch.Outcome) {
        if network != nil, case .changed(let breach) = outcome {
            stage = .checkingChange(breach)
        } else {
            ended(outcome)
        }
    }

    private mutating func ended(_ outcome: Fetch.Outcome, isDateConfirmed: Bool = false) {
        guard let offered else { return }
        let step = attempts.next(
            after: outcome, of: offered.file, received: fetched.received,
            policy: offered.policy, isSurplus: fetched.isSurplus,
            isDateConfirmed: isDateConfirmed)
        outcome.notice.map { notices.append($0) }
        switch step {
        case .askForDate: stage = .askingForDate(outcome)
        case .publish(let size, let isChecked):
            stage = .publishing(size: size, isChecked: isChecked)
        case .find, .pause, .end:
            // A stream stays open, because the next attempt may continue it.
            stage = .closing(step)
            if job.isStream { closed() }
        }
    }

    /// Takes the server's answer about the date of the complete file.
    mutating func dated(_ resolution: Probe.Resolution) {
        guard case .askingForDate(let complete) = stage else { return }
        switch resolution {
        case .same: ended(complete, isDateConfirmed: true)
        case .changed(let breach): ended(.changed(breach))
        case .failed(let reason): ended(.failed(reason))
        }
    }

    /// The server has another version than the complete file.
    mutating func contradicted(_ breach: ContractBreach) {
        job.isStream ? recover(from: .remoteChanged(breach)) : check(.changed(breach))
    }

    /// The part is closed.
    mutating func closed() {
        if case .closing(let step) = stage { carryOut(step) }
    }

    private mutating func carryOut(_ step: Attempts.Step) {
        switch step {
        case .publish, .askForDate: break
        case .end(let reason): recover(from: reason)
        case .find(let question): ask(.question(question), for: .attempting)
        case .pause(let failures, _, let failure, _) where network != nil && failure.isNetworkLoss:
            recover(from: .transfer(failure, attempts: failures))
        case .pause(let failures, let retryAfter, let failure, let question):
            let pause = Look.pause(
                failures: failures, retryAfter: retryAfter, failure, isExact: false)
            stage = .pausing(pause, then: .question(question), .attempting)
        }
    }

    private mutating func ask(_ look: Look, for purpose: Purpose) { stage = .asking(look, purpose) }

    /// The pause is over.
    mutating func paused() {
        if case .pausing(_, let look, let purpose) = stage { ask(look, for: purpose) }
    }

    // MARK: Failures

    /// Takes why the effect could not be carried out.
    mutating func failed(_ reason: DownloadError.Reason) {
        switch stage {
        case .preparing where offered == nil && preparation.next == .probe && first != nil:
            renew(after: reason, cause: reason)
        case .preparing where offered == nil || preparation.next == .fetch: end(reason)
        case .preparing: wait(after: reason, then: .preparing)
        case .renewing where offered == nil: endFirst(reason)
        case .replacing(let cause): renew(after: reason, cause: cause)
        case .renewing(_, let cause): wait(after: reason, or: cause, then: .asking)
        case .waiting, .over: end(reason)
        default: recover(from: reason)
        }
    }

    private mutating func end(_ reason: DownloadError.Reason) { stage = .over(reason) }

    private mutating func recover(from cause: DownloadError.Reason) {
        if job.hasMirrors {
            stage = .replacing(cause: cause)
        } else {
            renew(after: cause, cause: cause)
        }
    }

    private mutating func renew(after error: DownloadError.Reason, cause: DownloadError.Reason) {
        stage = .renewing(error: error, cause: cause)
        if !hasLinks || error == .cancelled { foundNoLink() }
    }

    /// The caller has no new link.
    mutating func foundNoLink() {
        guard case .renewing(let error, let cause) = stage else { return }
        if offered == nil {
            endFirst(error)
        } else {
            wait(after: error, or: cause, then: .asking)
        }
    }

    private mutating func endFirst(_ reason: DownloadError.Reason) {
        switch first {
        case .untilBack: wait(after: reason, then: .preparing)
        case .untilRoute where reason.isNetworkLoss: stage = .seekingRoute(reason)
        case .once, .untilRoute, nil: end(reason)
        }
    }

    /// Takes whether the machine has a route to a server of the file.
    mutating func looked(forRoute isThere: Bool) {
        guard case .seekingRoute(let reason) = stage else { return }
        guard !isThere else { return end(reason) }
        stage = .waiting(Outage(cause: reason.transferFailure, endsWithRoute: true), .preparing)
    }

    /// Waits until the network is back if it is lost; else ends.
    private mutating func wait(
        after reason: DownloadError.Reason, or cause: DownloadError.Reason? = nil,
        then follows: Return
    ) {
        let retries = offered?.policy.retries ?? job.options.retries
        // A server that answers canaries and delivers nothing is not a lost network.
        guard let network, network.needless(at: attempts.received) <= retries else {
            return end(reason)
        }
        let isCause = !reason.isNetworkLoss && cause?.isNetworkLoss == true
        let lost = isCause ? cause ?? reason : reason
        if lost.isNetworkLoss {
            stage = .waiting(Outage(cause: lost.transferFailure), follows)
        } else if lost.mayBePortal {
            stage = .meetingServer(reason, follows)
        } else {
            end(reason)
        }
    }

    /// Takes which host responds at the server's address.
    mutating func met(_ end: Probe.CanaryEnd) {
        switch stage {
        case .suspecting(let offered):
            guard end == .occupied else { return accept(offered) }
            stage = .waiting(Outage(isOccupied: true), .preparing)
        case .checkingChange(let breach):
            ended(end == .occupied ? .failed(.contract(breach)) : .changed(breach))
        case .meetingServer(let reason, let follows):
            guard end != .back else { return self.end(reason) }
            stage = .waiting(Outage(isOccupied: end == .occupied), follows)
        default: break
        }
    }

    /// The network is back.
    mutating func networkIsBack() {
        guard case .waiting(_, let follows) = stage else { return }
        switch follows {
        case .preparing: stage = .preparing
        case .asking: stage = .askingAgain
        }
    }
}

extension DownloadJob {
    /// Whether what arrives goes out in order, and cannot be taken back.
    var isStream: Bool { if case .descriptor = destination { true } else { false } }

    /// Whether the file has several URLs that may all be asked.
    var hasMirrors: Bool { !options.mirrors.isEmpty && !options.singleRequest }
}

extension DownloadError.Reason {
    /// Whether it looks as if the network was lost.
    package var isNetworkLoss: Bool {
        // Its interface may be.
        self == .access(.unusable(.interface)) || transferFailure?.isNetworkLoss == true
    }

    /// The failure of the last request, if that is the reason.
    fileprivate var transferFailure: TransferFailure? {
        if case .transfer(let failure, _) = self { failure } else { nil }
    }

    /// Whether another host may have responded in place of the server.
    fileprivate var mayBePortal: Bool {
        switch self {
        case .untrusted, .unsafeRedirect, .tooManyRedirects, .contract, .remoteChanged,
            .notContinued, .transfer(.breach, _):
            true
        default: false
        }
    }
}
