// JSON: the lines of `--json`. It defines the names of events and fields, which scripts depend on.
// It never writes the lines, and never knows a terminal.

import Assembler
public import FoundationEssentials
public import Segmenter

/// The payloads of the events of `--json`.
///
/// `docs/json.md` describes them; a test compares that page with this code.
public enum JSONEvents {
    /// The event that segget has started.
    public struct Run: Encodable {
        var format = 2
        var version = seggetVersion
        var clock: String
        var files: Int?

        /// Creates the event from the start time; `files` is the number of files if there are
        /// several.
        public init(at now: Date, files: Int? = nil) {
            clock = now.formatted(.iso8601)
            self.files = files
        }
    }

    /// The event that the download of one of several files starts.
    public struct Begun: Encodable {
        var url: String

        /// Creates the event from the URL without its secrets.
        public init(url: String) { self.url = url }
    }

    /// The event that the downloads of all files have ended.
    public struct Summary: Encodable {
        var files: Int
        var done: Int
        var complete: Int?
        var skipped: Int?
        var failed: Int
        var later: Int?
        var stopped: Int
        var notStarted: Int
        var bytesReceived: Int64
        var seconds: Double?
        var code: Int32
        var path: String?
        var unchecked: Int?
    }

    /// The event that the files of a set were compared with its ledger.
    public struct SetStart: Encodable {
        var set: String
        var path: String
        var files: Int
        var size: Int64?
        var complete: Int
        var bytesComplete: Int64
        var missing: Int
        var changed: Int
        var kept: [String]
        var extras: Int
        var since: String?
    }

    /// The event that the transfer starts.
    public struct Started: Encodable {
        var path: String
        var size: Int64?
        var bytesResumed: Int64
        var connections: Int
        var transfer: String
        var identity: String
        var mirrors: Int?

        /// Creates the event from the known facts.
        public init(_ start: DownloadStart) {
            path = start.path
            size = start.size
            bytesResumed = start.resumedBytes
            connections = start.connections
            transfer = start.transfer.name
            identity = start.identity
            mirrors = start.mirrors > 1 ? start.mirrors : nil
        }
    }

    /// The event of a notice.
    public struct Notice: Encodable {
        var notice: String
        var message: String
        var reason: String?
        var start: Int64?
        var end: Int64?
        var attempt: Int?
        var delay: Double?
        var status: Int?
        var limit: Int64?
        var bytes: Int64?
        var bytesPerSecond: Int64?
        var url: String?
        var seconds: Double?
        var connections: Int?
        var address: String?
        var since: String?
        var path: String?
        var moved: Bool?

        /// Creates the event of a notice.
        public init(_ notice: DownloadNotice) {
            self.notice = notice.kind
            message = notice.text
            switch notice {
            case .startedOver(let reason):
                self.reason = reason.kind
                if case .sampleDiffers(let range) = reason { set(range) }
            case .resumedUnverified(let bytes), .sampleAgreed(let bytes), .partAgreed(let bytes):
                self.bytes = bytes
            case .linkRefreshed(let url, let status):
                self.url = url
                self.status = status
            case .linkNotRefreshed(let fault, let status):
                reason = fault.kind
                self.status = status
            case .linkRefreshDelayed(let delay): self.delay = delay.inSeconds.thousandths
            case .adopted(let path, let bytes, let moved):
                (self.path, self.bytes, self.moved) = (path, bytes, moved)
            case .endUnchecked(let cause): reason = Diagnostic.kind(of: cause)
            case .retrying(let range, let attempt, let delay, let cause):
                reason = Diagnostic.kind(of: cause)
                self.attempt = attempt
                self.delay = delay.inSeconds.thousandths
                set(range)
            case .resolvingAgain(let status): self.status = status
            case .resting(let url, let time):
                self.url = url
                delay = time.inSeconds.thousandths
            case .damaged(let range): set(range)
            case .stole(let range, let rate):
                set(range)
                bytesPerSecond = rate.map(Units.whole)
            case .rescued(let range, let time):
                seconds = time.inSeconds.thousandths
                set(range)
            case .hedged(let range): set(range)
            case .outpaced(let range, let rate, _):
                set(range)
                bytesPerSecond = Units.whole(rate)
            case .stalled(let time): seconds = time.inSeconds.thousandths
            case .stallOver(let count): connections = count
            case .serverLimit(let connections, let cause):
                self.connections = connections
                reason = cause.map { Diagnostic.kind(of: $0) }
            case .connections(let count, let rate):
                connections = count
                bytesPerSecond = rate.map(Units.whole)
            case .addressUsed(let address): self.address = address
            case .addressLeft(let address, let why):
                self.address = address
                switch why {
                case .failed(let cause): reason = Diagnostic.kind(of: cause)
                case .slow(let rate, _):
                    reason = "slow"
                    bytesPerSecond = Units.whole(rate)
                }
            case .limitChanged(let rate): limit = rate.map(Units.whole)
            case .mirrorJoined(let url), .mirrorOnStandby(let url), .mirrorIsPrimary(let url),
                .downgraded(let url), .needsHTTP2(let url):
                self.url = url
            case .mirrorDropped(let url, let why):
                self.url = url
                reason = why.kind
                if case .otherData(let range) = why { set(range) }
            case .ifRangeUnusable(let range): set(range)
            case .waitingForNetwork(let since, let cause):
                self.since = Date(timeIntervalSince1970: Double(since)).formatted(.iso8601)
                reason = cause.map { Diagnostic.kind(of: $0) }
            case .networkIsBack(let time): seconds = time.inSeconds.thousandths
            case .networkOccupied, .decoding, .rangesIgnored, .serversDisagree, .replyRefused,
                .headUnusable,
                .endUnproven,
                .certificatesUnchecked, .changingConnections, .attributesNotWritten, .notFinished,
                .spaceNotReserved, .namedByLink, .namedUnguarded, .modeNotSet, .timeNotSet:
                break
            }
        }

        private mutating func set(_ range: ByteRange?) {
            start = range?.start
            end = range?.end
        }
    }

    /// The event of progress.
    public struct Progress: Encodable {
        var phase: String
        var bytesDone: Int64
        var size: Int64?
        var bytesVerifying: Int64
        var bytesReceived: Int64
        var bytesPerSecond: Int64
        var secondsLeft: Int64?
        var connections: Int
        var limit: Int64?
        var map: [UInt8]

        /// Creates the event from a progress report.
        public init(_ progress: DownloadProgress) {
            phase = progress.phase.rawValue
            bytesDone = progress.bytesDone
            size = progress.size
            bytesVerifying = progress.bytesVerifying
            bytesReceived = progress.bytesReceived
            bytesPerSecond = Units.whole(progress.bytesPerSecond)
            secondsLeft = progress.timeLeft.map { Units.whole($0.inSeconds.rounded(.up)) }
            connections = progress.connections
            limit = progress.limit.map(Units.whole)
            map = progress.map
        }
    }

    /// The event that the file is complete and published.
    public struct Finished: Encodable {
        var path: String
        var size: Int64
        var crc32: String?
        var verified: [String]
        var unchanged: String?
        var bytesReceived: Int64
        var bytesResumed: Int64
        var seconds: Double?
        var sampled: Bool?
        var synchronized: Bool?
        var html: Bool?

        /// Creates the event of a downloaded file.
        public init(_ file: DownloadedFile) {
            path = file.path
            size = file.size
            crc32 = file.crc32.map { Digest(crc32: $0).hex }
            unchanged = file.unchanged?.rawValue
            verified = file.verified.map(\.description)
            bytesReceived = file.bytesReceived
            bytesResumed = file.bytesResumed
            seconds = file.duration.inSeconds.thousandths
            sampled = file.isSampled ? true : nil
            synchronized = file.isSynchronized ? nil : false
            html = file.isPage ? true : nil
        }
    }

    /// The event that the download failed or was stopped.
    public struct Failure: Encodable {
        var code: Int32
        var kind: String
        var message: String
        var hint: String
        var url: String
        var path: String?
        var bytesKept: Int64
        /// Why the next run starts over although bytes are kept.
        var startsOver: String?
        var mirrors: [Mirror]?

        /// A mirror that failed.
        struct Mirror: Encodable {
            var url: String
            var reason: String
            var message: String
        }

        /// Creates the event from an error and its diagnostic.
        public init(_ error: DownloadError, _ diagnostic: Diagnostic) {
            code = diagnostic.status.rawValue
            kind = diagnostic.kind
            message = diagnostic.message
            hint = diagnostic.hint
            url = error.url
            path = error.path
            bytesKept = error.bytesKept
            startsOver = error.startsOver?.kind
            let mirrors = error.mirrors.map {
                Mirror(
                    url: $0.url, reason: $0.fault.kind, message: Diagnostic.describe($0.fault))
            }
            self.mirrors = mirrors.isEmpty ? nil : mirrors
        }

        /// Creates the event of a file that could not be requested.
        ///
        /// `url` must have no credentials and no query.
        package init(
            code: Int32, kind: String, message: String, hint: String, url: String, path: String?,
            bytesKept: Int64
        ) {
            (self.code, self.kind, self.message, self.hint) = (code, kind, message, hint)
            (self.url, self.path, self.bytesKept) = (url, path, bytesKept)
        }
    }
}

extension JSONEvents.Summary {
    /// Creates the event from the summary of a batch and the exit code.
    ///
    /// - Parameters:
    ///   - summary: The summary.
    ///   - seconds: The duration.
    ///   - status: The exit code.
    ///   - path: The path of what was asked for, if it is in the Hub's cache.
    ///   - unchecked: The number of files there that were not read.
    package init(
        _ summary: BatchSummary, seconds: Double, status: ExitStatus, path: String? = nil,
        unchecked: Int = 0
    ) {
        self.path = path
        self.unchecked = unchecked > 0 ? unchecked : nil
        files = summary.count
        done = summary.done
        complete = summary.complete
        later = summary.complete == nil ? nil : summary.later
        skipped = summary.skipped > 0 ? summary.skipped : nil
        failed = summary.failures.count
        stopped = summary.stopped.count
        notStarted = summary.notStarted
        bytesReceived = summary.received
        self.seconds = seconds.thousandths
        code = status.rawValue
    }
}

extension JSONEvents.SetStart {
    /// Creates the event.
    ///
    /// - Parameters:
    ///   - set: The name of the set.
    ///   - path: The path of its folder.
    ///   - figures: How far it is.
    ///   - work: What is to be done.
    public init(set: String, path: String, _ figures: SetFigures, _ work: SetWork) {
        (self.set, self.path, files, size) = (set, path, figures.files, figures.bytes)
        (complete, bytesComplete) = (figures.complete, figures.bytesComplete)
        (missing, changed) = (work.files.count - work.replaced.count, work.replaced.count)
        (kept, extras) = (work.foreign, work.extras.count)
        since = work.asOf.map {
            Date(timeIntervalSince1970: Double($0)).formatted(.iso8601)
        }
    }
}
