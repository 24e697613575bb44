/// Sends one reply, with all its faults.
struct OriginReplySender {
    let wire: Wire
    let log: Guarded<OriginLog>
    let request: OriginRequest
    let reply: OriginReply

    /// The number of bytes that are generated and sent at once.
    private static let pieceSize = 256 << 10

    /// Sends the reply; returns whether the connection can take another request.
    func send() -> Bool {
        guard wire.pause(reply.delayBeforeHeaders) else { return false }
        switch reply.shape {
        case .nothing(let cut):
            if cut == .rst { wire.resetOnClose() }
            return false
        case .raw:
            _ = sendBody()
            return false
        case .http:
            log.withLock { $0.answering(request, status: reply.status) }
            guard reply.interim.allSatisfy({ wire.send(Self.head(of: $0)) }), wire.send(head),
                sendBody()
            else { return false }
            return !closes
        }
    }

    private var sendsBody: Bool { request.method != "HEAD" || reply.sendsBodyToHead }

    /// Whether the connection is closed after a complete reply.
    private var closes: Bool {
        reply.closeAfter || request.wantsClose || reply.framing == .close
            || (reply.claimedLength != nil && sendsBody)
    }

    private static func head(of interim: OriginReply.Interim) -> String {
        let fields = interim.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return
            "HTTP/1.1 \(interim.status) \(OriginReply.reason(of: interim.status))\r\n\(fields)\r\n"
    }

    private var head: String {
        let reason = reply.reason ?? OriginReply.reason(of: reply.status)
        var text = "HTTP/1.1 \(reply.status) \(reason)\r\n"
        for field in reply.headers { text += "\(field.name): \(field.value)\r\n" }
        switch reply.framing {
        case .contentLength:
            if let claimed = reply.claimedLength {
                text += "Content-Length: \(claimed)\r\n"
            } else if ![204, 304].contains(reply.status) {
                text += "Content-Length: \(reply.body.count)\r\n"
            }
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .close, .asIs: break
        }
        if reply.closeAfter || reply.framing == .close { text += "Connection: close\r\n" }
        return text + "\r\n"
    }

    /// Sends the body; returns false if the connection is cut or broken, or the origin stops.
    private func sendBody() -> Bool {
        let count = sendsBody ? reply.body.count : 0
        let chunked = reply.framing == .chunked && reply.shape.isHTTP && sendsBody
        var pacer = reply.pace.map { Pacer(rate: $0, now: monotonicSeconds()) }
        var stallAfter = reply.stallAfter
        var position: Int64 = 0
        return withUnsafeTemporaryAllocation(byteCount: Self.pieceSize, alignment: 16) { buffer in
            while true {
                if position == reply.cutAfter {
                    if reply.cut == .rst { wire.resetOnClose() }
                    return false
                }
                if position == stallAfter {
                    stallAfter = nil
                    guard stall() else { return false }
                }
                if position == reply.silentAfter {
                    _ = wire.pause(.infinity)
                    return false
                }
                guard position < count else { break }
                if isReleased { pacer = nil }
                var piece = min(count - position, Int64(buffer.count), pacer?.piece ?? .max)
                for limit in [reply.cutAfter, reply.silentAfter, stallAfter] {
                    if let limit, limit > position { piece = min(piece, limit - position) }
                }
                let now = monotonicSeconds()
                if let delay = pacer?.delay(of: piece, now: now), !wire.pause(delay) {
                    return false
                }
                let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(piece)])
                fill(bytes, at: position)
                guard sendPiece(UnsafeRawBufferPointer(bytes), chunked: chunked) else {
                    return false
                }
                pacer?.sent(piece)
                position += piece
            }
            return chunked ? wire.send("0\r\n\r\n") : true
        }
    }

    private var isReleased: Bool { reply.release?.withLock { $0 } == true }

    /// Stalls as the reply says; returns false if the peer has closed or the origin stops.
    private func stall() -> Bool {
        guard reply.release != nil else { return wire.pause(reply.stallFor) }
        let end = monotonicSeconds() + reply.stallFor
        while !isReleased, monotonicSeconds() < end {
            guard wire.pause(0.01) else { return false }
        }
        return true
    }

    private func sendPiece(_ bytes: UnsafeRawBufferPointer, chunked: Bool) -> Bool {
        if chunked {
            guard wire.send(String(bytes.count, radix: 16) + "\r\n") else { return false }
        }
        let sent = wire.send(bytes) { count in log.withLock { $0.served(count, for: request) } }
        return sent && (!chunked || wire.send("\r\n"))
    }

    /// Fills `bytes` with the body from `position` on, including its corrupted bytes.
    private func fill(_ bytes: UnsafeMutableRawBufferPointer, at position: Int64) {
        var first: Int64 = 0
        switch reply.body {
        case .none: return
        case .bytes(let body): bytes.copyBytes(from: body[Int(position)...].prefix(bytes.count))
        case .content(let content, let range):
            first = range.lowerBound
            content.fill(bytes, at: first + position)
        }
        for offset in reply.corruptAt {
            let index = offset - first - position
            if (0..<Int64(bytes.count)).contains(index) { bytes[Int(index)] ^= 0xFF }
        }
    }
}

extension OriginReply.Shape {
    fileprivate var isHTTP: Bool {
        if case .http = self { true } else { false }
    }
}
