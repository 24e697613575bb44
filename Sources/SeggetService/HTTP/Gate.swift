import Glibc
import NIOHTTP1

/// Who may ask over TCP: pages of other sites may not, by whatever name they reach this machine.
///
/// Pure.
package struct Gate: Sendable {
    /// Names by which the service may be asked for, in lower case, beside `localhost` and all addresses: a page of
    /// another site reaches it by a name that leads here, and no address does that.
    package var hosts: Set<String> = []
    /// Pages of these origins may ask; `*` stands for all of them.
    package var origins: Set<String> = []

    /// Makes a gate that lets in whoever is no page of another site.
    package init() {}

    /// Why a request is refused by its head.
    ///
    /// - Parameters:
    ///   - headers: Its fields.
    ///   - isPage: Whether it asks for what a link may lead to from anywhere: it is shown, and no page reads it.
    /// - Returns: The refusal; `nil` where it is let in.
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

    /// The origin whose page may read an answer; `nil` where none was named, or it may not.
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

    /// The host of a `Host` field (RFC 9110 §7.2) without its port, in lower case; of an address of IPv6 without the
    /// brackets.
    static func name(ofHost field: String) -> String {
        if field.hasPrefix("[") {
            return field.dropFirst().prefix { $0 != "]" }.lowercased()
        }
        return field.prefix { $0 != ":" }.lowercased()
    }
}

/// How long whoever failed to show the secret waits for an answer, by its address.
///
/// Pure.
struct Lockout: Sendable {
    /// The first delay, in seconds; each further failure doubles it.
    static let shortest = 1.0
    /// The longest delay, in seconds.
    static let longest = 16.0
    /// Time after which failures are forgotten, in seconds.
    static let memory = 300.0
    /// The most addresses that are remembered.
    static let most = 4096

    private var failures: [String: (count: Int, last: Double)] = [:]

    /// Notes a failure.
    ///
    /// - Parameters:
    ///   - address: Whose.
    ///   - now: The time, in seconds on any clock.
    /// - Returns: Seconds until it is to be answered.
    mutating func fail(_ address: String, now: Double) -> Double {
        if failures.count >= Self.most {
            failures = failures.filter { now - $0.value.last < Self.memory }
            // So many at a time are one attack: all of them are treated alike.
            if failures.count >= Self.most { failures = [:] }
        }
        var entry = failures[address] ?? (0, now)
        if now - entry.last >= Self.memory { entry.count = 0 }
        entry = (min(entry.count + 1, 16), now)
        failures[address] = entry
        return min(Self.longest, Self.shortest * Double(1 << (entry.count - 1)))
    }

    /// Forgets the failures of an address, from which the secret came.
    mutating func succeed(_ address: String) { failures[address] = nil }
}
