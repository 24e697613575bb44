/// One connection of a ``Origin``: reads requests and sends the handler's replies.
///
/// Used by one thread; the caller of ``run()`` closes the socket afterwards.
struct OriginConnection {
    let wire: Wire
    let number: Int
    let log: Guarded<OriginLog>
    let handler: Origin.Handler

    private static let longestHead = 1 << 20

    /// Serves requests until one side closes.
    func run() {
        var unread: [UInt8] = []
        var count = 0
        while let head = nextHead(&unread) {
            // A client with prior knowledge of HTTP/2 sends this preface, which is no request (RFC
            // 9113 §3.4).
            guard !head.starts(with: "PRI * HTTP/2.0".utf8) else { return }
            count += 1
            let request = log.withLock { log -> OriginRequest? in
                let arrival = OriginRequest.Arrival(
                    connection: number, number: log.requests.count + 1, numberOnConnection: count,
                    openConnections: log.sockets.count, time: monotonicSeconds())
                guard let request = OriginRequest(head: head, arrival: arrival) else { return nil }
                log.append(request)
                return request
            }
            guard let request else {
                _ = wire.send("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")
                return
            }
            let sender = OriginReplySender(
                wire: wire, log: log, request: request, reply: handler(request))
            let goesOn = sender.send()
            log.withLock { $0.finished(request) }
            guard goesOn else { return }
        }
    }

    /// Returns the next head of a request, without its empty line; `nil` at the end of the stream.
    private func nextHead(_ unread: inout [UInt8]) -> ArraySlice<UInt8>? {
        var looked = 0
        while true {
            if let end = Self.endOfHead(unread, from: looked) {
                let head = unread[..<end]
                unread = Array(unread[(end + 4)...])
                return head
            }
            looked = max(0, unread.count - 3)
            guard unread.count < Self.longestHead, wire.receive(into: &unread) else { return nil }
        }
    }

    /// Returns the index of the CR LF CR LF at the end of the head.
    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= start + 4 else { return nil }
        return (start...(bytes.count - 4)).first {
            bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10])
        }
    }
}
