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
    private let onReply: (Reply) -> Verdict
    /// Called once, when the transfer is over and off the multi handle.
    private(set) var onEnd: (TransferEnd) -> Void
    /// Called when what is collected is paused, until `resume`, before the end.
    var onPause: () -> Void = {}

    private var mode = Mode.head
    private var head = ReplyHead()
    // Each piece of a body changes it: nothing that `BodyWriting` calls comes back here, so nobody need check
    // at each one whether it is changed already.
    @exclusivity(unchecked) private var writing = BodyWriting()
    var collecting = BodyCollecting()
    private var discarded: Int64 = 0
    private var failure: TransferEnd?
    /// Judges addresses, where it must not reach private ones.
    var addressGuard = AddressGuard()
    /// Body bytes of the file that have come over the network.
    private(set) var received: Int64 = 0
    /// For how long nothing has come.
    var stallClock: StallClock

    /// What the transfer belongs to: the limit of rate is shared among owners first.
    var owner = 0
    /// Its part in the limit of rate.
    var pace = Pace()

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

    /// Takes the handle off; never called from within a callback.
    func remove(from multi: CURLM) { curl_multi_remove_handle(multi, handle) }

    // MARK: What the owner may do meanwhile

    /// Whether the body is paused until `resume`.
    var isBodyPaused: Bool { mode == .paused }

    /// Whether the body waits for room in the output, or for a share of the rate; never for both.
    var isPaused: Bool { writing.waitsForRoom || pace.isWaiting }

    /// Lets a paused body go on, with a new owner.
    ///
    /// - Returns: What libcurl says of the piece that had waited; an error ends the transfer, and is
    ///   reported nowhere else.
    func resume(_ verdict: Verdict, onEnd: @escaping (TransferEnd) -> Void) -> CURLcode {
        precondition(mode == .paused, "only a paused transfer can be resumed")
        self.onEnd = onEnd
        stallClock.restart(monotonicSeconds())
        apply(verdict)
        return goOn()
    }

    /// Lets bytes before `offset` be written: what waited for that goes on.
    ///
    /// - Returns: What libcurl says of the piece that had waited, as `resume`.
    func allow(upTo offset: Int64) -> CURLcode {
        writing.allow(upTo: offset) ? goOn() : CURLE_OK
    }

    /// Moves the end of what is written forward: the bytes behind it are another's now.
    func shorten(to end: Int64) { writing.shorten(to: end) }

    /// Whether all that is this transfer's own is written, though more may come.
    var isSatisfied: Bool { writing.isSatisfied }

    /// Notes what has happened since the last tick; the loop stood still for `blocked` seconds of it.
    func noteActivity(now: Double, blocked: Double) {
        let look = StallClock.Look(
            received: received, isAnswered: reply != nil, isConnected: isConnected,
            isIdle: isBodyPaused || isPaused)
        stallClock.note(look, now: now, blocked: blocked)
    }

    /// The head of the final response.
    var reply: Reply? { head.reply }

    /// Whether the reply is a file, or a part of one.
    var hasServed: Bool {
        request.method == .get && (reply?.status == 200 || reply?.status == 206)
    }

    /// Bytes of its own that are still to come; `Int64.max` when nobody knows.
    var remaining: Int64 { writing.remaining }

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
        guard head.count(count) else {
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
        return !head.take(reply) || judge(reply)
    }

    /// Has the head of the final response judged.
    ///
    /// - Returns: Whether its body is read.
    private func judge(_ reply: Reply) -> Bool {
        head.settle(on: reply)
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
            // Not counted as received: a peer that drips away what nobody wants stalls.
            discarded += Int64(count)
            return discarded <= Self.discardLimit ? count : 0
        case .head:
            if let challenge = head.challenge {
                return judge(challenge) ? takeBody(bytes, count) : 0
            }
            // A body without a head: HTTP/0.9, which libcurl refuses before it comes here.
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

    /// Has a body that has been collected for too long wait, to be gone on with otherwise.
    func endCollecting(_ now: Double) {
        if mode == .collecting, collecting.isLate(now) { pause() }
    }

    private func write(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        let (taken, outcome) = writing.take(bytes, count)
        received += taken
        switch outcome {
        case .written: return count
        case .waits: return segget_curl_writefunc_pause
        case .satisfied:
            // The rest was stolen: all that was ours is written.
            mode = .satisfied
            return 0
        case .tooLong: return fail(.failed(.breach(.bodyTooLong)))
        case .failed(let error): return fail(.disk(error))
        }
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
        if code == CURLE_OK, let challenge = head.challenge { _ = judge(challenge) }
        switch mode {
        case .satisfied: return .complete
        case .declined: return .declined
        // Whether all of a body that nobody wants was read away does not matter.
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
            // What comes before the tunnel is the proxy's own TLS.
            CURLE_SSL_CONNECT_ERROR where connectStatus == 0 && request.surelyUsesTLSToProxy,
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
        return mode == .discarding ? .declined : .failed(.stalled(for: .init(seconds: seconds)))
    }
}
