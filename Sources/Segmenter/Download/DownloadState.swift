import Assembler
import Glibc

/// What one download knows, from one step and one attempt to the next.
struct DownloadState: Sendable {
    let job: DownloadJob
    /// Where the file goes; `nil` until that is known, and for one that goes to no file.
    var target: FileTarget?
    /// What is to be done about the file.
    var plan: Plan
    /// What stands at the destination.
    var survey: Survey?
    /// What its first request has brought, when it was made already.
    var answered: DownloadRun.Answered?
    /// Its place among the files of a batch.
    let place: GatePlace
    /// Where the file has several URLs.
    var mirrors: MirrorSet?
    /// What earlier attempts have shown.
    var attempts = Attempts()
    /// What became of the output of its attempts.
    var record = OutputRecord()
    /// Where a download to a descriptor goes.
    var stream = OutgoingStream()
    var repair = RepairRun()
    /// Whether the network is waited for when it is lost, and what is known of that.
    var network: NetworkLoss
    var adoption = AdoptionRun()

    /// Whether new links are to be had in place of those that are refused.
    private let refreshesLinks: Bool

    init(
        _ job: DownloadJob, batch: BatchContext? = nil, answered: DownloadRun.Answered? = nil,
        refreshesLinks: Bool = false
    ) {
        self.job = job
        self.refreshesLinks = refreshesLinks
        self.answered = answered
        plan = Plan(job, isListed: batch != nil)
        place = GatePlace(batch)
        network = NetworkLoss(isWaitedFor: job.options.waitsForNetwork)
    }

    /// What is asked of the part when a file is fetched as it was found.
    func request(_ primary: Primary) throws(DownloadError.Reason) -> Assembly.Request {
        try request(primary.finding, primary.probe.url)
    }

    /// What is asked of the part when a file is fetched as it was found at a URL.
    func request(
        _ finding: Probe.Finding, _ url: WebURL
    ) throws(DownloadError.Reason) -> Assembly.Request {
        guard let target else { preconditionFailure("no destination") }
        let options = job.options
        var request = Assembly.Request(
            folder: target.folder, name: target.name, fullURL: url.text, url: url.redacted,
            identity: finding.file.identity, servesRanges: finding.file.transfer == .segments)
        request.checksum = options.checksum
        request.advertised = finding.file.digests
        request.landing = finding.landing(from: url)
        request.required = plan.required
        request.resume = options.resume || record.hasBegun || options.adopt != nil
        request.hasPart = record.kept > 0 && attempts.startOver == nil
        request.overwrite = options.overwrite
        request.startOver = attempts.startOver
        request.sampled = attempts.samples.generation
        let isRefreshed = job.isRefreshed(url)
        // Who has links refreshed says of all of them that they lead to the same file.
        request.isNewLink = options.continuesOtherURL || refreshesLinks
        request.takesNewLink = options.continuesOtherURL && !isRefreshed
        request.givenURL = isRefreshed ? job.url?.text : nil
        // What a part is continued for is what the file must come to, whoever completes it. A stated digest
        // is what distinguishes versions where no validator does.
        if request.isNewLink || request.landing != nil
            || request.identity.strongValidator == nil
        {
            request.required += request.advertised
        }
        request.replacesDestination = plan.mayReplace
        request.modified = options.files.remoteTime ? finding.modified : nil
        request.umask = options.files.umask
        request.allocation = options.files.allocation
        request.attributes = options.files.attributes
        request.keepsAttributes = job.isRepair
        request.checkPriority = Disk.checkPriority
        request.keepManifest = options.files.keepManifest
        mirrors?.amend(&request)
        return request
    }

    // MARK: What would be lost

    /// Whether a part is there that another link has begun than the one that is asked.
    func isNewLink(_ primary: Primary) -> Bool {
        guard let target, job.options.continuesOtherURL || refreshesLinks else { return false }
        let begun = Assembly.headerRecorded(folder: target.folder, name: target.name)
        return begun?.isFor(fullURL: primary.probe.url.text) == false
    }

    /// Refuses to throw away a part that the download builds on.
    ///
    /// - Throws: `unrepairable` in a repair, `notAdopted`, else `notContinued`; what stands in the way of opening it.
    func refuseToStartOver(
        _ primary: Primary
    ) throws(DownloadError.Reason) {
        guard let target, job.keepsPart || isNewLink(primary) else { return }
        let request = try request(primary)
        let decision: ResumeDecision
        do throws(AssemblyError) {
            decision = try Assembly.preview(request)
        } catch {
            throw .assembly(error)
        }
        guard case .startOver(let reason) = decision else { return }
        // What came in one stream could not be continued under the old link either.
        let begun = Assembly.headerRecorded(folder: target.folder, name: target.name)
        let isStream = reason == .streamBroken || reason == .noRanges && begun?.isOneStream == true
        guard job.keepsPart || !isStream else { return }
        if let path = job.options.adopt {
            throw .assembly(.notAdopted(path: path, .otherVersion(reason)))
        }
        throw job.isRepair ? .unrepairable(.otherVersion(reason)) : .notContinued(reason)
    }

    /// Why what is there would be lost, if the file were fetched as it was found; `nil` when nothing would.
    func loss(_ primary: Primary) throws(DownloadError.Reason) -> StartOverReason? {
        // That is decided already, or nothing can be there.
        guard !attempts.isRangeless, plan.missingFolder == nil else { return nil }
        guard target != nil else { return stream.loss(primary.finding.file.identity) }
        return try Self.loss(request(primary))
    }

    /// Why a part would be thrown away because of what the server said; `nil` when none would be.
    static func loss(
        _ request: Assembly.Request
    ) throws(DownloadError.Reason) -> StartOverReason? {
        guard request.resume else { return nil }
        do throws(AssemblyError) {
            guard case .startOver(let reason) = try Assembly.preview(request) else { return nil }
            return reason == .rejected ? nil : reason
        } catch {
            // Another download that came to nothing has taken the folder away that it had made.
            if case .folderUnavailable(_, ENOENT) = error { return nil }
            throw .assembly(error)
        }
    }

    /// Whether an earlier run's part would be lost if this URL led.
    func loses(_ primary: Primary) throws(DownloadError.Reason) -> Bool {
        var state = self
        state.target =
            target
            ?? job.target(
                for: primary.finding.file, from: job.url ?? primary.probe.url)
        // A stream continues no earlier run's part, and in a folder that is missing there is none.
        guard let place = state.target, (try? Folder(place.folder)) != nil else { return false }
        return try Self.loss(state.request(primary)) != nil
    }

    // MARK: The end

    /// The error with what is known beside it.
    func error(_ reason: DownloadError.Reason, written: Int64? = nil) -> DownloadError {
        var kept = record.kept
        if case .assembly(.partGone) = reason {
            kept = 0
        } else if kept == 0, let target {
            kept = Assembly.bytesRecorded(folder: target.folder, name: target.name)
        }
        var error = DownloadError(
            reason: reason, url: job.url?.redacted ?? "",
            path: target?.path ?? stream.output?.destination,
            bytesKept: kept, bytesWritten: written, mirrors: mirrors?.book.failed ?? [])
        error.isPublished = record.isPublished
        if kept > 0, !record.isPublished { error.startsOver = obstacleOfNextRun }
        error.isNetworkLost =
            !network.isWaitedFor && (network.hasAnswered || kept > 0) && reason.isNetworkLoss
        error.isLinkUsedUp = isUsedUp(reason)
        error.isLinkExpired =
            reason.isRefusal
            && job.url.flatMap(LinkExpiry.init)?.isOver(now: secondsSince1970()) == true
        return error
    }

    /// Why the same download, begun again, does not continue the part; `nil` where it does, or nothing tells.
    private var obstacleOfNextRun: StartOverReason? {
        guard !job.isRepair, let target,
            let header = Assembly.headerRecorded(folder: target.folder, name: target.name)
        else { return nil }
        let options = job.options
        var offered = record.offered?.identity ?? header.identity
        offered.distrustBlank(date: offered.lastModified.flatMap(secondsSince1970(httpDate:)))
        // One request needs no ranges, and says nothing of them.
        let mayServe = options.singleRequest && record.offered?.acceptsRanges != false
        let isAdopted = options.adopt != nil
        return ResumeDecision.obstacle(
            toContinuing: header, offered: offered,
            servesRanges: header.isOneStream != true || mayServe,
            by: .init(
                wantsResume: options.resume || isAdopted, hasChecksum: options.checksum != nil,
                acceptsSample: options.resumeUnverified || isAdopted && !header.required.isEmpty))
    }

    /// Whether a link leads nowhere any more that has led to the file in this run: the server sent some of it, or
    /// its head.
    private func isUsedUp(_ reason: DownloadError.Reason) -> Bool {
        guard case .transfer(.status(let status), _) = reason, isGone(status) else { return false }
        return attempts.received > 0 || network.hasAnswered && status == 410
    }
}

/// What became of the output of a download's attempts.
struct OutputRecord: Sendable {
    /// Whether a part was opened: what is in it from then on is this run's own.
    private(set) var hasBegun = false
    /// What the server has offered, for which that was.
    private(set) var offered: RemoteFile?
    /// Which part was opened last.
    private(set) var generation: String?
    /// Bytes of it that a later run can build on.
    var kept: Int64 = 0
    /// Bytes of the complete file that earlier runs had brought.
    var resumed: Int64 = 0
    /// Whether the file has its name, whatever failed then.
    var isPublished = false

    /// Notes that an output was opened.
    mutating func opened(_ output: any Output, for file: RemoteFile) {
        hasBegun = true
        offered = file
        generation = (output as? Assembly)?.generation
    }

    /// Takes away the part that was opened last, if it holds nothing.
    func removeIfEmpty(_ target: FileTarget?) async {
        guard let target, let generation else { return }
        // The failure that led here says more than one of tidying up.
        _ = await Disk.result { () throws(AssemblyError) in
            try Assembly.removeIfEmpty(target.name, folder: target.folder, generation: generation)
        }
    }
}
