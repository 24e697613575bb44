// Probe: what a URL offers, and whether it still does at the end. It knows how a URL is asked and
// what the answers say of the file; it never knows where its bytes are kept, nor how many
// connections fetch them.

import Assembler

/// Finds out what a URL offers: redirects hop by hop, `HEAD`, and where that does not do, a ranged
/// `GET` whose body waits to be kept.
struct Probe: Sendable {
    /// Bytes that the ranged `GET` asks for.
    static let firstRange = ByteRange(0, 4 << 20)
    /// Bytes that are asked for of a file that may be small.
    static let smallRange = ByteRange(0, Int64(SmallRequests.longestBody))
    /// Bytes that are asked for beside `HEAD`: other connections will fetch, too.
    static let overlappingRange = ByteRange(0, 1 << 20)
    /// The least that a ranged `GET` can ask for: to learn the size, and hardly anything else.
    static let firstByte = ByteRange(0, 1)

    /// What is wrong with `HEAD` where nothing came.
    private static let noAnswer = "got no answer"
    /// What is wrong with it where `GET` says otherwise.
    static let contradicted = "stated what `GET` contradicts"

    let loop: TransferLoop
    let url: WebURL
    let connecting: TransferRequest.Connecting
    let policy: RetryPolicy
    let report: @Sendable (DownloadNotice) -> Void
    /// Whether the body of a small file is to come with the answer.
    var collects = false
    /// The answer to the first request, when that was made already.
    var answered: Exchange?
    /// Whether a ranged `GET` goes out beside `HEAD`, where that saves time.
    var overlaps = false
    /// Whether all addresses of the host are to be known, for connections to be spread over them.
    var spreads = false
    /// Whether the file gets the name that the server suggests.
    var wantsName = false
    /// What `HEAD` has just said of the file, when it was asked before.
    var said: RemoteIdentity?
    /// Whether it is asked in any case: it states what `GET` does not.
    var asksHead = false
    /// Whether a question ends soon when the network is away: that is waited for by whoever asks.
    var endsWithNetwork = false
    /// Whether the first question ends as soon as it is clear that there is no route to the server: that is waited
    /// for elsewhere.
    var endsWithoutRoute = false
    /// Whether every request may count: one `GET` brings the file, or what is left of it.
    var asksOnce = false
    /// What is left of the file where ``asksOnce``; `nil` for all of it.
    var rest: Rest?
    /// What bounds the tries of a host that has served nothing yet; `nil` for what has begun.
    var beginning: Beginning?
    /// The slot that the file holds, where others may wait for it.
    var slotRelease: SlotRelease?

    /// What was found.
    struct Finding: Sendable {
        var file: RemoteFile
        /// Where the redirects led, in full.
        var effective: WebURL
        /// The reply to `GET`; nobody else holds what waits of its body.
        var firstReply: FirstReply?
        /// Whether a `GET` has shown these facts, rather than a `HEAD`.
        var isProven: Bool
        /// Whether the server suggested the name (`Content-Disposition`).
        var isNamed: Bool
        /// Whether `HEAD` states size and validators as `GET` does, so that it may be asked for
        /// them again.
        var isStatedByHead: Bool
        /// `Last-Modified` in seconds since 1970.
        var modified: Int64?

        /// The same, with no body waiting.
        var released: Self {
            var copy = self
            copy.firstReply = nil
            return copy
        }
    }

    /// A reply whose body may be gone on with.
    struct FirstReply: Sendable {
        /// The bytes that it brings; `nil` for the whole file.
        var range: ByteRange?
        /// The bytes that were asked for, where it brings the whole file all the same.
        var ignored: ByteRange?
        /// Those of them that have come already.
        var body: [UInt8] = []
        /// The owner of those that wait on the wire.
        var paused: PausedReply?
        /// How the transfer ended, when it has: then nothing waits.
        var end: TransferEnd?
        /// How long replies to requests for small files let wait.
        var wait: BatchWidth.Wait?

        /// What has come of it, with no body waiting.
        var released: Self {
            var copy = self
            copy.paused = nil
            return copy
        }
    }

    /// Where redirects led, and what was answered there.
    struct Landing {
        var url: WebURL
        var redirects: Int
        var exchange: Exchange
    }

    /// What is left of a file of which a part is there.
    struct Rest: Sendable, Hashable {
        /// Begins with the first byte that is missing; the end is `Int64.max` for the file's.
        var range: ByteRange
        /// A strong validator of the part's version, for `If-Range`.
        var ifRange: String?
    }

    /// How a file gives up its slot that a server refuses.
    enum SlotRelease: Sendable {
        /// The download ends: who has begun it tries again.
        case ends
        /// Waits for so many seconds at least, until a file of the origin has ended and there is a slot again.
        case stepsAside(@Sendable (_ origin: String, _ delay: Double) async -> Void)
    }

    /// What bounds the tries before the first byte of a file.
    struct Beginning: Sendable {
        var contact = FirstContact()
        /// Whether an earlier run's part is continued: then it has begun long ago.
        var isContinued: @Sendable () async -> Bool = { false }
    }

    /// The outcome of resolving the original URL again.
    enum Resolution: Sendable {
        /// It leads to the same version of the file, here.
        case same(WebURL)
        /// It leads to another version.
        case changed(ContractBreach)
        /// It leads nowhere.
        case failed(DownloadError.Reason)
    }

    /// Asks with `HEAD`, and with `GET` where that does not do; where ``asksOnce``, with one `GET` for all that
    /// is left.
    ///
    /// - Parameters:
    ///   - byGet: Skip `HEAD`.
    ///   - range: What `GET` asks for, from the first byte on; `nil` for the whole file.
    /// - Returns: What the server offers; a body may wait, to be kept or dropped.
    /// - Throws: Why the file cannot be had.
    func run(
        byGet: Bool, range: ByteRange? = Self.firstRange
    ) async throws(DownloadError.Reason) -> Finding {
        if asksOnce {
            var finding = try await get(Asking(range: rest?.range, ifRange: rest?.ifRange))
            if rest == nil {
                finding.file.isSingleRequest = true
                // Nobody has asked for one.
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
        let answers = await HeadBesideGet(probe: self).ask(overlaps ? range : nil)
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
            // `GET` makes the file shorter than `HEAD` said: a request without a range is to say.
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

    /// What the answer to `HEAD` says; without an answer, or with one that does not do, why not.
    ///
    /// - Throws: A refusal: a second try with the same credentials would only help to lock the account;
    ///   and what would stop `GET` as well, before it is asked.
    private func byHead(
        _ answer: Result<Landing, DownloadError.Reason>?
    ) throws(DownloadError.Reason) -> (Finding?, problem: String?) {
        let landing: Landing
        switch answer {
        case .failure(.tooManyRedirects(let most)):
            return (nil, "redirects more than \(most) times")
        case .failure(.unsafeRedirect): return (nil, "redirects to where nothing is fetched from")
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

    /// Whether only `GET` may state the name: where a query asks for one
    /// (`response-content-disposition` of S3, `rscd` of Azure), some servers do not heed it for
    /// `HEAD`.
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

    /// Why the answer to `HEAD` is not enough to fetch by; `nil` when it is.
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
