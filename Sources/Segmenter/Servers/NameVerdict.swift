import Assembler
import Glibc

/// What the system's resolver says of a name that libcurl could not resolve, of which libcurl does not
/// say why (`CURLE_COULDNT_RESOLVE_HOST`).
enum NameVerdict: Sendable, Hashable {
    /// It does not exist, or has no address.
    case unknown
    /// Nobody knows: the name server fails, says nothing, or cannot be reached.
    case noAnswer
    /// It has an address by now.
    case known

    /// Seconds that the resolver is waited for: who knows that there is no such name says so sooner.
    private static let patience = 3.0
    /// The codes of getaddrinfo(3) that say so: `EAI_NONAME`, `EAI_NODATA`, `EAI_ADDRFAMILY`.
    private static let unknownCodes: Set<Int32> = [-2, -5, -9]

    /// - Parameter code: What getaddrinfo(3) returned.
    init(code: Int32) {
        self = code == 0 ? .known : Self.unknownCodes.contains(code) ? .unknown : .noAnswer
    }

    /// Asks the name server, and waits for it.
    private init(asking name: String, _ family: AccessOptions.AddressFamily) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_family = family.code
        var list = UnsafeMutablePointer<addrinfo>?.none
        self.init(code: getaddrinfo(name, nil, &hints, &list))
        if let list { freeaddrinfo(list) }
    }

    /// Asks the name server on a thread of its own.
    ///
    /// Whoever is cancelled meanwhile does not wait for it, nor does anybody for long.
    ///
    /// - Returns: What it says; `noAnswer` when it says nothing.
    static func of(_ name: String, _ family: AccessOptions.AddressFamily) async -> NameVerdict {
        await answer { NameVerdict(asking: name, family) } ?? .noAnswer
    }

    /// Has a thread of its own ask the name server.
    ///
    /// - Parameter ask: Asks it, and waits for it.
    /// - Returns: What it says; `nil` when it says nothing, or the task was cancelled.
    static func answer<Answer: Sendable>(
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
    /// As getaddrinfo(3) wants it.
    var code: Int32 {
        switch self {
        case .any: AF_UNSPEC
        case .ipv4: AF_INET
        case .ipv6: AF_INET6
        }
    }
}
