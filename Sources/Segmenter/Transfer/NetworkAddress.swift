import CCurl
import Glibc

/// An address of IPv4 (4 bytes) or IPv6 (16 bytes).
struct NetworkAddress: Sendable, Hashable {
    private let bytes: [UInt8]

    /// Reads the text of an address.
    ///
    /// - Returns: `nil` for any other text, and for an address with a zone.
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

    /// Takes the address that libcurl is about to connect to.
    ///
    /// - Returns: `nil` for one that is of neither family.
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

    /// The address in its usual form.
    var text: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(
            bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(INET6_ADDRSTRLEN))
        return text.withUnsafeBufferPointer { buffer in
            buffer.baseAddress.map { String(cString: $0) } ?? ""
        }
    }

    /// Whether it is this machine's, one of a network that is not the internet, or nobody's own (multicast,
    /// broadcast); of an address of IPv6 that stands for one of IPv4, whether that is.
    var isPrivate: Bool {
        guard bytes.count == 16 else { return Self.isPrivate(bytes[...]) }
        func begins(_ prefix: UInt8...) -> Bool { bytes.starts(with: prefix) }
        // IPv4-compatible (`::` and `::1` too), IPv4-mapped (RFC 4291 §2.5.5), NAT64 (RFC 6052).
        if begins(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
            || begins(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff)
            || begins(0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0)
        {
            return Self.isPrivate(bytes[12...])
        }
        // 6to4 (RFC 3056).
        if begins(0x20, 0x02) { return Self.isPrivate(bytes[2..<6]) }
        // NAT64 of a network's own (RFC 8215).
        if begins(0, 0x64, 0xff, 0x9b, 0, 1) { return true }
        switch (bytes[0], bytes[1]) {
        // Unique local (RFC 4193), link-local, site-local (RFC 3879), multicast.
        case (0xfc...0xfd, _), (0xfe, 0x80...), (0xff, _): return true
        default: return false
        }
    }

    /// Whether the four bytes of an address of IPv4 are such a one (RFC 6890).
    private static func isPrivate(_ ipv4: ArraySlice<UInt8>) -> Bool {
        switch (ipv4[ipv4.startIndex], ipv4[ipv4.startIndex + 1]) {
        // This network, RFC 1918, loopback.
        case (0, _), (10, _), (127, _): true
        // Shared by customers of a provider (RFC 6598).
        case (100, 64...127): true
        // Link-local, RFC 1918.
        case (169, 254), (172, 16...31), (192, 168): true
        // Multicast, reserved, broadcast.
        case (224..., _): true
        default: false
        }
    }
}

/// Judges the addresses that one transfer connects to, where it must not reach private ones.
struct AddressGuard {
    /// The private address that was refused; `nil` where there was none, or where another one that is not private
    /// was tried, too.
    private(set) var denied: String?
    private var hasPublic = false

    /// Whether an address may be connected to, or written to; one that cannot be read may not.
    mutating func allows(_ address: NetworkAddress?) -> Bool {
        if let address, !address.isPrivate {
            (denied, hasPublic) = (nil, true)
            return true
        }
        if !hasPublic { denied = address?.text ?? "" }
        return false
    }

    /// Whether a request may go out on a connection that may be older, to the address of this text.
    mutating func allowsRequest(to text: String) -> Bool {
        hasPublic = false
        return allows(NetworkAddress(text))
    }
}
