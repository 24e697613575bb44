import CTestSupport
import Foundation
import Glibc

/// Network namespaces of a server and a client, connected by a veth pair that can be disconnected.
///
/// Creating them needs root. They are deleted with the last reference.
public final class NetworkPair: Sendable {
    /// Address of the server's end (RFC 5737: for documentation).
    public static let serverAddress = "198.51.100.1"
    /// Why tests that need namespaces are skipped; `nil` if they can be created.
    public static let unavailable: String? = {
        guard geteuid() == 0 else { return "network namespaces need root" }
        do {
            let pair = try NetworkPair()
            try pair.cut(ports: [1])
            return nil
        } catch {
            return "no network namespaces here: \(error)"
        }
    }()
    private static let count = Guarded(0)

    /// The interface that is disconnected.
    public enum End: Sendable, CaseIterable {
        /// The client's interface goes down, and its routes with it.
        case client
        /// The server's interface goes down, and the client's has no carrier.
        case server
    }

    private let server: String
    private let client: String

    /// Creates both namespaces and connects them.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public init() throws {
        let number = Self.count.withLock { count in
            count += 1
            return count
        }
        server = "segget-\(getpid())-\(number)-s"
        client = "segget-\(getpid())-\(number)-c"
        for name in [server, client] {
            try Self.run("/usr/sbin/ip", ["netns", "add", name])
            try Self.run("/usr/sbin/ip", ["-n", name, "link", "set", "lo", "up"])
        }
        try ip(
            "link", "add", "wire", "netns", server, "type", "veth", "peer", "name", "wire", "netns",
            client)
        try ip("-n", server, "addr", "add", "\(Self.serverAddress)/24", "dev", "wire")
        try ip("-n", client, "addr", "add", "198.51.100.2/24", "dev", "wire")
        try plug(.server)
        try plug(.client)
    }

    deinit {
        for name in [server, client] {
            _ = try? Self.run("/usr/sbin/ip", ["netns", "del", name])
            try? FileManager.default.removeItem(atPath: "/etc/netns/\(name)")
        }
    }

    /// Path of the server's namespace.
    var serverPath: String { "/run/netns/\(server)" }
    /// Path of the client's namespace.
    var clientPath: String { "/run/netns/\(client)" }
    /// The command prefix that runs a program in the client's namespace.
    public var entry: [String] { ["/usr/sbin/ip", "netns", "exec", client] }

    /// Disconnects the wire: packets are lost without an error.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public func unplug(_ end: End) throws { try set(end, "down") }

    /// Reconnects the wire.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public func plug(_ end: End) throws { try set(end, "up") }

    private func set(_ end: End, _ state: String) throws {
        try ip("-n", end == .client ? client : server, "link", "set", "wire", state)
    }

    /// Gives the server one more address.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public func addServerAddress(_ address: String) throws {
        try ip("-n", server, "addr", "add", "\(address)/24", "dev", "wire")
    }

    /// Gives the client a default route through the server.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public func addDefaultRoute() throws {
        try ip("-n", client, "route", "add", "default", "via", Self.serverAddress)
    }

    /// Replaces the client's address, which breaks its connections.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public func changeClientAddress() throws {
        try ip("-n", client, "addr", "del", "198.51.100.2/24", "dev", "wire")
        try ip("-n", client, "addr", "add", "198.51.100.3/24", "dev", "wire")
    }

    /// Returns the client's ports with an established connection to the server.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public func clientPorts() throws -> [UInt16] {
        let lines = try Self.run(
            "/usr/sbin/ip", ["netns", "exec", client, "/bin/cat", "/proc/net/tcp"])
        return lines.split(separator: "\n").dropFirst().compactMap { line in
            let fields = line.split(separator: " ")
            // 01 is ESTABLISHED.
            guard fields.count > 3, fields[3] == "01" else { return nil }
            return fields[1].split(separator: ":").last.flatMap { UInt16($0, radix: 16) }
        }
    }

    /// Drops all packets of connections from these ports of the client, in both directions.
    ///
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public func cut(ports: [UInt16]) throws {
        let list = ports.map(String.init).joined(separator: ",")
        try Self.run(
            "/usr/sbin/ip",
            [
                "netns", "exec", server, "/usr/sbin/nft",
                """
                add table inet t;
                add chain inet t i { type filter hook input priority 0; };
                add chain inet t o { type filter hook output priority 0; };
                add rule inet t i tcp sport { \(list) } drop;
                add rule inet t o tcp dport { \(list) } drop
                """,
            ])
    }

    /// Makes programs in the client's namespace use a name server on its loopback.
    ///
    /// - Parameter options: of resolv.conf(5), such as `timeout:1`.
    /// - Throws: Foundation's error.
    func useNameServer(options: String) throws {
        let folder = "/etc/netns/\(client)"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        try Data("nameserver 127.0.0.1\noptions \(options)\n".utf8).write(
            to: URL(fileURLWithPath: "\(folder)/resolv.conf"))
    }

    /// Runs a closure on this thread in the client's namespace; the closure must not suspend.
    ///
    /// - Throws: ``SystemCallError``.
    public func inClient<Made>(_ make: () -> Made) throws -> Made {
        let ours = try checked(segget_test_enter_network(clientPath), "setns \(clientPath)")
        defer { segget_test_leave_network(ours) }
        return make()
    }

    private func ip(_ arguments: String...) throws { try Self.run("/usr/sbin/ip", arguments) }

    @discardableResult
    private static func run(_ tool: String, _ arguments: [String]) throws -> String {
        let outcome = try Run(tool, arguments).wait(timeout: 60)
        guard outcome.exitCode == 0 else {
            throw ToolFailure(
                tool: ([tool] + arguments).joined(separator: " "), text: outcome.errorOutput)
        }
        return outcome.output
    }
}
