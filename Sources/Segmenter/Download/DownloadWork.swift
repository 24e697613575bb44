import Assembler
import Glibc
import SegmenterRules
import SegmenterTransport

/// The state of one download outside its decisions, and the effects that a run and a preview carry out alike.
///
/// ``DownloadMachine`` decides; this type looks and asks, and reports the results to the machine.
struct DownloadWork: Sendable {
    let run: DownloadRun
    var machine: DownloadMachine
    /// Asks the URL that was given first.
    private(set) var probe: Probe
    private var answer: Primary?
    /// The destination of the file; `nil` until it is known, and if there is no file.
    var target: FileTarget?
    /// The survey of the destination.
    private(set) var survey: Survey?
    /// The response to the first request, if that was sent already.
    private var answered: DownloadRun.Answered?
    /// The place among the files of a list; `nil` for a single download.
    let place: GatePlace?
    /// The URLs of the file, if it has several.
    var mirrors: MirrorSet?
    /// The numbers of the URLs that were in use before the last failure.
    private var inUse: [Int] = []
    var record = OutputRecord()
    /// The stream of a download to a descriptor; `nil` for any other.
    var stream: OutgoingStream?
    /// The last report of the progress.
    var last: DownloadProgress?

    init(
        _ run: DownloadRun, _ probe: Probe, answered: DownloadRun.Answered? = nil,
        isPreview: Bool = false
    ) {
        self.run = run
        self.probe = probe
        self.answered = answered
        machine = DownloadMachine(
            run.job, isListed: run.batch != nil, hasLinks: run.links != nil,
            isPreview: isPreview)
        place = run.batch.map(GatePlace.init)
        if run.job.isStream { stream = OutgoingStream() }
        target = namedTarget
    }

    var job: DownloadJob { run.job }
    var loop: TransferLoop { run.loop }
    var batch: BatchContext? { run.batch }
    var folders: FolderMaker { run.folders }
    var links: LinkRefresher? { run.links }
    var inquiry: Inquiry { run.inquiry }
    var report: @Sendable (DownloadEvent) -> Void { run.report }

    /// The URL whose version of the file is downloaded, with what it offers.
    ///
    /// There is one as soon as a server has answered.
    var primary: Primary {
        get {
            guard let answer else { preconditionFailure("no server has answered") }
            return answer
        }
        set { answer = newValue }
    }

    /// The destination that the caller named.
    private var namedTarget: FileTarget? {
        if case .file(let path) = job.destination { FileTarget(path: path) } else { nil }
    }

    /// Asks the URL that the download is with.
    private var current: Probe { machine.offered == nil ? probe : primary.probe }

    /// Has the probe give up the file's slot in a list while its server refuses it.
    ///
    /// Nothing waits for the slot of a single download; a file with several URLs asks the others.
    mutating func releasesSlot() {
        guard job.options.mirrors.isEmpty else { return }
        if job.options.endsToRest {
            probe.slotRelease = .ends
        } else if let batch, let place {
            probe.slotRelease = .stepsAside { origin, delay, isDemanded in
                await place.leaving { await batch.stepAside(origin, delay, isDemanded) }
            }
        }
    }

    /// Takes the news that the server has another version than the complete file.
    ///
    /// - Parameters:
    ///   - breach: The difference.
    ///   - hadPlace: Whether the file had a place in its list, which it needs again.
    mutating func contradicted(_ breach: ContractBreach, hadPlace: Bool) async {
        if hadPlace {
            batch?.isDeclined()
            await place?.enterAgain()
        }
        machine.contradicted(breach)
    }

    // MARK: Effects

    /// Looks or asks, and reports the result to the machine.
    mutating func look(_ look: DownloadMachine.Look) async throws(DownloadError.Reason) {
        switch look {
        case .survey: try await takeSurvey()
        case .existing:
            machine.preparation.take(
                existing: try await existing(job.expectedTarget(from: probe.url)))
        case .ifModified:
            guard let file = machine.preparation.dated else {
                preconditionFailure("nothing to compare")
            }
            machine.preparation.take(isUnmodified: try await inquiry.isUnmodified(file, current))
        case .name:
            target = try await named(target, Preparation.Offer(primary))
            machine.preparation.takeName()
        case .sample:
            release()
            machine.preparation.take(isSampleSame: try await agreesWithFile())
        case .content: machine.preparation.take(try await standingFile().checkedContent())
        case .digest(let digest): machine.preparation.take(stated: try await content(like: digest))
        case .unused(let doubt): try await checkUnused(doubt)
        case .begunPart:
            let begun = await job.begunPart()
            machine.sought(
                begun.map {
                    Probe.Known(identity: $0.identity, hasRanges: $0.isOneStream != true)
                }, isContinued: begun != nil || job.options.resume && job.isRepair)
        case .part: machine.looked(at: try partSight())
        case .partSample: machine.compared(try await comparedPart())
        case .earlierServer:
            guard let found = await findingAtEarlierServer() else {
                return machine.foundNoEarlierServer()
            }
            primary.finding = found
            machine.found(offered())
        case .servers:
            release()
            let identity = primary.finding.file.identity
            machine.compared(serversAgree: await primary.probe.isConsistent(identity))
        case .prove: take(try await inquiry.prove(release()))
        case .whole:
            take(try await inquiry.find(release().probe, byGet: true, range: nil))
        case .question(let question): try await ask(question)
        case .again(let isRangeless): try await askAgain(isRangeless: isRangeless)
        case .date:
            let file = primary.finding.file
            // The same method as before, because perhaps the server ignores `If-Range`.
            let isByHead = file.probedBy == "HEAD" || !file.identity.headOnly.isEmpty
            machine.dated(
                await primary.probe.resolveAgain(file.identity, by: isByHead ? .head : .get))
        case .pause(let failures, let retryAfter, let failure, let isExact):
            try await release().probe.pause(
                failures, retryAfter, failure, random: isExact ? 1 : .random(in: 0..<1))
            machine.paused()
        case .successor(let reason): try await succeed(after: reason)
        case .newLink(let reason): try await renew(after: reason)
        case .canary(let known):
            let end = await current.canary(known)
            // A login page must not even name the file.
            if machine.offered == nil, end == .occupied { target = namedTarget }
            machine.met(end)
        case .route: machine.looked(forRoute: await probes.haveRoute())
        case .network(let outage): try await waitOut(outage)
        }
    }

    /// Reports a failure to the machine.
    mutating func failed(_ reason: DownloadError.Reason) {
        // A response that an attempt may have left paused is no longer used.
        if machine.isAttempting { release() }
        machine.failed(reason)
    }

    /// Drops the response that is there, so that no connection waits for it.
    ///
    /// A server with a limit of connections would refuse each request beside it.
    @discardableResult mutating func release() -> Primary {
        primary.finding = primary.finding.released
        return primary
    }

    private mutating func take(_ finding: Probe.Finding) {
        primary.finding = finding
        machine.found(offered())
    }

    /// Returns what the primary offers, for the machine.
    private func offered(
        isWhole: Bool = false, isNamed: Bool = false
    ) -> DownloadMachine.Offered {
        let (finding, probe) = (primary.finding, primary.probe)
        return DownloadMachine.Offered(
            file: finding.file, isProven: finding.isProven,
            isRefreshed: job.isRefreshed(probe.url), isNamed: isNamed, policy: probe.policy,
            offer: Preparation.Offer(primary, isWhole: isWhole))
    }

    // MARK: Questions

    /// Asks all URLs of the file for the first time.
    ///
    /// - Parameters:
    ///   - first: Whether the question is repeated after a failure of the network.
    ///   - question: Asks the only URL, with bounded attempts; takes the response to a request that
    ///     was sent already.
    /// - Throws: Why no URL offers the file.
    mutating func ask(
        _ first: DownloadMachine.First,
        _ question: (Probe, DownloadRun.Answered?) async throws(DownloadError.Reason) ->
            Probe.Finding
    ) async throws(DownloadError.Reason) {
        mirrors?.book.cancel()
        let answered = answered
        self.answered = nil
        probe.endsWithNetwork = first == .untilBack
        probe.endsWithoutRoute = first == .untilRoute
        let asking = await rest(of: probe)
        mirrors = job.hasMirrors ? try MirrorSet(inquiry, asking) : nil
        guard let mirrors else {
            var bounded = asking
            bounded.beginning = inquiry.beginning
            let finding = try await question(bounded, answered)
            return await arrive(Primary(probe: asking, finding: finding), named: answered?.named)
        }
        await arrive(try await mirrors.next(unless: losesPart), named: answered?.named)
    }

    /// Takes the first answer of a server; `name`: the place that the list has given the file.
    private mutating func arrive(_ primary: Primary, named: FileTarget? = nil) async {
        self.primary = primary
        self.primary.probe.endsWithNetwork = machine.network != nil
        self.primary.probe.endsWithoutRoute = false
        target = named ?? job.target(for: primary.finding.file, from: probe.url)
        // A new link may have another name, and a response with the rest need not repeat it.
        let isRest = primary.probe.rest != nil && primary.finding.file.transfer == .segments
        if isRest || job.isRefreshed(primary.probe.url), let begun = await job.begunTarget() {
            target = begun
        }
        let isWhole = primary.finding.whole(job.options) != nil
        machine.found(offered(isWhole: isWhole, isNamed: named != nil))
    }

    /// Returns a probe that asks for what is missing of the file, if every request may count.
    private func rest(of probe: Probe) async -> Probe {
        probe.asksOnce ? await withRest(probe) : probe
    }

    /// Asks what the server offers for the next attempt.
    private mutating func ask(
        _ question: Attempts.Question
    ) async throws(DownloadError.Reason) {
        primary.probe = await rest(of: primary.probe)
        var asking = primary.probe
        // A host that delivers nothing is not asked for long because `HEAD` works.
        if question.isBeginning { asking.beginning = inquiry.beginning }
        let before = release().finding
        take(
            try await inquiry.find(
                asking, byGet: true, range: question.range,
                after: question.earlier == .hint ? before : nil,
                again: question.earlier == .forgotten ? nil : before))
    }

    /// Asks the primary, and all URLs that were in use before, what they offer now.
    private mutating func askAgain(isRangeless: Bool) async throws(DownloadError.Reason) {
        mirrors?.book.revive(inUse)
        primary.probe = await rest(of: primary.probe)
        let before = release().finding
        let range = before.file.transfer == .segments ? Probe.firstByte : Probe.firstRange
        take(
            try await inquiry.find(
                primary.probe, byGet: true, range: isRangeless ? nil : range, again: before))
    }

    /// Takes another URL of the file in place of the primary, which failed.
    private mutating func succeed(
        after reason: DownloadError.Reason
    ) async throws(DownloadError.Reason) {
        guard let set = mirrors else { throw reason }
        inUse = set.book.usable
        let (failed, kept) = (primary, record.kept)
        var next = try await mirrors?.successor(
            of: failed, after: reason, &machine.attempts, kept: kept)
        if next == nil { next = try await set.next(unless: losesPart) }
        guard let next else { throw reason }
        takeOver(next)
    }

    private mutating func takeOver(_ next: Primary) {
        primary = next
        primary.probe.endsWithNetwork = machine.network != nil
        machine.found(offered())
    }

    /// Asks the caller for new links in place of the one that is refused, until one is not.
    private mutating func renew(
        after reason: DownloadError.Reason
    ) async throws(DownloadError.Reason) {
        let isFirst = machine.offered == nil
        // Of several URLs, the first one's refusal is known only if all were asked.
        let cause = isFirst && mirrors != nil ? .cancelled : reason
        guard let links, let refused = refusal(isFirst ? 0 : primary.number, cause) else {
            return machine.foundNoLink()
        }
        var (probe, reason) = (refused.probe, refused.reason)
        while reason.linkStatus != nil {
            let link = try await links.link(
                insteadOf: probe.url, reason, received: machine.attempts.received)
            guard let link else { return machine.foundNoLink() }
            probe = await rest(of: probe.at(link))
            do throws(DownloadError.Reason) {
                let finding = try await inquiry.find(
                    probe, byGet: true, range: Probe.firstByte,
                    again: isFirst ? nil : primary.finding)
                mirrors?.book.restore(refused.number)
                let next = Primary(number: refused.number, probe: probe, finding: finding)
                return isFirst ? await arrive(next) : takeOver(next)
            } catch {
                // No server has refused this link: it is tried when the network is back.
                if error.isNetworkLoss { links.keep(link) }
                reason = error
            }
        }
        throw reason
    }

    /// The URL that was refused as an expired link would be: the one that the download is with, or
    /// else the first of the others.
    private func refusal(
        _ number: Int, _ reason: DownloadError.Reason
    ) -> (number: Int, probe: Probe, reason: DownloadError.Reason)? {
        if reason.linkStatus != nil { return (number, current, reason) }
        guard let book = mirrors?.book, let first = book.firstRefusal else { return nil }
        return (first.number, book.probes[first.number], first.reason)
    }

    /// Waits until the network is back.
    private mutating func waitOut(
        _ outage: DownloadMachine.Outage
    ) async throws(DownloadError.Reason) {
        guard var network = machine.network else { return }
        let wait = NetworkOutage(
            outage, probes: probes, known: machine.known, last: last, report: report)
        defer { machine.network = network }
        try await wait(&network, received: machine.attempts.received)
        machine.networkIsBack()
    }

    /// Asks each URL of the file; the first is the one that the download is with.
    private var probes: [Probe] {
        let current = current
        return [current]
            + (mirrors?.book.probes.filter { $0.url.text != current.url.text } ?? [])
    }

    // MARK: The destination

    private mutating func takeSurvey() async throws(DownloadError.Reason) {
        let target = wantedTarget
        let survey = try await Disk.runUntilCancelled {
            [folders, job] (isCancelled: () -> Bool) throws(AssemblyError) -> Survey? in
            if try folders.parent(ofMissing: target.folder) != nil {
                return Survey(sight: .nothing)
            }
            return try Survey.look(at: target, for: job, isCancelled)
        }
        self.survey = survey
        if let doubt = machine.preparation.take(survey.sight) {
            report(.notice(.notFinished(doubt)))
        }
    }

    /// The destination, which is known whenever the preparation asks for it.
    private var wantedTarget: FileTarget {
        guard let target else { preconditionFailure("no destination") }
        return target
    }

    private func standingFile() -> StandingFile {
        guard let file = survey?.file else { preconditionFailure("nothing to compare") }
        return file
    }

    /// Finishes what a killed run had completed, with `body`, which blocks.
    func finish<End: Sendable>(
        _ body: @escaping @Sendable (FileTarget, () -> Bool) throws(AssemblyError) -> End?
    ) async throws(DownloadError.Reason) -> End? {
        let target = wantedTarget
        return try await Disk.runUntilCancelled {
            [folders] (isCancelled: () -> Bool) throws(AssemblyError) -> End?? in
            if try folders.parent(ofMissing: target.folder) != nil { return .some(nil) }
            return .some(try body(target, isCancelled))
        }
    }

    /// Has `body` make the folder of the destination, or find where it would be made.
    mutating func makeFolder(
        _ body: @escaping @Sendable (FolderMaker, String) throws(AssemblyError) -> String?
    ) async throws(DownloadError.Reason) {
        let folder = wantedTarget.folder
        var parent: String?
        if folders.makes(folder) {
            parent = try await Disk.run { [folders] () throws(AssemblyError) in
                try body(folders, folder)
            }
        }
        machine.preparation.take(missingFolderIn: parent)
    }

    /// The regular file that has a name which this download may take; in a list, that of no
    /// earlier file.
    private func existing(
        _ target: FileTarget?
    ) async throws(DownloadError.Reason) -> Preparation.StandingFacts? {
        guard var target else { return nil }
        if let batch {
            guard let name = try await batch.existing(target) else { return nil }
            target.name = name
        }
        return try await Disk.run { [folders, target] () throws(AssemblyError) in
            guard try folders.parent(ofMissing: target.folder) == nil else { return nil }
            return try Survey.existing(at: target)
        }
    }

    /// Returns the target with its final name.
    ///
    /// If the user asks for it, that is the first of the numbered names that is free, or that an
    /// earlier run of the same URL has begun. In a list, each file has a name of its own. A file
    /// that may count for the download keeps its name.
    private func named(
        _ target: FileTarget?, _ offer: Preparation.Offer
    ) async throws(DownloadError.Reason) -> FileTarget? {
        guard var target else { return nil }
        let wanted = target
        var keeps = false
        if job.options.naming.numbersTaken {
            keeps = try await Disk.run { [job] () throws(AssemblyError) in
                job.mayTakeOver(wanted, offer)
            }
        }
        if let naming = batch?.naming {
            target.name = try await naming(target, job.urls.map(\.text), keeps)
            return target
        }
        guard job.options.naming.numbersTaken, !keeps else { return target }
        return try await Disk.run { [job] () throws(AssemblyError) in try job.numbered(wanted) }
    }

    /// Whether a sample of the file at the destination is what the server sends.
    private func agreesWithFile() async throws(DownloadError.Reason) -> Bool {
        let file = standingFile()
        guard try await primary.agrees(with: file) else { return false }
        guard machine.preparation.mayBeUnwritten else { return true }
        return try await primary.agreesInBlanks(of: wantedTarget, file)
    }

    /// Returns what the bytes at the destination come to; `nil` if they cannot all be read.
    private func content(
        like digest: Digest
    ) async throws(DownloadError.Reason) -> Preparation.Content? {
        let file = standingFile()
        return try await Disk.runUntilCancelled {
            (isCancelled: () -> Bool) throws(AssemblyError) -> Preparation.Content?? in
            let content = file.content(like: digest, isCancelled)
            return content == nil && isCancelled() ? nil : .some(content)
        }
    }

    /// Checks that no other program uses the file that is replaced because of `doubt`.
    private mutating func checkUnused(
        _ doubt: FinishedDoubt?
    ) async throws(DownloadError.Reason) {
        if let target {
            try await Disk.run { () throws(AssemblyError) in try ForeignPart.checkUnused(target) }
        }
        if let doubt { report(.notice(.notFinished(doubt))) }
        machine.preparation.takeReplaced()
    }

    /// Returns the plan of a repair, and the request for its part; a `GET` has to confirm an
    /// obstacle that only a `HEAD` states.
    mutating func repairRequest() async throws(DownloadError.Reason) -> (
        plan: RepairPlan, request: Assembly.Request
    ) {
        guard let plan = survey?.repair else { preconditionFailure("nothing damaged") }
        let request = try request()
        guard plan.obstacle(to: request) != nil, !primary.finding.isProven else {
            return (plan, request)
        }
        primary.finding = try await inquiry.prove(primary)
        return (plan, try self.request())
    }

    // MARK: The part

    /// Returns the request for the part, if the file is downloaded as the primary offers it.
    func request() throws(DownloadError.Reason) -> Assembly.Request {
        try request(primary.finding, primary.probe.url)
    }

    /// Returns the request for the part, if the file is downloaded as it was found at a URL.
    func request(
        _ finding: Probe.Finding, _ url: WebURL
    ) throws(DownloadError.Reason) -> Assembly.Request {
        let (target, options) = (wantedTarget, job.options)
        var request = Assembly.Request(
            folder: target.folder, name: target.name, fullURL: url.text, url: url.redacted,
            identity: finding.file.identity, servesRanges: finding.file.transfer == .segments)
        request.checksum = options.checksum
        request.advertised = finding.file.digests
        request.landing = finding.landing(from: url)
        request.required = machine.preparation.required
        request.resume = options.resume || record.hasBegun || options.adopt != nil
        request.hasPart = record.kept > 0 && machine.attempts.startOver == nil
        request.overwrite = options.overwrite
        request.startOver = machine.attempts.startOver
        request.sampled = machine.attempts.samples.generation
        let isRefreshed = job.isRefreshed(url)
        // A caller who provides new links states that all of them lead to the same file.
        request.isNewLink = options.continuesOtherURL || links != nil
        request.takesNewLink = options.continuesOtherURL && !isRefreshed
        request.givenURL = isRefreshed ? job.url?.text : nil
        // The whole file must have the digests for which a part is resumed, also if another run completes it.
        // Without a validator, a stated digest is what distinguishes versions.
        if request.isNewLink || request.landing != nil
            || request.identity.strongValidator == nil
        {
            request.required += request.advertised
        }
        request.replacesDestination = machine.preparation.mayReplace
        request.modified = options.files.remoteTime ? finding.modified : nil
        request.umask = options.files.umask
        request.opensPart = options.files.opensParts
        request.allocation = options.files.allocation
        request.attributes = options.files.attributes
        request.keepsAttributes = job.isRepair
        request.checkPriority = Disk.checkPriority
        request.keepManifest = options.files.keepManifest
        mirrors?.amend(&request)
        return request
    }

    /// The manifest's header of the part at the destination.
    var begunHeader: Manifest.Header? {
        target.flatMap { Assembly.headerRecorded(folder: $0.folder, name: $0.name) }
    }

    /// Whether another link than the primary's has begun the part.
    private var isNewLink: Bool {
        guard job.options.continuesOtherURL || links != nil else { return false }
        return begunHeader?.isFor(fullURL: primary.probe.url.text) == false
    }

    /// Returns what is at the place of the part, compared with what the primary offers.
    private func partSight() throws(DownloadError.Reason) -> DownloadMachine.FoundPart {
        guard target != nil else {
            let reason = stream?.loss(primary.finding.file.identity)
            return reason.map { .lost(.init(reason: $0)) } ?? .nothing
        }
        let (reason, begun) = (try Self.loss(request()), begunHeader)
        guard let reason else { return begun == nil ? .nothing : .resumable }
        let landing = primary.finding.landing(from: primary.probe.url)
        return .lost(
            .init(
                reason: reason,
                begun: begun.map {
                    ($0.identity, $0.isOneStream ?? false, $0.isSampled == true)
                },
                isNewLink: isNewLink,
                isElsewhere: begun?.isSameServer(landing) == .no))
    }

    /// Why the part would be discarded because of what the server states; `nil` if it would not be.
    static func loss(
        _ request: Assembly.Request
    ) throws(DownloadError.Reason) -> StartOverReason? {
        guard request.resume else { return nil }
        do throws(AssemblyError) {
            guard case .startOver(let reason) = try Assembly.preview(request) else { return nil }
            return reason == .rejected ? nil : reason
        } catch {
            // Another download that failed has removed the folder that it had made.
            if case .folderUnavailable(_, ENOENT) = error { return nil }
            throw .assembly(error)
        }
    }

    /// Whether the part of an earlier run would be lost if this URL was the primary.
    private var losesPart: @Sendable (Primary) throws(DownloadError.Reason) -> Bool {
        { [self] (primary) throws(DownloadError.Reason) in
            var work = self
            work.target =
                target
                ?? job.target(for: primary.finding.file, from: job.url ?? primary.probe.url)
            // A stream resumes no part, and in a missing folder there is none.
            guard let place = work.target, (try? Folder(place.folder)) != nil else { return false }
            return try Self.loss(work.request(primary.finding, primary.probe.url)) != nil
        }
    }

    /// Refuses to discard a part that the download builds on.
    ///
    /// - Throws: `unrepairable` in a repair, `notAdopted`, else `notContinued`; what prevents it
    ///   from being opened.
    func refuseToStartOver() throws(DownloadError.Reason) {
        guard target != nil, job.keepsPart || isNewLink else { return }
        let (request, decision): (Assembly.Request, ResumeDecision)
        request = try self.request()
        do throws(AssemblyError) {
            decision = try Assembly.preview(request)
        } catch {
            throw .assembly(error)
        }
        guard case .startOver(let reason) = decision else { return }
        // A part that was received in one stream could not be resumed under the old link either.
        let isStream =
            reason == .streamBroken || reason == .noRanges && begunHeader?.isOneStream == true
        guard job.keepsPart || !isStream else { return }
        if let path = job.options.adopt {
            throw .assembly(.notAdopted(path: path, .otherVersion(reason)))
        }
        throw job.isRepair ? .unrepairable(.otherVersion(reason)) : .notContinued(reason)
    }

    // MARK: The end

    /// Returns the error of the download with what is known beside the reason.
    func error(_ reason: DownloadError.Reason, written: Int64? = nil) -> DownloadError {
        var kept = record.kept
        if case .assembly(.partGone) = reason {
            kept = 0
        } else if kept == 0, let target {
            kept = Assembly.bytesRecorded(folder: target.folder, name: target.name)
        }
        var error = DownloadError(
            reason: reason, url: job.url?.redacted ?? "",
            path: target?.path ?? stream?.output?.destination,
            bytesKept: kept, bytesWritten: written, mirrors: mirrors?.book.failed ?? [])
        error.isPublished = record.isPublished
        if kept > 0, !record.isPublished { error.startsOver = obstacleOfNextRun }
        error.isNetworkLost =
            machine.network == nil && (machine.offered != nil || kept > 0) && reason.isNetworkLoss
        error.isLinkUsedUp = isUsedUp(reason)
        error.isLinkExpired =
            reason.isRefusal
            && job.url.flatMap(LinkExpiry.init)?.isOver(now: secondsSince1970()) == true
        return error
    }

    /// Why the next run of the same download would not resume the part; `nil` if it would, or if
    /// that is unknown.
    private var obstacleOfNextRun: StartOverReason? {
        guard !job.isRepair, let header = begunHeader else { return nil }
        let options = job.options
        var offered = record.offered?.identity ?? header.identity
        offered.distrustBlank(date: offered.lastModified.flatMap(secondsSince1970(httpDate:)))
        // A single request needs no ranges, and shows nothing about them.
        let mayServe = options.singleRequest && record.offered?.acceptsRanges != false
        let isAdopted = options.adopt != nil
        return ResumeDecision.obstacle(
            toContinuing: header, offered: offered,
            servesRanges: header.isOneStream != true || mayServe,
            by: .init(
                wantsResume: options.resume || isAdopted, hasChecksum: options.checksum != nil,
                acceptsSample: options.resumeUnverified || isAdopted && !header.required.isEmpty))
    }

    /// Whether a link is used up that delivered the file, or its head, in this run.
    private func isUsedUp(_ reason: DownloadError.Reason) -> Bool {
        guard case .transfer(.status(let status), _) = reason, isGone(status) else { return false }
        return machine.attempts.received > 0 || machine.offered != nil && status == 410
    }
}

extension Attempts.Question {
    /// The range that is requested; `nil` for the whole file.
    fileprivate var range: ByteRange? {
        switch extent {
        case .firstByte: Probe.firstByte
        case .firstRange: Probe.firstRange
        case .whole: nil
        }
    }
}
