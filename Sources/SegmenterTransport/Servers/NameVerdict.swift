import Glibc

/// The system resolver's result for a name that libcurl could not resolve.
///
/// libcurl does not report the reason (`CURLE_COULDNT_RESOLVE_HOST`).
package enum NameVerdict: Sendable, Hashable {
    /// The name does not exist, or has no address.
    case unknown
    /// The result is unknown: the name server fails, does not respond, or cannot be reached.
    case noAnswer
    /// The name has an address now.
    case known

    /// The seconds to wait for the resolver; a negative answer usually arrives sooner.
    private static let patience = 3.0
    /// The codes of getaddrinfo(3) for an unknown name: `EAI_NONAME`, `EAI_NODATA`,
    /// `EAI_ADDRFAMILY`.
    private static let unknownCodes: Set<Int32> = [-2, -5, -9]

    /// Creates a verdict from a return value of getaddrinfo(3).
    package init(code: Int32) {
        self = code == 0 ? .known : Self.unknownCodes.contains(code) ? .unknown : .noAnswer
    }

    /// Looks up a name, and blocks until the name server responds.
    private init(asking name: String, _ family: AccessOptions.AddressFamily) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_family = family.code
        var list = UnsafeMutablePointer<addrinfo>?.none
        self.init(code: getaddrinfo(name, nil, &hints, &list))
        if let list { freeaddrinfo(list) }
    }

    /// Looks up a name on a separate thread.
    ///
    /// The wait ends when the task is cancelled, and after three seconds.
    ///
    /// - Returns: The result; `noAnswer` if there is none in time.
    package static func of(_ name: String, _ family: AccessOptions.AddressFamily) async
        -> NameVerdict
    {
        await answer { NameVerdict(asking: name, family) } ?? .noAnswer
    }

    /// Runs a blocking look-up on a separate thread.
    ///
    /// - Parameter ask: The look-up.
    /// - Returns: Its result; `nil` if there is none in time, or the task was cancelled.
    package static func answer<Answer: Sendable>(
        _ ask: @escaping @Sendable () -> Answer
    ) async -> Answer? {
        let (answers, answer) = AsyncStream.makeStream(of: Answer.self)
        OwnedThread(name: "name") {
            answer.yield(ask())
            answer.finish()
        }.detach()
        let clock = Task {
            try? await Task.sleep(for: .seconds(patience))
            answer.finish()
        }
        defer { clock.cancel() }
        for await said in answers { return said }
        return nil
    }
}

extension AccessOptions.AddressFamily {
    /// The address family for getaddrinfo(3).
    package var code: Int32 {
        switch self {
        case .any: AF_UNSPEC
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        }
    }
}
