import Foundation
import Glibc

/// An HTTP/1.1 server on loopback that sends files or the replies of a closure, also wrong ones.
///
/// Each connection has a thread, which runs the closure. The closure must not wait for the origin
/// to stop.
public final class Origin: Sendable {
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
    /// Reserves the port while connections are refused.
    private let place = Guarded<OriginListener?>(nil)
    private let serve: @Sendable (Int32) -> Void
    /// The files that it serves; `nil` if a closure makes the replies.
    let offer: Guarded<Offer>?

    /// Starts the server on a free port.
    ///
    /// - Parameters:
    ///   - address: the address to listen on, for several hosts; the default on loopback is
    ///     127.0.0.1.
    ///   - port: the port to listen on, for hosts that differ only in their address.
    ///   - network: a pair of namespaces; it listens in the server's.
    ///   - sendBuffer: size of the sockets' send buffers in bytes; with a small one,
    ///     ``bytesServed`` is close to what the peer has read.
    ///   - handler: answers a request.
    /// - Throws: ``SystemCallError``.
    public convenience init(
        address: String? = nil, port: UInt16 = 0, network: NetworkPair? = nil,
        sendBuffer: Int32? = nil, _ handler: @escaping Handler
    ) throws {
        try self.init(
            address: address, port: port, network: network, sendBuffer: sendBuffer, offer: nil,
            handler)
    }

    init(
        address: String?, port: UInt16 = 0, network: NetworkPair?, sendBuffer: Int32?,
        offer: Guarded<Offer>?, _ handler: @escaping Handler
    ) throws {
        self.offer = offer
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
                // The lock prevents another socket from having this number already.
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

    /// All requests until now in order of their numbers, each with the number of bytes served.
    public var requests: [OriginRequest] { log.withLock { $0.requests } }
    /// Body bytes written to sockets until now; some may not have arrived.
    public var bytesServed: Int64 { log.withLock { $0.bytesServed } }
    /// The number of open connections.
    public var openConnections: Int { log.withLock { $0.sockets.count } }
    /// The largest number of connections that were open at once.
    public var peakConnections: Int { log.withLock { $0.peak } }
    /// The number of accepted connections until now.
    public var acceptedConnections: Int { log.withLock { $0.accepted } }

    /// Waits up to 5 s until all connections are closed, to log the last requests of a client that
    /// has ended.
    public func hearOut() { _ = eventually(timeout: 5) { openConnections == 0 } }

    /// Stops listening: the kernel refuses new connections; open ones remain.
    public func refuseConnections() {
        acceptor.withLock { acceptor in
            guard let old = acceptor else { return }
            old.stop()
            acceptor = nil
            // The socket is bound but not listening, so no other process receives the port.
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

    /// Closes all open connections, like a server that is restarted.
    public func dropConnections() {
        log.withLock { log in
            for socket in log.sockets { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Closes everything and waits until all threads have ended; does nothing if it is stopped
    /// already.
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

/// The log of an origin, guarded by its lock.
struct OriginLog {
    private(set) var requests: [OriginRequest] = []
    private(set) var sockets: Set<Int32> = []
    private(set) var bytesServed: Int64 = 0
    private(set) var peak = 0
    private(set) var accepted = 0

    /// Counts a new connection and returns its number.
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
