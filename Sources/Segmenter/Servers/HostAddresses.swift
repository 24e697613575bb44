import Glibc

/// The addresses of hosts, by origin, as far as they were found.
struct HostAddresses {
    /// Seconds after which a host that is asked again is looked up again: as long as libcurl remembers.
    static let lifetime = 60.0
    /// Most addresses of a host that are used.
    static let most = 16

    /// All that are known, of both families.
    private(set) var found: [String: [String]] = [:]
    private var asked: [String: Double] = [:]
    /// The address that brought the last reply, by origin.
    private(set) var reached: [String: String] = [:]

    /// Notes that a host is about to be looked up.
    ///
    /// - Returns: Whether it has to be: not while that is under way, or has just been done.
    mutating func ask(_ origin: String, now: Double) -> Bool {
        guard now - (asked[origin] ?? -.infinity) >= Self.lifetime else { return false }
        asked[origin] = now
        return true
    }

    /// A host was looked up.
    mutating func found(_ addresses: [String], of origin: String) {
        if !addresses.isEmpty { found[origin] = addresses }
    }

    /// A reply has come from an address.
    mutating func reached(_ address: String, of origin: String) { reached[origin] = address }

    /// The addresses that connections are spread over: the one that is known to work, then others of its
    /// family, for the other may not work at all.
    ///
    /// - Returns: Nothing as long as there are no two.
    func spread(_ origin: String) -> [String] {
        guard let first = reached[origin] else { return [] }
        let others = (found[origin] ?? []).filter {
            $0 != first && $0.contains(":") == first.contains(":")
        }
        return others.isEmpty ? [] : [first] + others.prefix(Self.most - 1)
    }
}

/// The host and the port of an origin that has a name.
struct NamedHost: Hashable, Sendable {
    var name: String
    var port: String

    /// - Returns: `nil` for an address, which has no others, and for this machine's own name.
    init?(origin: String) {
        guard let scheme = origin.firstRange(of: "://"),
            let colon = origin.lastIndex(of: ":"), colon >= scheme.upperBound
        else { return nil }
        name = String(origin[scheme.upperBound..<colon])
        port = String(origin[origin.index(after: colon)...])
        var room = in_addr()
        guard !name.hasPrefix("["), inet_pton(AF_INET, name, &room) != 1, name != "localhost",
            !name.hasSuffix(".localhost")
        else { return nil }
    }

    /// The addresses that the options give the host; `nil` where they say nothing of it.
    ///
    /// Of several entries the last one holds, and one for `*` only where there is no other
    /// (`CURLOPT_RESOLVE`).
    func given(by entries: [String]) -> [String]? {
        func last(_ host: String) -> Substring? {
            entries.compactMap { entry in
                let parts = entry.split(separator: ":", maxSplits: 2)
                return parts.count == 3 && parts[0].lowercased() == host && parts[1] == port
                    ? parts[2] : nil
            }.last
        }
        return (last(name) ?? last("*"))?.split(separator: ",").map {
            String($0).trimmingBrackets
        }
    }

    /// All addresses, in their usual form; asks the name server, and waits for it.
    ///
    /// - Parameter access: What is given there stands alone.
    /// - Returns: Nothing where there are none, or the name server does not know.
    func lookUp(_ access: AccessOptions) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_family = access.addressFamily.code
        var addresses: [String] = []
        func add(_ name: String, _ hints: addrinfo) {
            var (hints, list) = (hints, UnsafeMutablePointer<addrinfo>?.none)
            guard getaddrinfo(name, nil, &hints, &list) == 0 else { return }
            defer { freeaddrinfo(list) }
            var next = list
            while let entry = next?.pointee {
                next = entry.ai_next
                var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
                let code = getnameinfo(
                    entry.ai_addr, entry.ai_addrlen, &text, socklen_t(text.count), nil, 0,
                    NI_NUMERICHOST)
                let address = text.withUnsafeBufferPointer { buffer in
                    buffer.baseAddress.map { String(cString: $0) } ?? ""
                }
                // One with a zone is another machine's at each interface.
                if code == 0, !address.contains("%"), !addresses.contains(address) {
                    addresses.append(address)
                }
            }
        }
        if let given = given(by: access.resolve) {
            hints.ai_flags = AI_NUMERICHOST
            for address in given { add(address, hints) }
        } else {
            add(name, hints)
        }
        return addresses
    }
}

extension String {
    /// An IPv6 address without the brackets that it may stand in.
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
