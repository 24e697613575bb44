// Words: messages, hints and exit codes for the library's errors and notices. It never prints.

import Assembler
import Glibc
public import Segmenter
import SegmenterRules

/// The messages, hint and exit code for an error.
public struct Diagnostic: Sendable {
    /// The exit code.
    package let status: ExitStatus
    /// A stable name for programs; `docs/json.md` lists them all.
    public let kind: String
    /// The message: what happened, to which URL or file.
    public let message: String
    /// The next step for the user.
    public internal(set) var hint: String
    /// The data that remains on disk, as text; `nil` if segget wrote nothing.
    public internal(set) var kept: String?
    /// Why the same command starts over although bytes are kept, and which option resumes them.
    public internal(set) var outlook: String?
    /// The bytes that were written to a stream, as text; `nil` for a file.
    public internal(set) var written: String?
    /// Whether nothing is printed, because the reader of standard output has closed it.
    public internal(set) var isQuiet = false
    /// One message for each mirror that failed.
    public internal(set) var mirrors: [String] = []

    /// The lines to print.
    public var messages: [Message] {
        guard !isQuiet else { return [] }
        return [Message(.error, message)] + mirrors.map { Message(.note, $0) }
            + (kept.map { [Message(.kept, $0)] } ?? [])
            + (written.map { [Message(.written, $0)] } ?? []) + [Message(.hint, hint)]
    }

    /// Creates the diagnostic of a failed download.
    ///
    /// `signal` is the signal that stopped it; `typed` is its URL on the command line.
    public init(_ error: DownloadError, signal: Int32? = nil, typed: String? = nil) {
        let url = Self.quote(error.url)
        let again = Self.again(after: error)
        self =
            switch error.reason {
            case .invalidURL(let text):
                Self(
                    .usage, "invalid_url", "\(Self.quote(text)) is not a URL that can be used",
                    hint: "give a complete URL that starts with `https://` or `http://`")
            case .foreignURL(let foreign, let shown): Self(foreign, shown: shown)
            case .invalidHeader(let problem):
                Self(
                    .usage, "invalid_header", Self.describe(problem),
                    hint: "give it as `--header 'Name: value'`")
            case .certificateFile(let path):
                Self(
                    .usage, "certificate_file",
                    "the certificate file \(Self.quote(path)) cannot be used",
                    hint: "give `--ca-certificate` a readable PEM file with certificates")
            case .noCertificates(let path, let variable): Self(noCertificates: path, variable)
            case .access(let problem):
                Self(
                    .usage, "invalid_access", Self.describe(problem), hint: Self.hint(problem))
            case .assembly(let failure):
                Self(failure, again: again)
            case .nameTaken(let path):
                Self(
                    .cannotCreate, "name_taken",
                    "an earlier file of this run is saved as \(Self.quote(path)), so \(url) was not "
                        + "downloaded",
                    hint: "give it another name with `out=`")
            case .transfer(.status(let code), _) where error.isLinkExpired,
                .refused(let code) where error.isLinkExpired:
                Self(expiredLink: error, code, url: url)
            case .transfer(.status(let code), _) where error.isLinkUsedUp:
                Self(usedUpLink: code, url: url)
            case .transfer(let failure, let attempts):
                Self(failure, attempts: attempts, url: url, again: again)
            case .refused(let code):
                Self(
                    .refused, "refused",
                    "the server refused access to \(url): \(Self.describe(status: code))",
                    hint: Self.hint(refused: code))
            case .unusableScheme(let schemes): Self(unusableSchemes: schemes, url: url)
            case .proxyRefused(let code):
                Self(
                    .refused, "proxy_refused",
                    "the proxy refused access to \(url)"
                        + (code.map { ": \(Self.describe(status: $0))" } ?? ""),
                    hint: Self.hint(proxyRefused: code))
            case .untrusted(let problem):
                Self(
                    .refused, "untrusted",
                    "the certificate of the server of \(url) is not trusted: \(problem)",
                    hint: Self.hint(untrusted: problem))
            case .addressDenied(let denial): Self(denial, url: url)
            case .unsafeRedirect(let target):
                Self(
                    .refused, "unsafe_redirect",
                    "\(url) redirects to \(Self.describe(unsafeTarget: target)): not followed",
                    hint: target.hasPrefix("http:")
                        ? "if you trust the network, give `--allow-downgrade`, preferably with `--checksum`"
                        : "if you trust the target, download from its own URL")
            case .tooManyRedirects(let limit):
                Self(
                    .unavailable, "too_many_redirects",
                    "\(url) redirects more than \(Units.count(Int64(limit), "time"))",
                    hint: "check the URL: it may redirect to itself")
            case .remoteChanged(let breach):
                Self(
                    .remoteChanged, "remote_changed",
                    "\(url) changed during the download\(Self.again(error)): "
                        + Self.describe(breach),
                    hint: "run the same command again when the remote file no longer changes")
            case .otherVersion(let breach):
                Self(
                    .remoteChanged, "other_version",
                    "\(url) is no longer the file that the plan states: \(Self.describe(breach))",
                    hint: "make a new plan with `segget plan` if you want the new version")
            case .contract(let breach) where breach.isAnotherVersion && error.bytesKept > 0:
                Self(
                    .remoteChanged, "contract_broken",
                    "the server sent something else for \(url), perhaps a login or error page: "
                        + Self.describe(breach),
                    hint:
                        "\(again) later; if this is the file now, give `--no-resume` to start over")
            case .contract(let breach):
                Self(
                    .remoteChanged, "contract_broken",
                    "the server's response for \(url) violates HTTP: \(Self.describe(breach))",
                    hint: "a proxy or cache may be at fault: try later, or use a mirror")
            case .tooLarge, .tooSlow, .timeIsUp: Self(limit: error.reason, url: url, again: again)
            case .htmlPage:
                Self(
                    .unavailable, "html_page",
                    "the server sent an HTML page instead of \(url), perhaps a login or error page",
                    hint:
                        "open the URL in a browser to see it; the file may require credentials, "
                        + "cookies or consent")
            case .unrepairable(let obstacle):
                Self(obstacle, url: url, path: error.path ?? "")
            case .notContinued(let reason):
                Self(
                    notContinued: reason, url: url,
                    path: error.path.map { PartNames(FileTarget(path: $0).name).part } ?? "")
            case .cancelled:
                Self(
                    signal.map(ExitStatus.init(signal:)) ?? .stopped, "cancelled",
                    "the download of \(url) was stopped\(signal.map(Self.cause) ?? "")",
                    hint: again)
            }
        if !error.isLinkExpired, let fresh = Self.hint(freshLink: error) { hint += "; or \(fresh)" }
        outlook = Self.outlook(error)
        if let outlook, hint.contains(again) { hint += "; \(outlook)" }
        addHint(at: typed, error.reason)
        if error.isNetworkLost {
            hint += "; with `--wait-for-network`, segget waits until the network is back"
        }
        kept = Self.kept(error)
        written = Self.written(error)
        if case .assembly(.readerGone) = error.reason { isQuiet = true }
        mirrors = error.mirrors.map {
            "the mirror \(Self.quote($0.url)): \(Self.describe($0.fault))"
        }
    }

    package init(_ status: ExitStatus, _ kind: String, _ message: String, hint: String) {
        self.status = status
        self.kind = kind
        self.message = message
        self.hint = hint
    }

    package static func cause(_ signal: Int32) -> String { " by \(name(ofSignal: signal))" }

    package static func name(ofSignal signal: Int32) -> String {
        switch signal {
        case SIGINT: "SIGINT"
        case SIGTERM: "SIGTERM"
        default: "SIGHUP"
        }
    }

    /// Returns the text in backticks.
    package static func quote(_ text: some StringProtocol) -> String { "`\(text)`" }
}

extension Diagnostic {
    init(_ failure: AssemblyError, again: String) {
        let elsewhere = "choose another name with `--output`, or a folder with `--directory`"
        self =
            switch failure {
            case .destinationExists(let path):
                Self(
                    .cannotCreate, "destination_exists", "\(Self.quote(path)) exists already",
                    hint:
                        "give `--overwrite` to replace it, `--adopt` to continue another program's "
                        + "download, or \(elsewhere)")
            case .notARegularFile(let path):
                Self(
                    .cannotCreate, "not_a_regular_file",
                    "\(Self.quote(path)) is not a regular file; it is left unchanged",
                    hint: elsewhere)
            case .folderUnavailable(let path, let code) where [EMFILE, ENFILE].contains(code):
                Self(tooManyOpenFiles: path, errno: code)
            case .cannotCreate(let path, let code) where [EMFILE, ENFILE].contains(code):
                Self(tooManyOpenFiles: path, errno: code)
            case .folderUnavailable(let path, let code):
                Self(
                    code == EIO ? .disk : .cannotCreate, "folder_unavailable",
                    "the folder \(Self.quote(path)) cannot be opened: \(Self.describe(errno: code))",
                    hint: "create it or check its permissions, or choose another folder")
            case .cannotCreate(let path, let code):
                Self(
                    [ENOSPC, EDQUOT, EIO].contains(code) ? .disk : .cannotCreate, "cannot_create",
                    "\(Self.quote(path)) cannot be created: \(Self.describe(errno: code))"
                        + Self.forbiddenCharacters(in: path, code),
                    hint: Self.forbiddenCharacters(in: path, code).isEmpty
                        ? "check the folder's permissions and free space, or \(elsewhere)"
                            + (isUnsupported(errno: code) ? "; or \(Self.otherFileSystem)" : "")
                        : elsewhere)
            case .busy(let path):
                Self(
                    .cannotCreate, "busy",
                    "another process is downloading to \(Self.quote(path))",
                    hint: "wait until it has ended, or \(elsewhere)")
            case .locked(let path, let lock, let host, let process):
                Self(lock: lock, of: path, host: host, process: process)
            case .foreignPart(let path):
                Self(
                    .cannotCreate, "foreign_part",
                    "\(Self.quote(path)) was not made by segget; it is left unchanged",
                    hint: "move it away, or give `--overwrite` to replace it, or \(elsewhere)")
            case .noPart(let path, isThere: true):
                Self(
                    .usage, "no_part",
                    "\(Self.quote(path)) has no manifest beside it, so segget did not make it",
                    hint: "give `--adopt` to continue another program's download")
            case .noPart(let path, isThere: false):
                Self(
                    .usage, "no_part", "there is no part \(Self.quote(path)) to continue",
                    hint: "check its name, or download the file without `--continue-from`")
            case .notAdopted(let path, let obstacle): Self(obstacle, path: path, again: again)
            case .partChanged(let path):
                Self(
                    .disk, "part_changed",
                    "another program removed, replaced or truncated \(Self.quote(path)), so it is not "
                        + "published",
                    hint: "leave it alone while segget runs, then \(again)")
            case .partGone(let path, let loss): Self(loss, path: path)
            case .noSpace(let path, let needed, let free):
                Self(
                    .disk, "no_space",
                    "too little space for \(Self.quote(path)): \(Units.size(needed)) needed, "
                        + "\(Units.size(free)) free",
                    hint: "free \(Units.size(needed - free)) or more, then \(again)")
            case .io(let operation, let path, let code):
                Self(
                    .disk, "io",
                    "\(Self.quote(operation)) failed on \(Self.quote(path)): "
                        + Self.describe(errno: code),
                    hint: code == ENOSPC || code == EDQUOT
                        ? "free some space, then \(again)"
                        : operation == "mmap"
                            ? "give a smaller `--window`"
                            : isUnsupported(errno: code) || code == ESPIPE
                                ? Self.otherFileSystem : "check the disk, then \(again)")
            case .digestMismatch(let expected, let actual, let part):
                Self(
                    .checksumMismatch, "checksum_mismatch",
                    "the data in \(Self.quote(part)) has the wrong checksum: "
                        + "expected `\(expected)`, got `\(actual)`",
                    hint:
                        "check the expected value; the same command downloads the whole file again")
            case .streamDigestMismatch(let expected, let actual, let path):
                Self(
                    .checksumMismatch, "checksum_mismatch",
                    "the data for \(Self.quote(path)) has the wrong checksum: "
                        + "expected `\(expected)`, got `\(actual)`",
                    hint: "check the expected value, and do not use what was written")
            case .readerGone(let path):
                Self(
                    .readerGone, "reader_gone",
                    "the reader of \(Self.quote(path)) closed it",
                    hint: "nothing to do, if the reader stopped on purpose")
            }
    }

    private static let otherFileSystem =
        "choose a folder on another file system: this one, or a sandbox, does not support that; "
        + "or use `--output - > FILE`, which only writes in order"

    private init(lock: String, of path: String, host: String?, process: Int64?) {
        let holder =
            if let host, let process {
                "process \(process) on the machine \(Self.quote(PrintableText.escape(host)))"
            } else { "another process" }
        self.init(
            .cannotCreate, "busy",
            "the lock file \(Self.quote(lock)) says that \(holder) is downloading to "
                + Self.quote(path),
            hint:
                "wait until it has ended; if that process is not running, remove \(Self.quote(lock))"
        )
    }

    private static func again(_ error: DownloadError) -> String {
        (error.bytesWritten ?? 0) == 0
            ? ", and again after starting over"
            : ", and the bytes already written cannot be withdrawn"
    }

    package static func describe(errno code: Int32) -> String {
        strerror(code).map { String(cString: $0) } ?? "error \(code)"
    }
}

extension Diagnostic {
    private init(_ failure: TransferFailure, attempts: Int, url: String, again: String) {
        let mirror = "a proxy or cache may be at fault: try later, or use a mirror"
        let (status, hint): (ExitStatus, String) =
            switch failure {
            case .network(_, let text): (.unavailable, Self.hint(network: text, again))
            case .proxy(_, let text): (.unavailable, Self.hint(proxy: text))
            case .status(let code) where SegmenterRules.isRefusal(code):
                (.refused, Self.hint(refused: code))
            case .status(let code) where (400..<500).contains(code) && !isTransient(code):
                (.unavailable, "check the URL: the server does not have it")
            case .status: (.unavailable, "the server may recover: \(again) later")
            case .stalled:
                (
                    .unavailable,
                    "check the network, then \(again); a longer `--stall-timeout` may help"
                )
            case .truncated: (.unavailable, again)
            case .breach: (.remoteChanged, mirror)
            case .retryAfterTooLong, .resting: (.unavailable, "\(again) after that time")
            }
        let tries = attempts > 1 ? " (\(attempts) attempts without progress)" : ""
        self.init(
            status, Self.kind(of: failure),
            "\(url) could not be downloaded: \(Self.describe(failure))\(tries)", hint: hint)
    }

    private static func hint(refused code: Int) -> String {
        switch code {
        case 401: "give the right credentials, with `--user`, `--netrc` or `--bearer-fd`"
        case 407: hint(proxyRefused: code)
        default: "the link may have expired, or need other credentials or cookies"
        }
    }

    /// Returns a stable name for programs, as in ``kind``.
    static func kind(of failure: TransferFailure) -> String {
        switch failure {
        case .network: "network"
        case .proxy: "proxy"
        case .status(let code): SegmenterRules.isRefusal(code) ? "refused" : "status"
        case .stalled: "stalled"
        case .truncated: "truncated"
        case .breach: "contract_broken"
        case .retryAfterTooLong: "retry_after_too_long"
        case .resting: "resting"
        }
    }

    static func describe(_ failure: TransferFailure) -> String {
        switch failure {
        case .network(let code, let message):
            message.isEmpty ? "network error \(code) of libcurl" : message
        case .proxy(let code, let message):
            "the proxy cannot be used: "
                + (message.isEmpty ? "network error \(code) of libcurl" : message)
        case .status(let code): "the server answered \(describe(status: code))"
        case .stalled(let time): "no data for \(Units.elapsed(time))"
        case .truncated(let missing):
            "the response ended \(Units.count(missing, "byte")) early"
        case .breach(let breach): describe(breach)
        case .retryAfterTooLong(let time):
            "the server asks to wait \(Units.elapsed(time)) before the next request"
        case .resting(let time):
            "the server refuses more requests; segget sends it none for \(Units.elapsed(time))"
        }
    }

    /// Returns the quoted validator, or `missing`.
    static func show(_ validator: String?) -> String { validator.map { quote($0) } ?? "missing" }

    package static func exact(_ bytes: Int64?) -> String {
        bytes.map { Units.count($0, "byte") } ?? "unknown"
    }

    static func describe(status code: Int) -> String {
        let names = [
            400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
            405: "Method Not Allowed", 407: "Proxy Authentication Required",
            408: "Request Timeout", 410: "Gone", 416: "Range Not Satisfiable",
            429: "Too Many Requests", 451: "Unavailable For Legal Reasons",
            500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable",
            504: "Gateway Timeout",
        ]
        return names[code].map { "\(code) (\($0))" } ?? "\(code)"
    }
}
