import Foundation
import Glibc

/// A relay of TCP connections on loopback that breaks them, in front of a TLS server or a proxy.
public final class Relay: Sendable {
    /// How a connection breaks after a number of bytes from the server.
    public enum Break: Sendable {
        /// It is closed.
        case close
        /// It is reset.
        case reset
        /// It stalls.
        case silence
    }

    /// When and how a connection breaks.
    public struct Plan: Sendable {
        /// Bytes from the server before the break.
        public let bytes: Int
        /// The kind of break.
        public let end: Break

        /// Breaks after this many bytes.
        public init(after bytes: Int, _ end: Break) {
            self.bytes = bytes
            self.end = end
        }
    }

    /// The port that it listens on.
    public let port: UInt16
    private let stopSignal: StopSignal
    private let acceptor: OriginAcceptor
    private let state: Guarded<(accepted: Int, open: Int)>

    /// Starts it.
    ///
    /// - Parameters:
    ///   - target: the port on loopback that it connects to.
    ///   - plan: the break of each connection, by its number from 1; `nil` for none.
    /// - Throws: ``SystemCallError``.
    public convenience init(to target: UInt16, _ plan: @escaping @Sendable (Int) -> Plan?) throws {
        try self.init(toEach: { _ in target }, plan)
    }

    /// Starts it; the port that a connection is relayed to depends on its number.
    ///
    /// - Throws: ``SystemCallError``.
    public init(
        toEach target: @escaping @Sendable (Int) -> UInt16,
        _ plan: @escaping @Sendable (Int) -> Plan? = { _ in nil }
    ) throws {
        let stop = try StopSignal()
        let state = Guarded((accepted: 0, open: 0))
        let listener = try OriginListener(address: "127.0.0.1", port: 0)
        stopSignal = stop
        self.state = state
        port = listener.port
        acceptor = try OriginAcceptor(listener) { client in
            let number = state.withLock { state in
                state.accepted += 1
                state.open += 1
                return state.accepted
            }
            let thread = Thread {
                Self.pass(client, target(number), plan(number), stop)
                state.withLock { $0.open -= 1 }
            }
            thread.start()
        }
    }

    deinit {
        acceptor.stop()
        stopSignal.raise()
        _ = state.wait(timeout: 60) { $0.open == 0 }
    }

    /// The number of connections until now.
    public var accepted: Int { state.withLock { $0.accepted } }

    private static func pass(_ client: Int32, _ target: UInt16, _ plan: Plan?, _ stop: StopSignal) {
        defer { close(client) }
        guard let server = connected(to: target) else { return }
        defer { close(server) }
        let wire = Wire(socket: client, stop: stop)
        var left = plan?.bytes ?? .max
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            if left == 0 {
                guard let plan else { return }
                switch plan.end {
                case .close: break
                case .reset:
                    var linger = linger(l_onoff: 1, l_linger: 0)
                    setsockopt(
                        client, SOL_SOCKET, SO_LINGER, &linger,
                        socklen_t(MemoryLayout<linger>.size))
                case .silence: _ = wire.pause(600)
                }
                return
            }
            var polled = [client, server, stop.readEnd].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            guard poll(&polled, 3, -1) > 0 else { continue }
            if polled[2].revents != 0 { return }
            for (from, to) in [(0, server), (1, client)] where polled[from].revents != 0 {
                let most = from == 1 ? min(left, buffer.count) : buffer.count
                let count = recv(polled[from].fd, &buffer, most, 0)
                guard count > 0 else { return }
                let output = Wire(socket: to, stop: stop)
                let isSent = buffer.withUnsafeBytes {
                    output.send(UnsafeRawBufferPointer(rebasing: $0[..<count]))
                }
                guard isSent else { return }
                if from == 1 { left -= count }
            }
        }
    }

    private static func connected(to port: UInt16) -> Int32? {
        guard let socket = try? makeSocket(Int32(SOCK_STREAM.rawValue)) else { return nil }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else {
            close(socket)
            return nil
        }
        return socket
    }
}
