import CCurl
import Glibc

/// An IPv4 address (4 bytes) or IPv6 address (16 bytes).
struct NetworkAddress: Sendable, Hashable {
    private let bytes: [UInt8]

    /// Parses the text of an address.
    ///
    /// - Returns: `nil` if the text is not an address, or an address with a zone.
    init?(_ text: String) {
        var (ipv4, ipv6) = (in_addr(), in6_addr())
        if inet_pton(AF_INET, text, &ipv4) == 1 {
            bytes = withUnsafeBytes(of: ipv4) { Array($0) }
        } else if inet_pton(AF_INET6, text, &ipv6) == 1 {
            bytes = withUnsafeBytes(of: ipv6) { Array($0) }
        } else {
            return nil
        }
    }

    /// Converts the address that libcurl is about to connect to.
    ///
    /// - Returns: `nil` if the family is neither IPv4 nor IPv6.
    init?(_ address: UnsafePointer<curl_sockaddr>) {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let start = UnsafeRawPointer(address) + offset
        switch address.pointee.family {
        case AF_INET:
            let ipv4 = start.loadUnaligned(as: sockaddr_in.self).sin_addr
            bytes = withUnsafeBytes(of: ipv4) { Array($0) }
        case AF_INET6:
            let ipv6 = start.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            bytes = withUnsafeBytes(of: ipv6) { Array($0) }
        default: return nil
        }
    }

    /// The address in text form, as inet_ntop(3) writes it.
    var text: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(
            bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(INET6_ADDRSTRLEN))
        return text.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
    }

    /// Whether the address is not a unicast address of the internet.
    ///
    /// That is the case for loopback, private, link-local, multicast, broadcast and reserved
    /// addresses. If an IPv6 address contains an IPv4 address, the IPv4 address decides.
    var isPrivate: Bool {
        guard bytes.count == 16 else { return Self.isPrivate(bytes[...]) }
        func begins(_ prefix: UInt8...) -> Bool { bytes.starts(with: prefix) }
        // IPv4-compatible, with `::` and `::1`; IPv4-mapped (RFC 4291 §2.5.5); NAT64 (RFC 6052).
        if begins(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            || begins(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)
            || begins(0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0)
        {
            return Self.isPrivate(bytes[12...])
        }
        // 6to4 (RFC 3056).
        if begins(0x20, 0x02) { return Self.isPrivate(bytes[2..<6]) }
        // Local-use NAT64 (RFC 8215).
        if begins(0, 0x64, 0xff, 0x9b, 0, 1) { return true }
        switch (bytes[0], bytes[1]) {
        // Unique local (RFC 4193), link-local, site-local (RFC 3879), multicast.
        case (0xfc...0xfd, _), (0xfe, 0x80...), (0xff, _): return true
        default: return false
        }
    }

    /// Returns whether the four bytes are a private IPv4 address (RFC 6890).
    private static func isPrivate(_ ipv4: ArraySlice<UInt8>) -> Bool {
        switch (ipv4[ipv4.startIndex], ipv4[ipv4.startIndex + 1]) {
        // "This network", RFC 1918, loopback.
        case (0, _), (10, _), (127, _): true
        // Shared address space of carrier-grade NAT (RFC 6598).
        case (100, 64...127): true
        // Link-local, RFC 1918.
        case (169, 254), (172, 16...31), (192, 168): true
        // Multicast, reserved, broadcast.
        case (224..., _): true
        default: false
        }
    }
}

/// Checks the addresses of one transfer that must not reach private ones.
struct AddressGuard {
    /// The refused private address; `nil` if there was none, or if a public address was also tried.
    private(set) var denied: String?
    private var hasPublic = false

    /// Returns whether the transfer may use an address; `nil`, for an unreadable one, is refused.
    mutating func allows(_ address: NetworkAddress?) -> Bool {
        if let address, !address.isPrivate {
            (denied, hasPublic) = (nil, true)
            return true
        }
        if !hasPublic { denied = address?.text ?? "" }
        return false
    }

    /// Returns whether a request may be sent to the address in `text`.
    ///
    /// The connection may be a reused one, whose address was not checked when it was opened.
    mutating func allowsRequest(to text: String) -> Bool {
        hasPublic = false
        return allows(NetworkAddress(text))
    }
}
