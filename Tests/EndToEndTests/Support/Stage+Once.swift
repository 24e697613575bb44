import TestSupport

// Links that allow a limited number of requests.
extension Stage {
    /// Serves a number of requests, and replies 410 to all later ones.
    ///
    /// - Parameters:
    ///   - times: The number of requests to serve.
    ///   - head: Whether `HEAD` requests count too.
    ///   - cut: The number of body bytes after which the first reply breaks; `nil` for no break.
    ///   - bend: Changes the replies that are served.
    func serve(
        times: Int, head: Bool = false, cut: Int64? = nil,
        _ bend: @escaping @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    ) {
        let used = Guarded(0)
        origin.bend { request, reply in
            let counts = request.method == "GET" || head
            let number = used.withLock { used in
                if counts { used += 1 }
                return used
            }
            guard number <= times, counts || number < times else {
                reply = .text(410)
                return
            }
            if number == 1, counts { reply.cutAfter = cut }
            bend(request, &reply)
        }
    }
}

extension [OriginRequest] {
    /// The method and range of each request.
    var asked: [String] {
        map { request in
            [request.method, request.header("Range")].compactMap(\.self).joined(separator: " ")
        }
    }
}
