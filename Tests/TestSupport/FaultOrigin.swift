import Foundation
import Glibc

/// An HTTP/1.1 server on loopback that answers every request as a closure says, however wrong.
///
/// One thread a connection; the closure runs on it, and must not wait for something that needs
/// the origin to stop.
public final class FaultOrigin: Sendable {
    /// The closure that answers.
    public typealias Handler = @Sendable (OriginRequest) -> OriginReply

    /// The port that it listens on.
    public let port: UInt16
    private let address: String
    private let namespace: String?
    private let longestSegment: Int32?
    private let stopSignal: StopSignal
    private let log: Guarded<OriginLog>
    private let acceptor: Guarded<OriginAcceptor?>
    /// Keeps the port while connections are refused.
    private let place = Guarded<OriginListener?>(nil)
    private let serve: @Sendable (Int32) -> Void

    /// Starts the server on a free port.
    ///
    /// - Parameters:
    ///   - address: the address to listen on, to have several hosts; on loopback 127.0.0.1 otherwise.
    ///   - port: the port to listen on, to have hosts that differ in their address alone.
    ///   - network: two namespaces, to listen in the server's.
    ///   - sendBuffer: size of the sockets' send buffers in bytes; a small one makes
    ///     ``bytesServed`` follow closely what the peer has read.
    ///   - handler: answers a request.
    /// - Throws: ``SystemCallError``.
    public init(
        address: String? = nil, port: UInt16 = 0, network: NetworkPair? = nil,
        sendBuffer: Int32? = nil, _ handler: @escaping Handler
    ) throws {
        let address = address ?? (network == nil ? "127.0.0.1" : NetworkPair.serverAddress)
        namespace = network?.serverPath
        let stopSignal = try StopSignal()
        let log = Guarded(OriginLog())
        longestSegment = sendBuffer.map { min(8192, $0 / 2) }
        let listener = try OriginListener(
            address: address, port: port, longestSegment: longestSegment, namespace: namespace)
        self.stopSignal = stopSignal
        self.log = log
        self.address = address
        self.port = listener.port
        serve = { socket in
            let number = log.withLock { $0.opened(socket) }
            let thread = Thread {
                if var size = sendBuffer {
                    setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(4))
                }
                let wire = Wire(socket: socket, stop: stopSignal)
                OriginConnection(wire: wire, number: number, log: log, handler: handler).run()
                // Under the lock, so that the number is not another socket's by then.
                log.withLock { $0.closing(socket) }
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        acceptor = Guarded(nil)
        try acceptor.withLock { $0 = try OriginAcceptor(listener, serve) }
    }

    deinit { stop() }

    /// The URL of `path` on this server.
    public func url(_ path: String) -> String {
        "http://\(address):\(port)\(path.hasPrefix("/") ? "" : "/")\(path)"
    }

    /// All requests so far, in the order of their numbers, with what was served for each.
    public var requests: [OriginRequest] { log.withLock { $0.requests } }
    /// Body bytes written to sockets so far; the last of them may not have arrived.
    public var bytesServed: Int64 { log.withLock { $0.bytesServed } }
    /// Connections that are open now.
    public var openConnections: Int { log.withLock { $0.sockets.count } }
    /// The most connections that were open at a time.
    public var peakConnections: Int { log.withLock { $0.peak } }
    /// Connections that were ever accepted.
    public var acceptedConnections: Int { log.withLock { $0.accepted } }

    /// Waits until all connections are closed, for some seconds: what a client has asked for just before
    /// its end may be heard after it.
    public func hearOut() { _ = eventually(timeout: 5) { openConnections == 0 } }

    /// Stops listening: the kernel refuses new connections; those that are open go on.
    public func refuseConnections() {
        acceptor.withLock { acceptor in
            guard let old = acceptor else { return }
            old.stop()
            acceptor = nil
            // Bound, and not listening: nobody else is given the port meanwhile.
            let listener = try? OriginListener(
                address: address, port: port, listens: false, longestSegment: longestSegment,
                namespace: namespace)
            place.withLock { $0 = listener }
        }
    }

    /// Listens again, on the same port, after ``refuseConnections()``.
    ///
    /// - Throws: ``SystemCallError``, when another process has taken the port.
    public func acceptConnections() throws {
        try acceptor.withLock { acceptor in
            guard acceptor == nil else { return }
            let kept = place.withLock { place in
                defer { place = nil }
                return place
            }
            let listener =
                try kept
                ?? OriginListener(
                    address: address, port: port, longestSegment: longestSegment,
                    namespace: namespace)
            if kept != nil { try checked(listen(listener.socket, 1024), "listen") }
            acceptor = try OriginAcceptor(listener, serve)
        }
    }

    /// Breaks all connections that are open now, as a server that is restarted does.
    public func dropConnections() {
        log.withLock { log in
            for socket in log.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes everything and waits until all threads are done; at once when it was stopped before.
    public func stop() {
        refuseConnections()
        place.withLock { place in
            if let place { close(place.socket) }
            place = nil
        }
        stopSignal.raise()
        let done = log.wait(timeout: 180) { $0.sockets.isEmpty }
        precondition(done, "a handler of the origin does not return")
    }
}

/// What an origin remembers, guarded by its lock.
struct OriginLog {
    private(set) var requests: [OriginRequest] = []
    private(set) var sockets: Set<Int32> = []
    private(set) var bytesServed: Int64 = 0
    private(set) var peak = 0
    private(set) var accepted = 0

    /// Notes a new connection and gives it a number.
    mutating func opened(_ socket: Int32) -> Int {
        sockets.insert(socket)
        peak = max(peak, sockets.count)
        accepted += 1
        return accepted
    }

    /// Closes a connection.
    mutating func closing(_ socket: Int32) {
        sockets.remove(socket)
        close(socket)
    }

    mutating func append(_ request: OriginRequest) { requests.append(request) }

    mutating func served(_ count: Int, for request: OriginRequest) {
        bytesServed += Int64(count)
        requests[request.number - 1].bytesServed += Int64(count)
    }

    mutating func answering(_ request: OriginRequest, status: Int?) {
        requests[request.number - 1].status = status
    }

    mutating func finished(_ request: OriginRequest) {
        requests[request.number - 1].finished = monotonicSeconds()
    }
}
