import Glibc
import NIOHTTP1

/// Decides which requests over TCP are allowed: pages of other sites are refused under any host
/// name.
///
/// Pure.
package struct Gate: Sendable {
    /// Additional host names of the service, in lower case.
    ///
    /// `localhost` and all IP addresses are always allowed. DNS rebinding needs a name that another
    /// site controls, and an address is none.
    package var hosts: Set<String> = []
    /// The origins whose pages may send requests; `*` means all.
    package var origins: Set<String> = []

    /// Creates a gate that refuses only pages of other sites.
    package init() {}

    /// Returns the reason to refuse a request by its head.
    ///
    /// - Parameters:
    ///   - headers: The header fields.
    ///   - isPage: Whether the target is a page that any link may lead to; a browser shows it, and
    ///     scripts of other sites cannot read it.
    /// - Returns: The refusal; `nil` if the request is allowed.
    func refusal(_ headers: HTTPHeaders, isPage: Bool = false) -> Refusal? {
        guard let host = headers.first(name: "host"), isOwn(Self.name(ofHost: host)) else {
            return .otherName
        }
        let origins = headers["origin"]
        if origins.count == 1, allows(origin: origins[0]) { return nil }
        guard origins.allSatisfy({ $0.lowercased() == "http://\(host.lowercased())" }) else {
            return Refusal("pages of this origin may not send requests", status: 403)
        }
        if isPage, headers["sec-fetch-mode"] == ["navigate"],
            headers["sec-fetch-dest"] == ["document"]
        {
            return nil
        }
        let sites = headers["sec-fetch-site"]
        guard sites.allSatisfy({ ["same-origin", "none"].contains($0) }) else {
            return Refusal("pages of other sites may not send requests", status: 403)
        }
        return nil
    }

    /// Returns the origin whose page may read the response; `nil` if there is none, or it may not.
    func origin(_ headers: HTTPHeaders) -> String? {
        headers.first(name: "origin").flatMap { allows(origin: $0) ? $0 : nil }
    }

    private func allows(origin: String) -> Bool {
        origins.contains("*") || origins.contains(origin.lowercased())
    }

    private func isOwn(_ name: String) -> Bool {
        var bytes = in6_addr()
        return name == "localhost" || hosts.contains(name)
            || inet_pton(AF_INET, name, &bytes) == 1 || inet_pton(AF_INET6, name, &bytes) == 1
    }

    /// Returns the host of a `Host` field (RFC 9110 §7.2) in lower case, without the port.
    ///
    /// IPv6 addresses are without brackets.
    static func name(ofHost field: String) -> String {
        if field.hasPrefix("[") {
            return field.dropFirst().prefix { $0 != "]" }.lowercased()
        }
        return field.prefix { $0 != ":" }.lowercased()
    }
}

/// Calculates the delay of the response to a wrong secret, for each address.
///
/// Pure.
struct Lockout: Sendable {
    /// The delay after the first failure, in seconds; each further failure doubles it.
    static let shortest = 1.0
    /// The longest delay, in seconds.
    static let longest = 16.0
    /// The time after which failures are forgotten, in seconds.
    static let memory = 300.0
    /// The most addresses that are recorded.
    static let most = 4096

    private var failures: [String: (count: Int, last: Double)] = [:]

    /// Records a failure.
    ///
    /// - Parameters:
    ///   - address: The client's address.
    ///   - now: The time, in seconds on any clock.
    /// - Returns: The delay of the response, in seconds.
    mutating func fail(_ address: String, now: Double) -> Double {
        if failures.count >= Self.most {
            failures = failures.filter { now - $0.value.last < Self.memory }
            // So many addresses are a single attack; forgetting all of them limits the memory.
            if failures.count >= Self.most { failures = [:] }
        }
        var entry = failures[address] ?? (0, now)
        if now - entry.last >= Self.memory { entry.count = 0 }
        entry = (min(entry.count + 1, 16), now)
        failures[address] = entry
        return min(Self.longest, Self.shortest * Double(1 << (entry.count - 1)))
    }

    /// Forgets the failures of an address that has sent the secret.
    mutating func succeed(_ address: String) { failures[address] = nil }
}
