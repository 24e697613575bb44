import CLinux

/// Checks whether the kernel has a route to a host.
///
/// Nothing is sent to the host; its name is looked up.
package enum HostRoute {
    /// Reserved addresses (RFC 5737, RFC 3849): a route to them is a route to the internet.
    private static let anywhere = ["192.0.2.1", "2001:db8::1"]

    /// Returns whether there is a route to an address; there always is one to this machine.
    ///
    /// - Returns: `nil` if the text is not an address.
    package static func leads(to address: String) -> Bool? {
        let found = segget_has_route(address)
        return found < 0 ? nil : found == 1
    }

    /// Returns whether there is a route to any address of a host.
    ///
    /// If the name cannot be resolved, the result is whether there is a route to the internet.
    ///
    /// - Parameters:
    ///   - origin: The scheme, host and port.
    ///   - access: The options of the request; the addresses that they give replace the look-up.
    /// - Returns: Whether there is a route.
    package static func leads(toOrigin origin: String, _ access: AccessOptions) async -> Bool {
        guard let host = NamedHost(origin: origin) else {
            // The host is an address, or this machine.
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

    /// Returns the host of an origin without brackets.
    private static func address(in origin: String) -> String {
        let host = origin.firstRange(of: "://").map { origin[$0.upperBound...] } ?? origin[...]
        let end = host.lastIndex(of: ":") ?? host.endIndex
        return host[..<end].filter { $0 != "[" && $0 != "]" }
    }
}
