import TestSupport

/// A file on several addresses of one host, each with its own behaviour.
final class AddressTrial: Sendable {
    let content: Content
    let origins: [Origin]
    let sandbox: Sandbox
    let addresses: [String]

    /// Starts an origin on each of `count` addresses, all on one port.
    ///
    /// - Parameters:
    ///   - count: Number of addresses, from 127.0.0.1 on.
    ///   - size: Size of the file in bytes.
    ///   - pace: Speed of each connection in bytes a second.
    ///   - bend: Changes the replies of the address with a number, counted from 0.
    /// - Throws: When no port is free on all of them.
    init(
        _ count: Int, size: Int64 = 8_000_000, pace: Double? = 2_000_000,
        bend: @escaping @Sendable (Int, OriginRequest, inout OriginReply) -> Void = { _, _, _ in }
    ) throws {
        let content = Content(size: size, seed: 5)
        self.content = content
        sandbox = try Sandbox()
        let addresses = (1...count).map { "127.0.0.\($0)" }
        self.addresses = addresses
        @Sendable func answer(_ index: Int, _ request: OriginRequest) -> OriginReply {
            OriginReply.file(content, for: request, etag: "\"a\"").with { reply in
                if request.method == "GET" { reply.pace = pace }
                // On a busy machine, segget may find the other addresses late.
                if index == 0, request.number <= 2 { reply.delayBeforeHeaders = 0.2 }
                bend(index, request, &reply)
            }
        }
        func start() throws -> [Origin] {
            var origins: [Origin] = []
            for (index, address) in addresses.enumerated() {
                origins.append(
                    try Origin(
                        address: address, port: origins.first?.port ?? 0, sendBuffer: 32 << 10
                    ) { answer(index, $0) })
            }
            return origins
        }
        var started: [Origin]?
        // The port may be in use at another address.
        for _ in 0..<20 where started == nil { started = try? start() }
        origins = try started ?? start()
    }

    var port: UInt16 { origins[0].port }

    /// Downloads from a host name that resolves to all these addresses, with JSON events.
    func run(_ options: [String]) async throws -> Run.Outcome {
        try await Run(
            [
                "http://a.test:\(port)/dir/file.bin", "--json", "-v", "--resolve",
                "a.test:\(port):\(addresses.joined(separator: ","))",
            ] + options, in: sandbox.path
        ).ended()
    }

    /// The number of `GET` requests that each origin received.
    var gets: [Int] { origins.map { $0.requests.count { $0.method == "GET" } } }
}
