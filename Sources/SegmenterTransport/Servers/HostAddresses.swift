import Glibc

/// The known addresses of hosts, by origin.
package struct HostAddresses {
    /// The seconds after which a host is looked up again; equal to libcurl's DNS cache timeout.
    static let lifetime = 60.0
    /// The maximum number of addresses that are used for a host.
    package static let most = 16

    /// All known addresses, of both families.
    package private(set) var found: [String: [String]] = [:]
    private var asked: [String: Double] = [:]
    /// The origins whose look-up is in progress.
    private var pending: Set<String> = []
    /// The address of the last response, by origin.
    package private(set) var reached: [String: String] = [:]

    /// Records that a host is about to be looked up.
    ///
    /// - Returns: Whether to look it up; `false` if that is in progress or was done recently.
    package mutating func ask(_ origin: String, now: Double) -> Bool {
        guard now - (asked[origin] ?? -.infinity) >= Self.lifetime else { return false }
        asked[origin] = now
        pending.insert(origin)
        return true
    }

    /// Records the addresses that a look-up has found; none if it failed.
    package mutating func found(_ addresses: [String], of origin: String) {
        pending.remove(origin)
        if !addresses.isEmpty { found[origin] = addresses }
    }

    /// Whether the host has several addresses, or may have them because its look-up is in progress.
    package func mayBeSeveral(_ origin: String) -> Bool {
        pending.contains(origin) || !spread(origin).isEmpty
    }

    /// Records that a response was received from an address.
    package mutating func reached(_ address: String, of origin: String) {
        reached[origin] = address
    }

    /// Returns the addresses over which connections are spread.
    ///
    /// The first is the one that is known to work. The others are of its family, because the other
    /// family may not work at all.
    ///
    /// - Returns: The addresses; empty if there are fewer than two.
    package func spread(_ origin: String) -> [String] {
        guard let first = reached[origin] else { return [] }
        let others = (found[origin] ?? []).filter {
            $0 != first && $0.contains(":") == first.contains(":")
        }
        return others.isEmpty ? [] : [first] + others.prefix(Self.most - 1)
    }
}

/// The host and the port of an origin that has a host name.
package struct NamedHost: Hashable, Sendable {
    package var name: String
    package var port: String

    /// Creates a named host.
    ///
    /// - Returns: `nil` for an address and for `localhost`, which need no look-up.
    package init?(origin: String) {
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

    /// Returns the addresses that the options give for the host; `nil` if they give none.
    ///
    /// The last of several entries applies, and one for `*` only if there is no other
    /// (`CURLOPT_RESOLVE`).
    package func given(by entries: [String]) -> [String]? {
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

    /// Returns all addresses of the host in numeric form; blocks until the name server responds.
    ///
    /// - Parameter access: The options; the addresses that they give replace the look-up.
    /// - Returns: The addresses; empty if there are none or the look-up fails.
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
                // An address with a zone may be a different machine on each interface.
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
    /// An IPv6 address without its brackets, if it has any.
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
