import CLinux

/// Whether this machine is in a network that leads to a host, as far as the kernel knows.
///
/// Nothing is sent to the host; its name is looked up.
enum HostRoute {
    /// Addresses of nobody (RFC 5737, RFC 3849): what leads there, leads to the internet.
    private static let anywhere = ["192.0.2.1", "2001:db8::1"]

    /// Whether there is a route to an address; one to this machine there always is.
    ///
    /// - Returns: `nil` where the text is no address.
    static func leads(to address: String) -> Bool? {
        let found = segget_has_route(address)
        return found < 0 ? nil : found == 1
    }

    /// Whether there is a route to a host: to any of its addresses, or where its name cannot be resolved, to the
    /// internet.
    ///
    /// - Parameters:
    ///   - origin: Scheme, host and port.
    ///   - access: How it is reached; addresses that are given there stand alone.
    /// - Returns: Whether there is one.
    static func leads(toOrigin origin: String, _ access: AccessOptions) async -> Bool {
        guard let host = NamedHost(origin: origin) else {
            // An address, or this machine.
            return leads(to: address(in: origin)) ?? true
        }
        let found = await NameVerdict.answer { host.lookUp(access) } ?? []
        let isOf: (String) -> Bool = { address in
            switch access.addressFamily {
            case .any: true
            case .ipv4: !address.contains(":")
            case .ipv6: address.contains(":")
            }
        }
        return (found.isEmpty ? anywhere.filter(isOf) : found).contains { leads(to: $0) != false }
    }

    /// The address that an origin has for a host, without its brackets.
    private static func address(in origin: String) -> String {
        let host = origin.firstRange(of: "://").map { origin[$0.upperBound...] } ?? origin[...]
        let end = host.lastIndex(of: ":") ?? host.endIndex
        return host[..<end].filter { $0 != "[" && $0 != "]" }
    }
}
