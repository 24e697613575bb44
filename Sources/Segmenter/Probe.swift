import Assembler

/// Finds out what a URL offers: redirects hop by hop, `HEAD`, and where that does not do, a ranged
/// `GET` whose body waits to be kept.
struct Probe: Sendable {
    /// Most redirects that are followed.
    static let longestChain = 20
    /// Bytes that the ranged `GET` asks for.
    static let firstRange = ByteRange(0, 4 << 20)
    /// Bytes that are asked for of a file that may be small.
    static let smallRange = ByteRange(0, Int64(Collecting.most))
    /// The least that a ranged `GET` can ask for: to be told the size, and hardly anything else.
    static let firstByte = ByteRange(0, 1)

    /// What is wrong with `HEAD` where nothing came.
    private static let noAnswer = "got no answer"

    let loop: TransferLoop
    let url: WebURL
    let connecting: TransferRequest.Connecting
    let policy: RetryPolicy
    let tell: @Sendable (DownloadNotice) -> Void
    /// Whether the body of a small file is to come with the answer.
    var collects = false
    /// The answer to the first request, when that was made already.
    var answered: Exchange?
    /// Whether a ranged `GET` goes out beside `HEAD`, where that saves time.
    var overlaps = false
    /// Whether all addresses of the host are to be known, for connections to be spread over them.
    var spreads = false

    /// What was found.
    struct Finding: Sendable {
        var file: RemoteFile
        /// Where the redirects led, in full.
        var effective: WebURL
        /// The reply whose body waits.
        var held: Held?
        /// Whether a `GET` has shown these facts, rather than a `HEAD`.
        var isProven: Bool
        /// `Last-Modified` in seconds since 1970.
        var modified: Int64?
    }

    /// A reply whose body waits on the wire.
    struct Held: Sendable, Hashable {
        var transfer: Int
        /// The bytes that it brings; `nil` for the whole file.
        var range: ByteRange?
        /// Those of them that have come already.
        var body: [UInt8] = []
        /// How the transfer ended, when it has: then nothing waits.
        var end: TransferEnd?
        /// How long replies to requests for small files let wait.
        var wait: BatchWidth.Wait?
    }

    struct Landing {
        var url: WebURL
        var redirects: Int
        var exchange: Exchange
    }

    /// Asks with `HEAD`, and with `GET` where that does not do.
    ///
    /// - Parameters:
    ///   - byGet: Skip `HEAD`.
    ///   - range: What `GET` asks for, from the first byte on; `nil` for the whole file.
    /// - Returns: What the server offers; a body may wait, to be kept or dropped.
    /// - Throws: Why the file cannot be had.
    func run(
        byGet: Bool, range: ByteRange? = Self.firstRange
    ) async throws(DownloadError.Reason) -> Finding {
        var problem: String?
        var range = range
        var first: Landing?
        if !byGet {
            let answers = await ask(beside: overlaps ? range : nil)
            first = try? answers.get?.get()
            do throws(DownloadError.Reason) {
                let (finding, obstacle) = try byHead(try answers.head?.get())
                if let finding {
                    let finding = agreed(finding, first, asked: range)
                    tellOfDowngrade(finding)
                    return finding
                }
                problem = obstacle
            } catch {
                first.map { release($0.exchange) }
                throw error
            }
            let isRangeless = (try? answers.head?.get())?.exchange.reply?["accept-ranges"]
            if first == nil, isRangeless?.lowercased() == "none" { range = nil }
            tell(.headUnusable(problem ?? ""))
        }
        let isMute = problem == Self.noAnswer && first?.exchange.reply == nil
        var finding = try await get(range, first: first, isMute: isMute)
        finding.file.headProblem = problem
        tellOfDowngrade(finding)
        return finding
    }

    /// What the answer to `HEAD` says; without an answer, or with one that does not do, why not.
    ///
    /// - Throws: A refusal: a second try with the same credentials would only help to lock the account.
    private func byHead(
        _ landing: Landing?
    ) throws(DownloadError.Reason) -> (Finding?, problem: String?) {
        guard let landing, landing.exchange.end != .cancelled, let reply = landing.exchange.reply
        else { return (nil, Self.noAnswer) }
        let isShown = connecting.permitted(for: landing.url).access.authenticates
        if reply.status == 407 || reply.status == 401 && isShown { throw refusal(reply.status) }
        if let problem = Self.headProblem(reply) { return (nil, problem) }
        return (finding(landing, reply, by: .head), nil)
    }

    private func tellOfDowngrade(_ finding: Finding) {
        if finding.effective.isDowngraded { tell(.downgraded(url: finding.effective.redacted)) }
    }

    /// Why the answer to `HEAD` is not enough to fetch by; `nil` when it is.
    static func headProblem(_ reply: Reply) -> String? {
        guard reply.status == 200 else { return "was answered \(reply.status)" }
        guard let length = reply.contentLength else { return "told no length" }
        guard length > 0 else { return "told a length of 0" }
        guard reply.codingBreach == nil else { return "told of a content coding" }
        guard reply["accept-ranges"]?.lowercased() == "bytes" else {
            return "did not tell of byte ranges"
        }
        return nil
    }

    // MARK: GET

    // Again and again where that may help. `first` is an answer that has come; `isMute` says that
    // nothing has come from the server so far.
    private func get(
        _ range: ByteRange?, first: Landing?, isMute: Bool
    ) async throws(DownloadError.Reason) -> Finding {
        var (range, first, answered) = (range, first, answered)
        var (attempts, failures, refusals) = (0, 0, 0)
        var isBroken = false
        while true {
            let landing: Landing
            if let answered = first {
                (landing, first) = (answered, nil)
            } else {
                landing = try await follow(
                    .get, range: range, isBroken: isBroken, turn: failures + (isMute ? 1 : 0),
                    answered: answered)
                answered = nil
            }
            let exchange = landing.exchange
            switch exchange.reply?.status {
            case 200?, 206?:
                guard let reply = exchange.reply else { continue }
                noteServed(landing.url, after: refusals)
                if let breach = reply.codingBreach ?? reply.lengthBreach {
                    release(exchange)
                    throw .contract(breach)
                }
                if let finding = accept(landing, reply, asked: range) { return finding }
                release(exchange)
                guard range != nil else { throw .contract(.unexpectedStatus(reply.status)) }
                // A 206 that cannot be used: ask for the whole file.
                tell(.replyRefused(.contentRangeUnusable(reply["content-range"])))
                range = nil
                continue
            case 416? where range != nil:
                // An empty file has no range.
                range = nil
                continue
            default: break
            }
            let failure = try await failure(of: exchange, at: landing.url, refusals: &refusals)
            failures += 1
            // Perhaps it is HTTP/2 that does not work there.
            isBroken = isBroken || exchange.reply == nil
            // An address that fails is no attempt that counts, nor to be waited for, before all have.
            let tried = failures + (isMute ? 1 : 0)
            let isLast = await addresses(of: landing.url).count <= tried
            let isSpare = exchange.isOneTooMany || !isLast || refusals > 0
            if !isSpare, !(await isOneTooMany(failure, at: landing.url)) { attempts += 1 }
            guard policy.allows(attempts) else {
                if case .breach(let breach) = failure { throw .contract(breach) }
                throw .transfer(failure, attempts: attempts)
            }
            // What may be a limit is not asked for too soon.
            try await pause(
                failures, isLast ? exchange.reply?.retryAfter : nil, failure,
                random: .random(in: refusals > 0 ? 0.5..<1 : 0..<1))
        }
    }

    /// The addresses of a host that are asked in turn; none where connections are not spread.
    private func addresses(of url: WebURL) async -> [String] {
        guard spreads, NamedHost(origin: url.origin) != nil else { return [] }
        return await loop.addresses(of: url.origin)
    }

    /// What a reply to `GET` says, when its body can be kept.
    func accept(_ landing: Landing, _ reply: Reply, asked: ByteRange?) -> Finding? {
        guard reply.status == 206 else { return finding(landing, reply, by: .get) }
        guard let asked, let field = reply["content-range"], let got = ContentRange(field),
            let total = got.total, total <= Reply.largestSize, !reply.isMultipart,
            got.range.start == 0, asked.contains(got.range),
            reply.contentLength ?? got.range.count == got.range.count
        else { return nil }
        return finding(landing, reply, by: .get, range: got)
    }

    /// Why an exchange failed, when trying again may help.
    ///
    /// - Throws: What no retry can mend.
    static func failure(of exchange: Exchange) throws(DownloadError.Reason)
        -> TransferFailure
    {
        if let status = exchange.reply?.status {
            if (200..<300).contains(status) { return .breach(.unexpectedStatus(status)) }
            guard !isRefusal(status) else { throw refusal(status) }
            guard isTransient(status) else { throw .transfer(.status(status), attempts: 1) }
            return .status(status)
        }
        switch exchange.end {
        case .failed(.network(let code, _)) where isInterfaceFailure(code):
            throw .access(.unusable(.interface))
        case .failed(.network(let code, let text)) where isHopelessHandshake(code, text):
            throw .transfer(.network(code: code, message: text), attempts: 1)
        case .failed(let failure): return failure
        case .untrusted(let text): throw .untrusted(text)
        case .cancelled: throw .cancelled
        default: return .network(code: 0, message: "no response")
        }
    }

    /// Waits before the next attempt; `random`, in 0...1, is the share of the longest delay.
    func pause(
        _ failures: Int, _ retryAfter: Double?, _ failure: TransferFailure,
        random: Double = .random(in: 0..<1)
    ) async throws(DownloadError.Reason) {
        if let retryAfter, retryAfter > policy.longestRetryAfter {
            throw .transfer(.retryAfterTooLong(seconds: retryAfter), attempts: failures)
        }
        let delay = policy.delay(
            failures: failures, retryAfter: retryAfter, random: random)
        tell(.retrying(range: nil, attempt: failures + 1, delay: delay, cause: failure))
        do {
            try await Task.sleep(for: .seconds(delay))
        } catch {
            throw .cancelled
        }
    }

    // MARK: Redirects

    /// Follows redirects until a response is none, judging each hop.
    ///
    /// `turn` is the number of attempts that have failed: each time another address is asked. `answered`
    /// is the answer to the first request, when that was made already.
    func follow(
        _ method: TransferRequest.Method, range: ByteRange?, fresh: Bool = false,
        conditions: [String] = [], isBroken: Bool = false, turn: Int = 0,
        answered: Exchange? = nil
    ) async throws(DownloadError.Reason) -> Landing {
        var here = url
        for redirects in 0...Self.longestChain {
            var request = TransferRequest(method: method, url: here, connecting: connecting)
            request.range = range
            request.wantsFreshConnection = fresh
            request.needsOwnConnection = isBroken
            request.headers = conditions
            if turn > 0 {
                let addresses = await addresses(of: here)
                request.address = addresses.isEmpty ? nil : addresses[turn % addresses.count]
            }
            let isCollected = collects && method == .get
            if spreads, !isCollected { loop.findAddresses(for: request) }
            var exchange: Exchange
            if redirects == 0, let answered {
                exchange = answered
            } else {
                exchange = await loop.exchange(
                    request, holding: method == .get, collecting: isCollected)
            }
            if connecting.access.scheme == .automatic,
                connecting.digests.learn(from: exchange, origin: here.origin)
            {
                exchange = await loop.exchange(
                    request, holding: method == .get, collecting: isCollected)
            }
            if exchange.end == .cancelled { throw .cancelled }
            switch exchange.end {
            case .badCertificateFile?:
                throw .certificateFile(path: connecting.caCertificate ?? "")
            case .badSetting(let problem)?: throw .access(problem)
            case .proxyRefused(let status, _)?: throw .proxyRefused(status: status)
            default: break
            }
            guard let reply = exchange.reply, (300..<400).contains(reply.status),
                reply.status != 304, let location = reply["location"]
            else { return Landing(url: here, redirects: redirects, exchange: exchange) }
            guard let next = WebURL(location, relativeTo: here) else {
                throw .unsafeRedirect(to: "an address that is not http or https")
            }
            guard next.isSecure || !here.isSecure || connecting.access.allowsDowngrade else {
                throw .unsafeRedirect(to: next.redacted)
            }
            here = next
        }
        throw .tooManyRedirects(Self.longestChain)
    }

    func release(_ exchange: Exchange) { exchange.held.map(loop.drop) }

    // MARK: Facts

    private func finding(
        _ landing: Landing, _ reply: Reply, by method: TransferRequest.Method,
        range: ContentRange? = nil
    ) -> Finding {
        let size = reply.status == 206 ? range?.total : reply.contentLength
        let identity = reply.identity(size: size, time: secondsSince1970(httpDate:))
        let file = RemoteFile(
            url: url.redacted, effectiveURL: landing.url.redacted, redirects: landing.redirects,
            identity: identity, date: reply["date"],
            acceptsRanges: method == .head || reply.status == 206,
            contentType: reply["content-type"],
            suggestedName: FileName.suggested(
                disposition: reply["content-disposition"], url: landing.url),
            digests: AdvertisedDigests.all(in: reply, hasContent: method == .get),
            probedBy: method == .head ? "HEAD" : "GET")
        return Finding(
            file: file, effective: landing.url,
            held: landing.exchange.held.map {
                Held(
                    transfer: $0, range: range?.range, body: landing.exchange.body,
                    end: landing.exchange.end, wait: landing.exchange.wait)
            },
            isProven: method == .get,
            modified: identity.lastModified.flatMap { secondsSince1970(httpDate: $0) })
    }
}

/// Whether a status says that access is refused.
func isRefusal(_ status: Int) -> Bool { [401, 403, 407].contains(status) }

/// What a status that refuses access means: 407 is the proxy's.
func refusal(_ status: Int) -> DownloadError.Reason {
    status == 407 ? .proxyRefused(status: status) : .refused(status: status)
}

/// Whether trying again may help against a status.
func isTransient(_ status: Int) -> Bool {
    [408, 425, 429].contains(status)
        || (500..<600).contains(status) && status != 501
            && status != 505
}
