public import Assembler
public import Segmenter

extension DownloadNotice {
    /// A stable name for programs; `docs/json.md` lists them all.
    ///
    /// Scripts depend on these names, so a renamed case keeps its name in `--json`.
    public var kind: String {
        switch self {
        case .startedOver: "started_over"
        case .resumedUnverified: "resumed_unverified"
        case .partAgreed: "part_agreed"
        case .linkRefreshed: "link_refreshed"
        case .linkNotRefreshed: "link_not_refreshed"
        case .linkRefreshDelayed: "link_refresh_delayed"
        case .adopted: "adopted"
        case .retrying: "retrying"
        case .resolvingAgain: "resolving_again"
        case .resting: "resting"
        case .rangesIgnored: "ranges_ignored"
        case .serversDisagree: "servers_disagree"
        case .replyRefused: "response_refused"
        case .ifRangeUnusable: "if_range_unusable"
        case .damaged: "damaged"
        case .stole: "stole"
        case .rescued: "rescued"
        case .outpaced: "outpaced"
        case .hedged: "hedged"
        case .stalled: "stalled"
        case .stallOver: "stall_over"
        case .headUnusable: "head_unusable"
        case .needsHTTP2: "needs_http2"
        case .endUnproven: "size_unknown"
        case .certificatesUnchecked: "certificates_unchecked"
        case .downgraded: "downgraded"
        case .changingConnections: "changing_connections"
        case .serverLimit: "server_limit"
        case .connections: "connections"
        case .addressUsed: "address_used"
        case .addressLeft: "address_left"
        case .limitChanged: "limit_changed"
        case .decoding: "decoding"
        case .sampleAgreed: "sample_agreed"
        case .endUnchecked: "version_unchecked"
        case .mirrorJoined: "mirror_joined"
        case .mirrorOnStandby: "mirror_on_standby"
        case .mirrorDropped: "mirror_dropped"
        case .mirrorIsPrimary: "mirror_is_primary"
        case .attributesNotWritten: "attributes_not_written"
        case .spaceNotReserved: "space_not_reserved"
        case .namedByLink: "named_by_link"
        case .namedUnguarded: "named_unguarded"
        case .modeNotSet: "mode_not_set"
        case .timeNotSet: "time_not_set"
        case .waitingForNetwork: "waiting_for_network"
        case .networkOccupied: "network_occupied"
        case .networkIsBack: "network_is_back"
        case .notFinished: "not_finished"
        }
    }

    /// Whether the notice is shown even if no details are requested.
    public var isAlwaysShown: Bool { !Self.details.contains(kind) }

    /// The kinds that are shown only if details are requested.
    package static let details: Set = [
        "part_agreed", "retrying", "resolving_again", "response_refused", "sample_agreed", "stole",
        "head_unusable", "mirror_joined", "if_range_unusable", "space_not_reserved",
        "named_by_link", "named_unguarded", "mode_not_set", "time_not_set", "rescued", "outpaced",
        "hedged", "stalled", "stall_over", "server_limit",
        "connections", "address_used", "address_left", "needs_http2",
    ]

    /// The message of the notice.
    public var text: String {
        switch self {
        case .startedOver(let reason):
            "starting over: \(reason.text)"
        case .resumedUnverified(let bytes):
            "identity: none: a sample of \(Units.size(bytes)) of the earlier part matches the server's; "
                + "nothing else shows that the file is the same; use `--checksum` to verify it"
        case .partAgreed(let bytes):
            "\(Units.size(bytes)) of the part match the file at the link's new target"
        case .linkRefreshed(let url, let status):
            "the server answered \(Diagnostic.describe(status: status)) for the link: continuing with a new one, "
                + Diagnostic.quote(url)
        case .linkNotRefreshed(let fault, let status):
            "the server answered \(Diagnostic.describe(status: status)) for the link, and there is no new one: "
                + Diagnostic.describe(fault)
        case .linkRefreshDelayed(let delay):
            "requesting a new link in \(Units.elapsed(delay)): at most one per minute"
        case .adopted(let path, let bytes, let moved):
            "\(Diagnostic.quote(path)): \(Units.size(bytes)) are taken over; "
                + (moved
                    ? "the file is now the part"
                    : "the file stays in place until its digest is verified")
        case .retrying(let range, let attempt, let delay, let cause):
            "\(Self.name(range)) in \(Units.elapsed(delay)), attempt \(attempt): "
                + Diagnostic.describe(cause)
        case .resolvingAgain(let status):
            "the server answered \(Diagnostic.describe(status: status)): "
                + "following the original URL again"
        case .resting(let url, let time):
            "\(Diagnostic.quote(url)): the server refuses more requests (403); segget sends it none for "
                + Units.elapsed(time)
        case .rangesIgnored:
            "the server ignored a range request: downloading in one stream"
        case .serversDisagree:
            "servers with the same name offer different versions: downloading in one stream"
        case .replyRefused(let breach):
            "a response was rejected, and none of it written: \(Diagnostic.describe(breach))"
        case .ifRangeUnusable(let range):
            "the server answered `If-Range` with the whole file: requesting "
                + (range.map { "bytes \($0) " } ?? "the range ") + "without it"
        case .damaged(let range):
            "bytes \(range) on disk failed their CRC-32 check: downloading them again"
        case .stole(let range, let rate):
            "a free connection took over bytes \(range) from one that "
                + (rate.map { $0 <= 1 ? "stalls" : "receives \(Units.speed($0))" }
                    ?? "has received nothing yet")
        case .rescued(let range, let time):
            "a connection stalled for \(Units.elapsed(time)) while others did not: a new one "
                + "downloads bytes \(range)"
        case .outpaced(let range, let rate, let peers):
            "a connection receives \(Units.speed(rate)), others \(Units.speed(peers)): a new one "
                + "replaces it, and bytes \(range) are assigned again"
        case .hedged(let range):
            "all others wait for one connection: requesting bytes \(range) a second time"
        case .stalled(let time):
            "all connections have stalled for \(Units.elapsed(time)): trying new ones"
        case .stallOver(let count):
            "a new connection was answered: replacing the stalled ones (\(count))"
        case .headUnusable(let problem):
            "`HEAD` was not usable (\(problem)): using `GET`"
        case .needsHTTP2(let url):
            "the server does not support HTTP/1.1: requesting \(Diagnostic.quote(url)) over HTTP/2"
        case .certificatesUnchecked:
            "WARNING: certificates are not checked (`--insecure`): anyone on the network path can read and "
                + "change everything, passwords included"
        case .downgraded(let url):
            "WARNING: a redirect led from https to http (`--allow-downgrade`): anyone on the "
                + "network path can change the data from \(Diagnostic.quote(url))"
        case .endUnproven:
            "the server stated no size and closed the connection: nothing shows that the file is "
                + "complete"
        case .changingConnections(let minimum):
            "slower than \(Units.speed(minimum)): continuing over new connections"
        case .serverLimit(let connections, let cause?):
            "the server serves \(Units.count(Int64(connections), "request")) at a time: idling "
                + "surplus connections; one retries every few seconds: "
                + Diagnostic.describe(cause)
        case .connections(let count, let rate):
            "using \(Units.count(Int64(count), "connection"))"
                + (rate.map { ": \(Units.speed($0)) so far" } ?? "")
        case .serverLimit(let connections, nil):
            "the server now serves \(Units.count(Int64(connections), "request")) at a time"
        case .addressUsed(let address):
            "connections go to the server's address \(address)"
        case .addressLeft(let address, .failed(let cause)):
            "the server's address \(address) is not used for now: " + Diagnostic.describe(cause)
        case .addressLeft(let address, .slow(let rate, let others)):
            "the server's address \(address) is not used for now: a connection to it receives "
                + "\(Units.speed(rate)), others \(Units.speed(others))"
        case .limitChanged(let rate?): "the rate is now limited to \(Units.speed(rate))"
        case .limitChanged(nil): "the rate is no longer limited"
        case .decoding(let coding):
            "the server sends the file encoded as \(Diagnostic.quote(coding)), though segget did not request it: "
                + "segget decodes it; the size, validators and digests are those of the encoded file"
        case .sampleAgreed(let bytes):
            "the server sent the same ETag with another `Last-Modified`: a sample of "
                + "\(Units.size(bytes)) matches"
        case .endUnchecked(let cause):
            "segget could not check whether the file changed while its last bytes arrived: "
                + Diagnostic.describe(cause)
        case .mirrorJoined(let url):
            "the mirror \(Diagnostic.quote(url)) has the same data: using it too"
        case .mirrorOnStandby(let url):
            "the mirror \(Diagnostic.quote(url)) is a standby mirror: nothing shows that it has "
                + "the same file; give `--checksum` with a SHA-256 to use it"
        case .mirrorDropped(let url, let why):
            "the mirror \(Diagnostic.quote(url)) is no longer used: \(Diagnostic.describe(why))"
        case .mirrorIsPrimary(let url):
            "continuing with the mirror \(Diagnostic.quote(url))"
        case .attributesNotWritten(let code):
            "the file system does not accept the extended attributes of `--xattr` "
                + "(\(Diagnostic.describe(errno: code))): the file has none of them"
        case .spaceNotReserved(let code):
            "the file system cannot reserve space (\(Diagnostic.describe(errno: code))): a "
                + "full disk would show only during the download"
        case .namedByLink:
            "the file system cannot rename without replacing: the file got its name by a hard link"
        case .namedUnguarded:
            "the file system can neither rename without replacing nor link: the file was renamed after a "
                + "check; a file that another program created in between is lost"
        case .modeNotSet(let code):
            "the file system does not accept the file's permissions (\(Diagnostic.describe(errno: code)))"
        case .timeNotSet(let code):
            "the file system does not accept the server's time for the file "
                + "(\(Diagnostic.describe(errno: code)))"
        case .waitingForNetwork(let since, let cause):
            "the network has been lost since \(Units.clock(since)): waiting until it is back; the received "
                + "bytes are kept"
                + (cause.map { "; the last failure: \(Diagnostic.describe($0))" } ?? "")
        case .networkOccupied:
            "something else answers instead of the server, perhaps the network's login page: waiting "
                + "until the server answers"
        case .networkIsBack(let time):
            "the network is back after \(Units.elapsed(time)): continuing"
        case .notFinished(let doubt): doubt.text
        }
    }

    private static func name(_ range: ByteRange?) -> String {
        range.map { "trying bytes \($0) again" } ?? "trying again"
    }
}

extension StartOverReason {
    /// A stable name for programs; `docs/json.md` lists them all.
    public var kind: String {
        switch self {
        case .notWanted: "not_wanted"
        case .partMissing: "part_missing"
        case .manifestUnreadable: "manifest_unreadable"
        case .manifestVersion: "manifest_version"
        case .urlChanged: "url_changed"
        case .sizeChanged: "size_changed"
        case .etagChanged: "etag_changed"
        case .lastModifiedChanged: "last_modified_changed"
        case .codingChanged: "coding_changed"
        case .digestChanged: "digest_changed"
        case .otherServer: "other_server"
        case .noValidator: "no_validator"
        case .sampleDiffers: "sample_differs"
        case .noRanges: "no_ranges"
        case .rejected: "rejected"
        case .changedMidway: "changed_midway"
        case .streamBroken: "stream_broken"
        case .mirrorsDiffer: "mirrors_differ"
        }
    }

    /// The reason why the earlier part cannot be continued, as text.
    public var text: String {
        switch self {
        case .notWanted: "`--no-resume` was given"
        case .partMissing: "the manifest of an earlier run exists, but its `.part` is missing"
        case .manifestUnreadable: "the manifest of the earlier run cannot be read"
        case .manifestVersion(let version):
            "the manifest of the earlier run has format \(version), which this version of segget cannot read"
        case .urlChanged:
            "the earlier part is from another URL, and nothing shows that the file is the same"
        case .sizeChanged(let was, let now):
            "the remote file's size was \(Diagnostic.exact(was)) and is now "
                + Diagnostic.exact(now)
        case .etagChanged(let was, let now):
            "the remote file changed: its ETag was \(Diagnostic.show(was)) and is now \(Diagnostic.show(now))"
        case .lastModifiedChanged(let was, let now):
            "the remote file changed: `Last-Modified` was \(Diagnostic.show(was)) and is now "
                + Diagnostic.show(now)
        case .codingChanged(let was, let now):
            "the remote file changed: its bytes were \(Diagnostic.show(coding: was)) and are now "
                + Diagnostic.show(coding: now)
        case .digestChanged(let was, let now):
            "the remote file changed: its checksum was `\(was)` and is now `\(now)`, according to the server"
        case .otherServer:
            "the URL leads to another server than in the earlier run, and nothing shows that its file is "
                + "the same; `--checksum` or a checksum from the server would, and "
                + "`--resume-unverified` compares a sample"
        case .noValidator:
            "the server sends neither an ETag nor a `Last-Modified` that distinguishes versions, so nothing "
                + "shows that the file is the same; `--checksum` or a checksum from the server "
                + "would, and `--resume-unverified` compares a sample"
        case .sampleDiffers(let range):
            "the server sends no usable validator, and bytes \(range) differ from those of the "
                + "earlier part"
        case .noRanges: "the server does not serve byte ranges"
        case .rejected: "the earlier part was complete and its checksum was wrong"
        case .changedMidway: "the remote file changed during the download"
        case .streamBroken: "the stream was interrupted, and the server cannot continue it"
        case .mirrorsDiffer: "mirrors have different data; one of them delivers the whole file"
        }
    }
}
