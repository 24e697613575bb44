import Assembler
import CCurl

/// One request on one easy handle, with its callbacks.
///
/// Lives on the loop thread.
final class Transfer {
    /// What to do with a body, decided when its head is complete.
    enum Verdict {
        /// Write it, up to the given offset in the file; the reply itself ends at `replyEnd`.
        case write(ExtentWriter, limit: Int64, replyEnd: Int64)
        /// Let it wait on the wire until `resume` is called.
        case pause
        /// Keep it in memory, so many bytes; without `length`, until the end if that comes before
        /// `most` bytes, and else let the rest wait.
        case collect(length: Int64?, most: Int)
        /// Read a short one away, so that the connection can be used again.
        case discard
        /// Do not read it: the connection is closed.
        case decline
    }

    private enum Mode {
        case head, writing, paused, collecting, discarding, declined, satisfied, failed
    }

    /// What is read away of a body that nobody wants, in bytes, to keep its connection.
    private static let discardLimit: Int64 = 64 << 10
    /// The most that heads and trailers of one request may hold, in bytes and in lines: libcurl keeps
    /// them all in memory, interim replies too.
    private static let longestHead = (bytes: 256 << 10, lines: 4096)

    let request: TransferRequest
    /// Number that the worker knows it by.
    let id: Int
    let handle: CURL
    private let lists: [UnsafeMutablePointer<curl_slist>]
    private let share: CURLShare
    let errorText: UnsafeMutablePointer<CChar>
    /// The cookies that it began with; `nil` where it takes none.
    private let cookies: [String]?

    /// Judges the head of the final response; called once, before the first byte of the body.
    private var onReply: (Reply) -> Verdict
    /// Called once, when the transfer is over and off the multi handle.
    private(set) var onEnd: (TransferEnd) -> Void

    /// The head of the final response.
    private(set) var reply: Reply?
    /// A 401 or 407 that libcurl may answer itself, with a second request on this handle.
    private var challenge: Reply?
    private var mode = Mode.head
    private(set) var writer: ExtentWriter?
    private var limit: Int64 = 0
    /// Where the present room ends: the body waits there until `allow` moves it on.
    private var windowEnd = Int64.max
    /// Whether the body waits there.
    private var waitsForRoom = false
    private var replyEnd: Int64 = 0
    private var discarded: Int64 = 0
    /// Header lines that have come, trailers included.
    private var head = (bytes: 0, lines: 0)
    private var failure: TransferEnd?
    /// What has been collected, and the most that is.
    private(set) var collected: [UInt8] = []
    private var collectedMost = 0
    /// When collecting began, and for how many seconds it goes on.
    private var collectsSince = 0.0
    var collectingPatience = 1.0
    /// Called when what is collected comes to wait for `resume`, before the end.
    var onHold: () -> Void = {}

    /// What the transfer belongs to: the limit of rate is shared among owners first.
    var owner = 0
    /// Its part in the limit of rate.
    var pace = Pace()

    /// Body bytes of the file that have come over the network.
    private(set) var received: Int64 = 0
    /// Received bytes at the last tick, and when they last grew; the worker's stall detection.
    private var receivedAtTick: Int64 = 0
    private(set) var lastActivity: Double
    /// Seconds of silence before this transfer began that count as its own, until something comes.
    var silentBefore = 0.0
    /// When anything last came from the server, or it was last not asked for more.
    private(set) var heard: Double
    private var hadReply = false

    init(
        _ request: TransferRequest, id: Int, now: Double, share: CURLShare, sockets: SocketWatch,
        onReply: @escaping (Reply) -> Verdict, onEnd: @escaping (TransferEnd) -> Void
    ) {
        guard let handle = curl_easy_init() else { preconditionFailure("out of memory") }
        self.request = request
        self.id = id
        self.handle = handle
        self.share = share
        self.onReply = onReply
        self.onEnd = onEnd
        lastActivity = now
        heard = now
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

    /// Takes the handle off; never called from within a callback.
    func remove(from multi: CURLM) { curl_multi_remove_handle(multi, handle) }

    // MARK: What the owner may do meanwhile

    /// Whether the body waits for `resume`.
    var isHeld: Bool { mode == .paused }

    /// Whether the body waits for room in the output, or for a share of the rate; never for both.
    var isPaused: Bool { waitsForRoom || pace.isWaiting }

    /// Lets go a body that was held, with a new owner.
    ///
    /// - Returns: What libcurl says of the piece that had waited; an error ends the transfer, and is
    ///   told nowhere else.
    func resume(_ verdict: Verdict, onEnd: @escaping (TransferEnd) -> Void) -> CURLcode {
        precondition(mode == .paused, "only a held transfer can be resumed")
        self.onEnd = onEnd
        // Its silence begins anew: it may be that nobody has asked for more.
        lastActivity = monotonicSeconds()
        heard = lastActivity
        apply(verdict)
        return curl_easy_pause(handle, segget_curl_pause_continue)
    }

    /// Lets bytes before `offset` be written: what waited for that goes on.
    ///
    /// - Returns: What libcurl says of the piece that had waited, as `resume`.
    func allow(upTo offset: Int64) -> CURLcode {
        let isMore = offset > windowEnd
        windowEnd = offset
        guard isMore, waitsForRoom else { return CURLE_OK }
        waitsForRoom = false
        return goOn()
    }

    /// Moves the end of what is written forward: the bytes behind it are another's now.
    func shorten(to end: Int64) { limit = min(limit, end) }

    /// Whether all that is this transfer's own is written, though more may come.
    var isSatisfied: Bool {
        guard let writer else { return false }
        return writer.position >= limit && limit < replyEnd
    }

    /// Notes what has happened since the last tick; the loop stood still for `blocked` seconds of it.
    func noteActivity(now: Double, blocked: Double) {
        lastActivity += blocked
        heard += blocked
        let isQuiet = received == receivedAtTick
        let isIdle = isHeld || isPaused
        // Making the connection has a limit of its own, libcurl's.
        if isIdle || !isQuiet || !isConnected { lastActivity = now }
        if isIdle || !isQuiet || (reply != nil) != hadReply { heard = now }
        if !isQuiet { silentBefore = 0 }
        receivedAtTick = received
        hadReply = reply != nil
    }

    /// For how many seconds no byte of the body has come, though it could have.
    func silence(_ now: Double) -> Double { now - lastActivity + silentBefore }

    /// Bytes of its own that are still to come; `Int64.max` when nobody knows.
    var remaining: Int64 { writer.map { max(0, limit - $0.position) } ?? 0 }

    /// Whether the reply is a file, or a part of one.
    var hasServed: Bool {
        request.method == .get && (reply?.status == 200 || reply?.status == 206)
    }

    /// Whether its body is being written.
    var isWriting: Bool { mode == .writing }

    /// Has libcurl deliver the piece that waits, and go on.
    ///
    /// - Returns: What libcurl says of that piece, as for `resume`.
    func goOn() -> CURLcode { curl_easy_pause(handle, segget_curl_pause_continue) }

    // MARK: Callbacks

    /// Takes a header line.
    ///
    /// Only the empty one matters: it ends a head, and libcurl has parsed all lines by then.
    func takeHeaderLine(_ bytes: UnsafePointer<CChar>, _ count: Int) -> Bool {
        head = (head.bytes + count, head.lines + 1)
        guard head.bytes <= Self.longestHead.bytes, head.lines <= Self.longestHead.lines else {
            _ = fail(.failed(.breach(.headTooLong)))
            return false
        }
        guard mode == .head, count <= 2, bytes[0] == 13 || bytes[0] == 10 else { return true }
        var status = 0
        segget_curl_getinfo_long(handle, CURLINFO_RESPONSE_CODE, &status)
        // Interim responses come before the final one (RFC 9110 §15.2).
        guard status >= 200 else { return true }
        if let cookies { share.keepCookies(of: handle, request, before: cookies) }
        let reply = Reply(status: status, readFrom: handle)
        // Digest authentication begins with a refusal (RFC 7616 §3.3). libcurl answers it after this
        // call, when it can; the body that it shows, or the end, tells that it cannot.
        challenge = [401, 407].contains(status) ? reply : nil
        return challenge != nil || judge(reply)
    }

    /// Has the head of the final response judged.
    ///
    /// - Returns: Whether its body is read.
    private func judge(_ reply: Reply) -> Bool {
        challenge = nil
        self.reply = reply
        apply(onReply(reply))
        // What is too long to be read away is not begun.
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
            self.writer = writer
            self.limit = limit
            self.replyEnd = replyEnd
            mode = .writing
        case .pause: mode = .paused
        case .collect(let length, let most):
            replyEnd = length ?? Int64.max
            collectedMost = most
            collected.reserveCapacity(length.map { Int($0) } ?? 0)
            collectsSince = monotonicSeconds()
            mode = .collecting
        case .discard: mode = .discarding
        case .decline: mode = .declined
        }
    }

    /// Takes a piece of the body: the hot path.
    ///
    /// - Returns: What libcurl wants to hear: the number of bytes taken, less to abort.
    func takeBody(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        switch mode {
        case .writing:
            return pace.isOn ? writeShare(bytes, count) : write(bytes, count)
        case .paused:
            return segget_curl_writefunc_pause
        case .collecting:
            return collect(bytes, count)
        case .discarding:
            // Not counted as received: a peer that drips away what nobody wants is silent.
            discarded += Int64(count)
            return discarded <= Self.discardLimit ? count : 0
        case .head:
            if let challenge {
                return judge(challenge) ? takeBody(bytes, count) : 0
            }
            // A body without a head: HTTP/0.9, which libcurl refuses before it comes here.
            return fail(.failed(.breach(.unexpectedStatus(0))))
        case .declined, .satisfied, .failed:
            return 0
        }
    }

    private func collect(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        guard collected.count + count <= replyEnd else {
            return fail(.failed(.breach(.bodyTooLong)))
        }
        guard collected.count + count <= collectedMost else {
            pause()
            return segget_curl_writefunc_pause
        }
        collected.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        received += Int64(count)
        return count
    }

    private func pause() {
        mode = .paused
        onHold()
    }

    /// Has a body that has been collected for too long wait, to be gone on with otherwise.
    func endCollecting(_ now: Double) {
        if mode == .collecting, now - collectsSince >= collectingPatience { pause() }
    }

    private func write(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        guard let writer else { return 0 }
        let room = limit - writer.position
        let wanted = min(Int64(count), max(0, room))
        guard writer.position + wanted <= windowEnd else {
            waitsForRoom = true
            return segget_curl_writefunc_pause
        }
        let error = writer.write(bytes, Int(wanted))
        received += wanted
        guard error == 0 else { return fail(.disk(error)) }
        guard wanted < count else { return count }
        if limit < replyEnd {
            // The rest was stolen: all that was ours is written.
            mode = .satisfied
            return 0
        }
        return fail(.failed(.breach(.bodyTooLong)))
    }

    /// Writes what the limit of rate allows of a piece, and pauses the transfer for the rest.
    ///
    /// libcurl keeps a piece that was answered with a pause, and delivers it again from its
    /// beginning (CURLOPT_WRITEFUNCTION): what was taken of it is skipped then.
    private func writeShare(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        let part = pace.part(of: count)
        if part.granted > 0 {
            let written = write(bytes + part.skipped, part.granted)
            guard written == part.granted else { return written }
        }
        return pace.took(part, of: count) ? count : segget_curl_writefunc_pause
    }

    private func fail(_ end: TransferEnd) -> Int {
        mode = .failed
        failure = end
        return 0
    }

    // MARK: The end

    /// What libcurl's result means.
    func end(for code: CURLcode) -> TransferEnd {
        if let failure { return failure }
        if isSatisfied { return .complete }
        if code == CURLE_OK, let challenge { _ = judge(challenge) }
        switch mode {
        case .satisfied: return .complete
        case .declined: return .declined
        // Whether all of a body that nobody wants was read away does not matter.
        case .discarding where reply != nil: return .declined
        default: break
        }
        switch code {
        case CURLE_OK where mode == .collecting:
            let missing = replyEnd == Int64.max ? 0 : replyEnd - Int64(collected.count)
            return missing > 0 ? .failed(.truncated(missing: missing)) : .complete
        case CURLE_OK:
            guard let writer, replyEnd != Int64.max else { return .complete }
            let missing = min(limit, replyEnd) - writer.position
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
            CURLE_RECV_ERROR where connectStatus >= 300:
            return .failed(.proxy(code: Int(code.rawValue), message: message(for: code)))
        default:
            return .failed(.network(code: Int(code.rawValue), message: message(for: code)))
        }
    }

    /// What it means that nothing came for so many seconds.
    func end(stalledFor seconds: Double) -> TransferEnd {
        if let failure { return failure }
        if isSatisfied { return .complete }
        return mode == .discarding ? .declined : .failed(.stalled(seconds: seconds))
    }
}
