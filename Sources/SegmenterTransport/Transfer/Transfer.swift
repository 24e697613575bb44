import CCurl

/// One request on one easy handle, with its callbacks.
///
/// Used on the loop thread only.
package final class Transfer {
    /// The treatment of a body, decided when the head is complete.
    package enum Verdict {
        /// Write the body up to the offset `limit` in the file.
        ///
        /// The response ends at the offset `replyEnd`; `Int64.max` if that is unknown.
        case write(ExtentWriter, limit: Int64, replyEnd: Int64)
        /// Pause the transfer until `resume` is called.
        case pause
        /// Keep the body in memory; pause the transfer before it exceeds `most` bytes.
        ///
        /// The length of the body is `length` bytes; `nil` if it is unknown.
        case collect(length: Int64?, most: Int)
        /// Read and discard a short body, so that the connection can be reused.
        case discard
        /// Do not read the body, and close the connection.
        case decline
    }

    private enum Mode {
        case head, writing, paused, collecting, discarding, declined, satisfied, failed
    }

    /// The maximum number of body bytes to discard in order to keep the connection.
    private static let discardLimit: Int64 = 64 << 10

    package let request: TransferRequest
    /// The monotonic time in seconds at which the transfer was started.
    package let began: Double
    /// The number of the transfer in its worker.
    package let id: Int
    let handle: CURL
    private let lists: [UnsafeMutablePointer<curl_slist>]
    private let share: CURLShare
    let errorText: UnsafeMutablePointer<CChar>
    /// The cookies that the handle started with; `nil` if libcurl's cookie engine is off for it.
    private let cookies: [String]?

    /// Decides on the body by the head of the final response.
    ///
    /// Called once, before the first byte of the body.
    private let onReply: (Reply) -> Verdict
    /// Called once, after the transfer has ended and was removed from the multi handle.
    package private(set) var onEnd: (TransferEnd) -> Void
    /// Called when a body that is kept in memory is paused; `resume` continues it.
    var onPause: () -> Void = {}

    private var mode = Mode.head
    private var head = ReplyHead()
    // Each piece of a body changes this value. `BodyWriting` never calls back into the transfer, so
    // that the hot path needs no check for exclusive access.
    @exclusivity(unchecked) private var writing = BodyWriting()
    package var collecting = BodyCollecting()
    private var discarded: Int64 = 0
    private var failure: TransferEnd?
    /// Checks the addresses of a transfer that must not reach private ones.
    var addressGuard = AddressGuard()
    /// The number of the file's bytes that were received from the network.
    package private(set) var received: Int64 = 0
    /// Measures how long the transfer has received nothing.
    package var stallClock: StallClock

    /// The number of the transfer's owner, such as a download.
    ///
    /// A rate limit is divided among the owners first.
    package var owner = 0
    /// The state of the transfer under a rate limit.
    package var pace = Pace()

    init(
        _ request: TransferRequest, id: Int, now: Double, share: CURLShare, sockets: SocketWatch,
        onReply: @escaping (Reply) -> Verdict, onEnd: @escaping (TransferEnd) -> Void
    ) {
        guard let handle = curl_easy_init() else { preconditionFailure("out of memory") }
        self.request = request
        began = now
        self.id = id
        self.handle = handle
        self.share = share
        self.onReply = onReply
        self.onEnd = onEnd
        stallClock = StallClock(since: now)
        errorText = .allocate(capacity: segget_curl_error_size)
        errorText.initialize(repeating: 0, count: segget_curl_error_size)
        lists = request.configure(handle)
        cookies = share.attach(handle, for: request)
        let context = Unmanaged.passUnretained(self).toOpaque()
        _ = segget_curl_setopt_pointer(handle, CURLOPT_ERRORBUFFER, errorText)
        _ = segget_curl_setopt_pointer(handle, CURLOPT_PRIVATE, context)
        _ = segget_curl_setopt_pointer(handle, CURLOPT_WRITEDATA, context)
        _ = segget_curl_setopt_pointer(handle, CURLOPT_HEADERDATA, context)
        _ = segget_curl_setopt_callback(handle, CURLOPT_WRITEFUNCTION, transferBodyCallback)
        _ = segget_curl_setopt_callback(handle, CURLOPT_HEADERFUNCTION, transferHeadCallback)
        _ = segget_curl_setopt_socket_callback(handle, CURLOPT_SOCKOPTFUNCTION, newSocketCallback)
        _ = segget_curl_setopt_pointer(
            handle, CURLOPT_SOCKOPTDATA, Unmanaged.passUnretained(sockets).toOpaque())
        guard request.connecting.access.deniesPrivate else { return }
        _ = segget_curl_setopt_pointer(handle, CURLOPT_OPENSOCKETDATA, context)
        _ = segget_curl_setopt_open_socket_callback(
            handle, CURLOPT_OPENSOCKETFUNCTION, openSocketCallback)
        _ = segget_curl_setopt_pointer(handle, CURLOPT_PREREQDATA, context)
        _ = segget_curl_setopt_request_callback(handle, CURLOPT_PREREQFUNCTION, requestCallback)
    }

    deinit {
        curl_easy_cleanup(handle)
        for list in lists { curl_slist_free_all(list) }
        errorText.deallocate()
    }

    func add(to multi: CURLM) {
        let code = curl_multi_add_handle(multi, handle)
        precondition(code == CURLM_OK, "curl_multi_add_handle failed: \(code.rawValue)")
    }

    /// Removes the handle from the multi handle; must not be called in a callback of libcurl.
    func remove(from multi: CURLM) { curl_multi_remove_handle(multi, handle) }

    // MARK: Control by the owner

    /// Whether the body is paused until `resume`.
    package var isBodyPaused: Bool { mode == .paused }

    /// Whether the body is paused by the window or by a rate limit; never by both.
    package var isPaused: Bool { writing.waitsForRoom || pace.isWaiting }

    /// Resumes a paused body, with a new handler of the result.
    ///
    /// - Parameters:
    ///   - verdict: The treatment of the body.
    ///   - onEnd: Replaces the previous handler of the result.
    /// - Returns: libcurl's result for the piece of the body that it kept during the pause. After
    ///   an error, the caller has to end the transfer: libcurl does not report the error again.
    func resume(_ verdict: Verdict, onEnd: @escaping (TransferEnd) -> Void) -> CURLcode {
        precondition(mode == .paused, "only a paused transfer can be resumed")
        self.onEnd = onEnd
        stallClock.restart(monotonicSeconds())
        apply(verdict)
        return goOn()
    }

    /// Moves the end of the window to `offset`, and resumes a body that was paused by the window.
    ///
    /// - Returns: The same as `resume`; `CURLE_OK` if the body was not paused by the window.
    func allow(upTo offset: Int64) -> CURLcode {
        writing.allow(upTo: offset) ? goOn() : CURLE_OK
    }

    /// Lowers the limit of writing to `end`; another connection downloads the bytes after it.
    package func shorten(to end: Int64) { writing.shorten(to: end) }

    /// Whether everything up to the limit is written, although the response continues after it.
    package var isSatisfied: Bool { writing.isSatisfied }

    /// Updates the stall clock in a tick.
    ///
    /// - Parameters:
    ///   - now: The monotonic time in seconds.
    ///   - blocked: The seconds since the previous tick in which the loop did not run.
    func noteActivity(now: Double, blocked: Double) {
        let look = StallClock.Look(
            received: received, isAnswered: reply != nil, isConnected: isConnected,
            isIdle: isBodyPaused || isPaused)
        stallClock.note(look, now: now, blocked: blocked)
    }

    /// The head of the final response; `nil` before it is received.
    package var reply: Reply? { head.reply }

    /// Whether the response contains a file or a range of one.
    package var hasServed: Bool {
        request.method == .get && (reply?.status == 200 || reply?.status == 206)
    }

    /// The number of bytes up to the limit of writing that are still missing.
    package var remaining: Int64 { mode == .collecting ? collecting.room : writing.remaining }

    /// Whether bytes of the body are taken, so that a rate limit applies to them.
    var isTaking: Bool { mode == .writing || mode == .collecting }

    /// Resumes the transfer in libcurl, which first delivers the piece that it has kept.
    ///
    /// - Returns: libcurl's result for that piece, as for `resume`.
    func goOn() -> CURLcode { curl_easy_pause(handle, segget_curl_pause_continue) }

    // MARK: Callbacks

    /// Handles a header line.
    ///
    /// Only the empty line matters: it ends a head, and libcurl has then parsed all lines.
    ///
    /// - Returns: Whether the transfer continues.
    func takeHeaderLine(_ bytes: UnsafePointer<CChar>, _ count: Int) -> Bool {
        guard head.count(count) else {
            _ = fail(.failed(.breach(.headTooLong)))
            return false
        }
        guard mode == .head, count <= 2, bytes[0] == 13 || bytes[0] == 10 else { return true }
        var status = 0
        segget_curl_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
        // Interim responses precede the final one (RFC 9110 §15.2).
        guard status >= 200 else { return true }
        if let cookies { share.keepCookies(of: handle, request, before: cookies) }
        var reply = Reply(status: status, readFrom: handle)
        if let window = request.connecting.window {
            reply.show(window, asked: request.range, by: request.method)
        }
        return !head.take(reply) || judge(reply)
    }

    /// Calls `onReply` for the head of the final response, and applies its decision.
    ///
    /// - Returns: Whether the body is read.
    private func judge(_ reply: Reply) -> Bool {
        head.settle(on: reply)
        apply(onReply(reply))
        // Reading a body that exceeds the limit would only waste bytes.
        if mode == .discarding, request.method == .get,
            reply.contentLength ?? 0 > Self.discardLimit
        {
            mode = .declined
        }
        return mode != .declined
    }

    private func apply(_ verdict: Verdict) {
        switch verdict {
        case .write(let writer, let limit, let replyEnd):
            writing.begin(writer, limit: limit, replyEnd: replyEnd)
            mode = .writing
        case .pause: mode = .paused
        case .collect(let length, let most):
            collecting.begin(length: length, most: most, now: monotonicSeconds())
            mode = .collecting
        case .discard: mode = .discarding
        case .decline: mode = .declined
        }
    }

    /// Handles a piece of the body; this is the hot path.
    ///
    /// - Returns: The result of the write callback: `count` to continue, a smaller number to abort,
    ///   or `CURL_WRITEFUNC_PAUSE`.
    func takeBody(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        switch mode {
        case .writing:
            return pace.isOn ? share(bytes, count, write) : write(bytes, count)
        case .paused:
            return segget_curl_writefunc_pause
        case .collecting:
            return pace.isOn ? share(bytes, count, collect) : collect(bytes, count)
        case .discarding:
            // Discarded bytes do not count as received, so that a slow body of this kind stalls.
            discarded += Int64(count)
            return discarded <= Self.discardLimit ? count : 0
        case .head:
            if let challenge = head.challenge {
                return judge(challenge) ? takeBody(bytes, count) : 0
            }
            // A body without a head is HTTP/0.9, which libcurl refuses before this callback.
            return fail(.failed(.breach(.unexpectedStatus(0))))
        case .declined, .satisfied, .failed:
            return 0
        }
    }

    private func collect(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        switch collecting.take(bytes, count) {
        case .kept:
            received += Int64(count)
            return count
        case .full:
            pause()
            return segget_curl_writefunc_pause
        case .tooLong: return fail(.failed(.breach(.bodyTooLong)))
        }
    }

    private func pause() {
        mode = .paused
        onPause()
    }

    /// Pauses a body that is kept in memory, if it has taken longer than `collecting.patience`.
    func endCollecting(_ now: Double) {
        // Under a rate limit, a short body waits for its shares.
        let factor = pace.isOn ? BodyCollecting.pacedFactor : 1
        if mode == .collecting, collecting.isLate(now, factor: factor) { pause() }
    }

    private func write(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        let (taken, outcome) = writing.take(bytes, count)
        received += taken
        switch outcome {
        case .written: return count
        case .waits: return segget_curl_writefunc_pause
        case .satisfied:
            // Another connection has taken over the rest; this transfer's bytes are all written.
            mode = .satisfied
            return 0
        case .tooLong: return fail(.failed(.breach(.bodyTooLong)))
        case .failed(let error): return fail(.disk(error))
        }
    }

    /// Takes as much of a piece as the rate limit allows, and pauses the transfer if bytes remain.
    ///
    /// After a pause, libcurl delivers the same piece again from its beginning
    /// (`CURLOPT_WRITEFUNCTION`). The bytes that are already taken are then skipped.
    private func share(
        _ bytes: UnsafeRawPointer, _ count: Int, _ take: (UnsafeRawPointer, Int) -> Int
    ) -> Int {
        let part = pace.part(of: count)
        if part.granted > 0 {
            let taken = take(bytes + part.skipped, part.granted)
            guard taken == part.granted else { return taken }
        }
        return pace.took(part, of: count) ? count : segget_curl_writefunc_pause
    }

    private func fail(_ end: TransferEnd) -> Int {
        mode = .failed
        failure = end
        return 0
    }

    // MARK: The result

    /// Returns the result of the transfer for a code of libcurl.
    func end(for code: CURLcode) -> TransferEnd {
        if let failure { return failure }
        if isSatisfied { return .complete }
        if code == CURLE_OK, let challenge = head.challenge { _ = judge(challenge) }
        switch mode {
        case .satisfied: return .complete
        case .declined: return .declined
        // The body is not needed, so that missing bytes of it are not a failure.
        case .discarding where reply != nil: return .declined
        default: break
        }
        if let address = addressGuard.denied { return .denied(address: address) }
        switch code {
        case CURLE_OK:
            let missing = mode == .collecting ? collecting.missing : writing.missing
            return missing > 0 ? .failed(.truncated(missing: missing)) : .complete
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            return .untrusted(message(for: code))
        case _ where request.isDecoded && isUndecodable(code):
            return .failed(.breach(.contentCoding(reply?["content-encoding"] ?? "")))
        case CURLE_SSL_CACERT_BADFILE: return .badCertificateFile
        case CURLE_SSL_CERTPROBLEM: return .badSetting(.unusable(.clientCertificate))
        case CURLE_RECV_ERROR where isRefusal(connectStatus):
            return .proxyRefused(
                status: connectStatus, asksForDigest: Reply.asksForDigest(handle, proxy: true))
        case CURLE_PROXY where isRefusedBySOCKS:
            return .proxyRefused(status: nil, asksForDigest: false)
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            return .failed(.proxy(code: Int(code.rawValue), message: message(for: code)))
        case CURLE_COULDNT_CONNECT where request.surelyUsesProxy,
            // Before the proxy's response to CONNECT, the only TLS handshake is with the proxy.
            CURLE_SSL_CONNECT_ERROR where connectStatus == 0 && request.surelyUsesTLSToProxy,
            CURLE_RECV_ERROR where connectStatus >= 300:
            return .failed(.proxy(code: Int(code.rawValue), message: message(for: code)))
        default:
            return .failed(.network(code: Int(code.rawValue), message: message(for: code)))
        }
    }

    /// Returns the result of the transfer after a stall of `seconds`.
    package func end(stalledFor seconds: Double) -> TransferEnd {
        if let failure { return failure }
        if isSatisfied { return .complete }
        return mode == .discarding ? .declined : .failed(.stalled(for: .init(seconds: seconds)))
    }
}
