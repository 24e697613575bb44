import TestSupport

// Links that may be used a few times.
extension Stage {
    /// Answers so many requests, and all later ones with 410.
    ///
    /// - Parameters:
    ///   - times: How many are served.
    ///   - head: Whether `HEAD` counts, too.
    ///   - cut: Body bytes of the first reply after which it breaks; `nil` for none.
    ///   - bend: Changes the replies to those that are served.
    func serve(
        times: Int, head: Bool = false, cut: Int64? = nil,
        _ bend: @escaping @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    ) {
        let used = Guarded(0)
        change { offer in
            offer.bend = { request, reply in
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
}

extension [OriginRequest] {
    /// Method and range of each.
    var asked: [String] {
        map { request in
            [request.method, request.header("Range")].compactMap(\.self).joined(separator: " ")
        }
    }
}
