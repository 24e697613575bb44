import CTestSupport
import Foundation
import Glibc

/// A listening socket on loopback.
struct OriginListener {
    let socket: Int32
    let port: UInt16

    /// Listens on `port`, or on a free one for 0.
    ///
    /// With `listens` false, the port is only reserved. `namespace` is the path of a network
    /// namespace for the socket.
    ///
    /// `longestSegment` limits the TCP segments of its connections. Those of loopback have 64 KiB.
    /// If a send buffer cannot hold two of them, each acknowledgement takes 40 ms.
    ///
    /// - Throws: ``SystemCallError``.
    init(
        address: String, port: UInt16, listens: Bool = true, longestSegment: Int32? = nil,
        namespace: String? = nil
    ) throws {
        socket = try makeSocket(Int32(SOCK_STREAM.rawValue), in: namespace)
        do {
            var yes: Int32 = 1
            setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(4))
            if var length = longestSegment {
                setsockopt(socket, Int32(IPPROTO_TCP), TCP_MAXSEG, &length, socklen_t(4))
            }
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = port.bigEndian
            try checked(
                inet_pton(AF_INET, address, &name.sin_addr) == 1 ? 0 : -1, "address \(address)")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let socket = socket
            try withUnsafeMutablePointer(to: &name) { name in
                try name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                    try checked(bind(socket, name, length), "bind \(address):\(port)")
                    if listens { try checked(listen(socket, 1024), "listen") }
                    try checked(getsockname(socket, name, &length), "getsockname")
                }
            }
            self.port = UInt16(bigEndian: name.sin_port)
        } catch {
            close(socket)
            throw error
        }
    }
}

/// Creates an IPv4 socket, in the network namespace at a path if one is given.
///
/// - Throws: ``SystemCallError``.
func makeSocket(_ type: Int32, in namespace: String? = nil) throws -> Int32 {
    guard let namespace else { return try checked(socket(AF_INET, type, 0), "socket") }
    return try checked(
        segget_test_socket_in(namespace, AF_INET, type), "socket in \(namespace)")
}

/// The thread that accepts connections from one listening socket.
final class OriginAcceptor: Sendable {
    private let stopSignal: StopSignal
    private let done = Guarded(false)

    /// Starts the thread; it passes each new socket to `serve`, and closes the listener when it
    /// ends.
    ///
    /// - Throws: ``SystemCallError``.
    init(_ listener: OriginListener, _ serve: @escaping @Sendable (Int32) -> Void) throws {
        do {
            stopSignal = try StopSignal()
        } catch {
            close(listener.socket)
            throw error
        }
        let wire = Wire(socket: listener.socket, stop: stopSignal)
        let done = done
        let thread = Thread {
            while wire.wait(for: Int16(POLLIN)) == .ready {
                let socket = accept(listener.socket, nil, nil)
                guard socket >= 0 else { continue }
                var yes: Int32 = 1
                setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(4))
                serve(socket)
            }
            close(listener.socket)
            done.withLock { $0 = true }
        }
        thread.start()
    }

    /// Closes the listening socket and ends the thread.
    func stop() {
        stopSignal.raise()
        _ = done.wait(timeout: 120) { $0 }
    }
}
