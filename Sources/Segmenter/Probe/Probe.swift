// Probe: finds out what a URL offers, and checks later that it still offers the same. This
// folder makes the requests and reads facts about the file from the responses. It does not know
// where the bytes are stored, nor how many connections download them.

import Assembler
import SegmenterRules
import SegmenterTransport

/// Finds out what a URL offers.
///
/// A probe checks each redirect and sends `HEAD`. If the response is not sufficient, it sends a
/// ranged `GET`, whose body is paused until the caller takes or drops it.
struct Probe: Sendable {
    /// The bytes that the ranged `GET` requests.
    static let firstRange = ByteRange(0, 4 << 20)
    /// The bytes that the `GET` requests for a file that may be small.
    static let smallRange = ByteRange(0, Int64(SmallRequests.longestBody))
    /// The bytes that the first `GET` for a file of a set requests.
    ///
    /// If the file is not small, its response is paused, and continued as the first request for
    /// segments.
    static let setRange = ByteRange(0, SegmentScheduler.longWindow)
    /// The bytes that a `GET` beside `HEAD` requests; other connections will download the rest.
    static let overlappingRange = ByteRange(0, 1 << 20)
    /// The shortest possible range, to receive the head of a response and almost no body.
    static let firstByte = ByteRange(0, 1)

    /// The problem with `HEAD` if no response arrived.
    private static let noAnswer = "got no answer"
    /// The problem with `HEAD` if `GET` states other facts.
    static let contradicted = "stated what `GET` contradicts"

    let loop: TransferLoop
    let url: WebURL
    let connecting: TransferRequest.Connecting
    let policy: RetryPolicy
    let report: @Sendable (DownloadNotice) -> Void
    /// Whether to return the body of a small file together with the response.
    var collects = false
    /// The result of the first request, if it was already made.
    var answered: Exchange?
    /// Whether to send a ranged `GET` at the same time as `HEAD` if that saves time.
    var overlaps = false
    /// Whether to look up all addresses of the host, so that connections can be spread over them.
    var spreads = false
    /// Whether the file receives the name that the server suggests.
    var wantsName = false
    /// The version that the response to an earlier `HEAD` stated, if one was sent just before.
    var said: RemoteIdentity?
    /// Whether to send `HEAD` even if `GET` is sent first: it states facts that `GET` does not.
    var asksHead = false
    /// Whether to fail soon after a loss of the network, because the caller waits for the network.
    var endsWithNetwork = false
    /// Whether to fail soon if there is no route to the server, because the caller waits for one.
    var endsWithoutRoute = false
    /// Whether to download the file, or its remainder, by a single `GET`.
    ///
    /// The server may count every request as a download.
    var asksOnce = false
    /// The remainder to request if ``asksOnce``; `nil` for the whole file.
    var rest: Rest?
    /// The bounds on the attempts at a host that has served nothing yet; `nil` if none apply.
    var beginning: Beginning?
    /// How to give up the file's slot; `nil` if no other file may wait for it.
    var slotRelease: SlotRelease?

    /// The result of a probe.
    struct Finding: Sendable {
        var file: RemoteFile
        /// The URL at the end of the redirects, unredacted.
        var effective: WebURL
        /// The response to `GET`; this value is the only owner of a paused body.
        var firstReply: FirstReply?
        /// Whether these facts are from a `GET`, not only from a `HEAD`.
        var isProven: Bool
        /// Whether the server suggested a name (`Content-Disposition`).
        var isNamed: Bool
        /// Whether `HEAD` states the same size and validators as `GET`.
        ///
        /// If so, a later check can use `HEAD`.
        var isStatedByHead: Bool
        /// The `Last-Modified` field, in seconds since 1970.
        var modified: Int64?

        /// A copy without the response and its paused body.
        var released: Self {
            var copy = self
            copy.firstReply = nil
            return copy
        }
    }

    /// A response whose body the download can use.
    struct FirstReply: Sendable {
        /// The bytes of the file that the body contains; `nil` for the whole file.
        var range: ByteRange?
        /// The requested bytes, if the server ignored the range and sends the whole file.
        var ignored: ByteRange?
        /// The bytes of the body that have already been received.
        var body: [UInt8] = []
        /// The owner of the paused transfer, which receives the remaining bytes.
        var paused: PausedReply?
        /// The result of the transfer, if it has ended; no body is paused then.
        var end: TransferEnd?
        /// The measured times to first byte of requests for small files.
        var wait: BatchWidth.Wait?

        /// A copy with the received bytes, but without the paused transfer.
        var released: Self {
            var copy = self
            copy.paused = nil
            return copy
        }
    }

    /// The URL at the end of the redirects, with the result of the last request.
    struct Landing {
        var url: WebURL
        var redirects: Int
        /// The digests of the file that the redirects have stated.
        var stated: [Digest] = []
        var exchange: Exchange
    }

    /// The remainder of a partially downloaded file.
    struct Rest: Sendable, Hashable {
        /// The range from the first missing byte to the end of the file, given as `Int64.max`.
        var range: ByteRange
        /// A strong validator of the part's version, for `If-Range`.
        var ifRange: String?
    }

    /// The way in which a file gives up its slot after refusals by the server.
    enum SlotRelease: Sendable {
        /// The download ends, and its caller tries again.
        case ends
        /// The file waits without a slot.
        ///
        /// The wait lasts at least `delay` seconds, and until a slot is free. Unless the server has
        /// demanded the delay, it also lasts until a file of the origin has ended.
        case stepsAside(
            @Sendable (_ origin: String, _ delay: Double, _ isDemanded: Bool) async -> Void)
    }

    /// The bounds on the attempts before the first byte of a file.
    struct Beginning: Sendable {
        var contact = FirstContact()
        /// Whether the download continues the part of an earlier run, so that no bounds apply.
        var isContinued: @Sendable () async -> Bool = { false }
    }

    typealias Resolution = LinkResolution

    /// Sends `HEAD`, and `GET` if the response to `HEAD` is not sufficient.
    ///
    /// If ``asksOnce``, it sends a single `GET` for all missing bytes.
    ///
    /// - Parameters:
    ///   - byGet: Whether to skip `HEAD`.
    ///   - range: The range that `GET` requests, from the first byte on; `nil` for the whole file.
    /// - Returns: The facts about the file. The caller takes or drops the body if one is paused.
    /// - Throws: The reason why the file cannot be downloaded.
    func run(
        byGet: Bool, range: ByteRange? = Self.firstRange
    ) async throws(DownloadError.Reason) -> Finding {
        if asksOnce {
            var finding = try await get(Asking(range: rest?.range, ifRange: rest?.ifRange))
            if rest == nil {
                finding.file.isSingleRequest = true
                // The request had no range, so the server's support for ranges is unknown.
                finding.file.acceptsRanges = nil
            }
            return reported(finding)
        }
        if byGet {
            var asking = Asking(range: range, said: said)
            if asksHead, let head = try? await landing(.head, nil).get(),
                let reply = head.exchange.reply, reply.status == 200
            {
                asking.said = identity(by: reply, at: head.url)
            }
            return reported(try await get(asking))
        }
        var answers = await HeadBesideGet(probe: self).ask(overlaps ? range : nil)
        while let landing = try? answers.head?.get(), try await hasRested(after: landing) {
            answers = await HeadBesideGet(probe: self).ask(overlaps ? range : nil)
        }
        var first = try? answers.get?.get()
        let (head, problem) = try byHead(answers.head)
        var asking = Asking(range: range, said: said)
        let answer = try? answers.head?.get()
        asking.headStatus = answer?.exchange.reply?.status
        if let answer, let reply = answer.exchange.reply, reply.status == 200 {
            asking.said = identity(by: reply, at: answer.url)
        }
        if let head {
            var asked = range
            if first == nil, mayNameOtherwise(head) {
                if !overlaps { asked = Self.firstByte }
                first = try? await landing(.get, asked).get()
            }
            if let finding = agreed(head, first, asked: asked) { return reported(finding) }
            // The responses state different sizes: a request without a range decides.
            asking.range = nil
        } else {
            let ranges = answer?.exchange.reply?["accept-ranges"]?.lowercased()
            if first == nil, ranges == "none" { asking.range = nil }
            asking.first = first
            asking.isMute = problem == Self.noAnswer && first?.exchange.reply == nil
        }
        let shown = problem ?? Self.contradicted
        report(.headUnusable(shown))
        var finding = try await get(asking)
        finding.file.headProblem = shown
        return reported(finding)
    }

    /// Returns the facts that the response to `HEAD` states, or the reason why it is not usable.
    ///
    /// - Throws: An error that would prevent `GET`, too; or a refusal of the credentials, because
    ///   another attempt with them could lock the account.
    private func byHead(
        _ answer: Result<Landing, DownloadError.Reason>?
    ) throws(DownloadError.Reason) -> (Finding?, problem: String?) {
        let landing: Landing
        switch answer {
        case .failure(.tooManyRedirects(let most)):
            return (nil, "redirects more than \(most) times")
        case .failure(.unsafeRedirect): return (nil, "redirects to an address that is not used")
        case .failure(let reason): throw reason
        case .success(let success): landing = success
        case nil: return (nil, Self.noAnswer)
        }
        guard landing.exchange.end != .cancelled, let reply = landing.exchange.reply else {
            return (nil, Self.noAnswer)
        }
        let isShown = connecting.permitted(for: landing.url).access.authenticates
        if reply.status == 407 || reply.status == 401 && isShown {
            throw Self.loginFailure(reply)
        }
        let coding = coding(of: reply, at: landing.url)
        if let problem = Self.headProblem(reply, coding) { return (nil, problem) }
        return (finding(landing, reply, by: .head), nil)
    }

    /// Returns whether the name may be stated in the response to `GET` only.
    ///
    /// A query can request a name (`response-content-disposition` of S3, `rscd` of Azure), which
    /// some servers ignore for `HEAD`.
    private func mayNameOtherwise(_ head: Finding) -> Bool {
        guard wantsName, !head.isNamed else { return false }
        return [url, head.effective].contains { url in
            let query = url.text.dropFirst(url.redacted.count).lowercased()
            return ["disposition=", "rscd=", "filename="].contains { query.contains($0) }
        }
    }

    private func reported(_ finding: Finding) -> Finding {
        if finding.effective.isDowngraded { report(.downgraded(url: finding.effective.redacted)) }
        if finding.file.isDecoded, let coding = finding.file.identity.coding {
            report(.decoding(coding))
        }
        return finding
    }

    /// Returns why the response to `HEAD` is not enough for a download; `nil` if it is enough.
    static func headProblem(_ reply: Reply, _ coding: ContentCoding?) -> String? {
        guard reply.status == 200 else { return "was answered \(reply.status)" }
        guard let length = reply.contentLength else { return "stated no length" }
        guard length > 0 else { return "stated a length of 0" }
        guard reply["content-range"] == nil else { return "stated a range" }
        guard coding ?? .saved == .saved else { return "stated a content coding" }
        guard reply["accept-ranges"]?.lowercased() == "bytes" else {
            return "did not offer byte ranges"
        }
        return nil
    }
}

extension Probe {
    /// Returns whether the kernel has a route to the server, or to the proxy for its URL.
    ///
    /// If it is uncertain whether a request uses the proxy, a route to either of them is enough.
    func hasRoute() async -> Bool {
        let access = connecting.permitted(for: url).access
        let proxy = connecting.proxy(for: url)
        if let proxy, await HostRoute.leads(toOrigin: proxy.origin, access) { return true }
        if proxy?.isSure == true { return false }
        return await HostRoute.leads(toOrigin: url.origin, access)
    }
}
