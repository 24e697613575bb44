import Foundation
import Glibc

/// A name server on the loopback of a client's namespace, which knows one host and may fail.
public final class NameServer: Sendable {
    /// How it answers a query.
    public enum Mood: Sendable {
        /// With the server's address for each name that ends in `.test`.
        case answers
        /// With SERVFAIL.
        case fails
        /// With NXDOMAIN: there is no such name.
        case unknown
        /// With an empty answer: the name exists, and has no address.
        case empty
        /// Never.
        case silent
    }

    private let mood: Guarded<Mood>
    /// The last octets of the returned addresses in 198.51.100.0/24.
    private let hosts: [UInt8]
    private let asked = Guarded(0)
    private let stopSignal: StopSignal
    private let done = Guarded(false)

    /// Starts it.
    ///
    /// - Parameters:
    ///   - network: the pair whose client uses it.
    ///   - mood: how it answers at first.
    ///   - hosts: the last octets of the returned addresses in 198.51.100.0/24.
    ///   - options: of resolv.conf(5).
    /// - Throws: ``SystemCallError``.
    public init(_ network: NetworkPair, _ mood: Mood, hosts: [UInt8] = [1], options: String)
        throws
    {
        self.mood = Guarded(mood)
        self.hosts = hosts
        stopSignal = try StopSignal()
        try network.useNameServer(options: options)
        let socket = try makeSocket(Int32(SOCK_DGRAM.rawValue), in: network.clientPath)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(53).bigEndian
        name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let bound = withUnsafePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0 else {
            close(socket)
            throw SystemCallError("bind 127.0.0.1:53")
        }
        let wire = Wire(socket: socket, stop: stopSignal)
        let thread = Thread { [self] in
            while wire.wait(for: Int16(POLLIN)) == .ready { answer(socket) }
            close(socket)
            done.withLock { $0 = true }
        }
        thread.start()
    }

    /// The number of queries until now.
    public var questions: Int { asked.withLock { $0 } }

    /// Changes how it answers.
    public func become(_ mood: Mood) { self.mood.withLock { $0 = mood } }

    /// Stops it; required, because its thread has a reference to it.
    public func stop() {
        stopSignal.raise()
        _ = done.wait(timeout: 60) { $0 }
    }

    private func answer(_ socket: Int32) {
        var peer = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var packet = [UInt8](repeating: 0, count: 512)
        withUnsafeMutablePointer(to: &peer) { peer in
            peer.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                let count = recvfrom(socket, &packet, packet.count, 0, peer, &length)
                guard count > 12 else { return }
                asked.withLock { $0 += 1 }
                guard let reply = reply(to: Array(packet[..<count])) else { return }
                _ = sendto(socket, reply, reply.count, 0, peer, length)
            }
        }
    }

    /// Returns the query with the addresses, or with none (RFC 1035 §4.1).
    private func reply(to question: [UInt8]) -> [UInt8]? {
        let mood = mood.withLock { $0 }
        guard mood != .silent else { return nil }
        // A name consists of labels with a length each; type and class follow.
        var end = 12
        while end < question.count, question[end] != 0 { end += Int(question[end]) + 1 }
        guard end + 5 <= question.count else { return nil }
        let isForAddress = question[end + 2] == 1
        let hasAnswer = mood == .answers && isForAddress
        let code: UInt8 = mood == .fails ? 2 : mood == .unknown ? 3 : 0
        let hosts = hasAnswer ? hosts : []
        var reply = question[0..<2] + [0x81, 0x80 | code, 0, 1, 0, UInt8(hosts.count), 0, 0, 0, 0]
        reply += question[12..<(end + 5)]
        for host in hosts {
            reply += [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, 198, 51, 100, host]
        }
        return Array(reply)
    }
}
