/// One connection of a ``FaultOrigin``: reads requests and sends what the handler wants.
///
/// Used by one thread; whoever calls ``run()`` closes the socket behind it.
struct OriginConnection {
    let wire: Wire
    let number: Int
    let log: Guarded<OriginLog>
    let handler: FaultOrigin.Handler

    private static let longestHead = 1 << 20

    /// Serves requests until one side closes.
    func run() {
        var unread: [UInt8] = []
        var count = 0
        while let head = nextHead(&unread) {
            // Who tries HTTP/2 here meets a server of HTTP/1.1: it is no request (RFC 9113 §3.4).
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

    /// The next head of a request, without its empty line; `nil` at the end of the stream.
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

    /// Index of the empty line's CR LF CR LF.
    private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
        guard bytes.count >= start + 4 else { return nil }
        return (start...(bytes.count - 4)).first {
            bytes[$0..<$0 + 4].elementsEqual([13, 10, 13, 10])
        }
    }
}
