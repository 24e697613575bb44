// HTTP: the server and the client, for requests and responses over Unix sockets and TCP. This
// folder uses the API; it does not know what a command means.

import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
package import SeggetQueue
import SeggetReports
import Synchronization

/// Serves the API of a queue over HTTP/1.1: on a Unix socket to this user's processes, and over
/// TCP.
///
/// It has one thread. A slow call of the queue delays only the client that sent the request.
package final class QueueServer: Sendable {
    /// The path of the socket.
    package let path: String
    private let entry: SocketEntry?
    private let limits: ServerLimits
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let api: QueueAPI
    /// The tokens that allow a browser to log in to the page.
    package let openings = OpeningTokens()
    private let webListeners = Mutex<[any Channel]>([])
    private let connections: NIOLoopBoundBox<[ObjectIdentifier: any Channel]>
    private let webConnections: NIOLoopBoundBox<[ObjectIdentifier: any Channel]>
    private let hub: NIOLoopBoundBox<EventHub>

    /// Serves a queue on a socket at the first usable path.
    ///
    /// The caller holds the queue's lock, and writes ``path`` into its file.
    ///
    /// - Parameters:
    ///   - queue: The path of the queue's database, which exists.
    ///   - door: The access to the queue.
    ///   - runtime: The value of `XDG_RUNTIME_DIR`.
    ///   - users: The folder with one folder for each user who is logged in, named by the user's
    ///     id.
    ///   - base: The last resort: a folder in which all users may create folders.
    ///   - limits: The limits for clients.
    /// - Returns: The server, which accepts connections.
    /// - Throws: `QueueError`, if no path is usable, or another process listens there.
    package static func start(
        for queue: String, door: any RPCQueue, runtime: String?, users: String = "/run/user",
        base: String = "/tmp", limits: ServerLimits = ServerLimits()
    ) async throws(QueueError) -> QueueServer {
        for place in try SocketPlace.candidates(
            queue: queue, runtime: runtime, users: users, base: base)
        where place.prepare() {
            do {
                let socket = try ListeningSocket(at: place.path)
                return try await QueueServer(socket, door: door, limits: limits)
            } catch  where error.code == .unavailable {
                // Try the next path: not every file system supports sockets.
                continue
            }
        }
        throw .noSocket(
            "no folder is private to this user, not even \(base)/segget-\(geteuid())")
    }

    /// Serves a queue on a socket that another process listens on for this one, such as systemd.
    ///
    /// The socket remains when the service ends.
    ///
    /// - Throws: `QueueError`.
    package static func start(
        on descriptor: Int32, door: any RPCQueue, limits: ServerLimits = ServerLimits()
    ) async throws(QueueError) -> QueueServer {
        try await QueueServer(
            try ListeningSocket(inherited: descriptor), door: door, limits: limits)
    }

    /// Serves a queue on a socket that is already bound, in a folder that only this user can
    /// access.
    ///
    /// - Throws: `QueueError`, if the server cannot start.
    init(
        _ socket: ListeningSocket, door: any RPCQueue, limits: ServerLimits
    ) async throws(QueueError) {
        (path, entry, self.limits) = (socket.path, socket.entry, limits)
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let connections = NIOLoopBoundBox<[ObjectIdentifier: any Channel]>
            .makeBoxSendingValue([:], eventLoop: group.any())
        self.connections = connections
        webConnections = .makeBoxSendingValue([:], eventLoop: group.any())
        let hub = NIOLoopBoundBox<EventHub>
            .makeBoxSendingValue(EventHub(feed: door, on: group.any()), eventLoop: group.any())
        self.hub = hub
        let api = QueueAPI(door: door, openings: openings)
        self.api = api
        do {
            listener = try await ServerBootstrap(group: group)
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try Self.checkUser(channel)
                        try Self.admit(channel, connections, limits)
                        try Self.equip(channel, api, hub.value, limits)
                    }
                }
                .withBoundSocket(socket.descriptor).answer()
        } catch {
            Glibc.close(socket.descriptor)
            entry?.remove()
            try? await group.shutdownGracefully()
            throw .noSocket("\(path): \(error)")
        }
    }

    /// Shuts the server down: removes the socket, then waits up to `closeTime` for responses in
    /// progress.
    package func close() async {
        entry?.remove()
        try? await listener.close().answer()
        for listener in webListeners.withLock({ $0 }) { try? await listener.close().answer() }
        let (limits, hub) = (limits, hub)
        let streams = group.any().flatSubmit { hub.value.close(within: limits.closeTime) }
        let channels = await everyConnection()
        for channel in channels {
            channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
        let end = group.any().scheduleTask(in: TimeAmount(limits.closeTime)) {
            for channel in channels { channel.close(promise: nil) }
        }
        for channel in channels { try? await channel.closeFuture.answer() }
        end.cancel()
        try? await streams.answer()
        try? await group.shutdownGracefully()
    }

    private func everyConnection() async -> [any Channel] {
        let (connections, web) = (connections, webConnections)
        let all = group.any().submit {
            Array(connections.value.values) + Array(web.value.values)
        }
        return (try? await all.answer()) ?? []
    }

    /// Throws unless the peer is a process of this user.
    private static func checkUser(_ channel: any Channel) throws {
        let isSameUser = try channel.pipeline.syncOperations
            .withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { Peer.isSameUser($0) }
        guard isSameUser == true else { throw NotAdmitted() }
    }

    /// Admits a connection, or throws, which closes it.
    private static func admit(
        _ channel: any Channel, _ connections: NIOLoopBoundBox<[ObjectIdentifier: any Channel]>,
        _ limits: ServerLimits
    ) throws {
        guard connections.value.count < limits.connections else { throw NotAdmitted() }
        let id = ObjectIdentifier(channel)
        connections.value[id] = channel
        channel.closeFuture.assumeIsolated().whenComplete { _ in connections.value[id] = nil }
    }

    private static func equip(
        _ channel: any Channel, _ api: QueueAPI, _ hub: EventHub, _ limits: ServerLimits
    ) throws {
        try equip(channel, Conversation(api: api, hub: hub, limits: limits), nil, limits)
    }

    /// Adds the handlers of a TCP connection, which may become a WebSocket.
    private static func equip(
        _ channel: any Channel, _ api: QueueAPI, _ site: WebSite, _ hub: EventHub,
        _ notices: RPCNoticeHub, _ limits: ServerLimits
    ) throws {
        let ends = Conversation.Ends(
            own: channel.localAddress?.ipAddress ?? "", port: channel.localAddress?.port ?? 0,
            client: channel.remoteAddress?.ipAddress ?? "")
        let conversation = Conversation(
            api: api, site: site, ends: ends, hub: hub, limits: limits)
        let loop = channel.eventLoop
        let bound = NIOLoopBound((conversation, notices), eventLoop: loop)
        let upgrader = NIOWebSocketServerUpgrader(maxFrameSize: limits.body) { channel, head in
            let isAllowed =
                site.isForRPC(head.uri) && site.refusal(head) == nil
            return channel.eventLoop.makeSucceededFuture(isAllowed ? HTTPHeaders() : nil)
        } upgradePipelineHandler: { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                let (conversation, notices) = bound.value
                let pipeline = channel.pipeline.syncOperations
                pipeline.removeHandler(conversation, promise: nil)
                try pipeline.addHandlers(FrameCheck.handlers(limits))
                try pipeline.addHandler(
                    RPCSocket(site, notices, limits, address: ends.client))
            }
        }
        try equip(
            channel, conversation,
            (upgraders: [upgrader], completionHandler: { _ in }), limits)
    }

    private static func equip(
        _ channel: any Channel, _ conversation: Conversation,
        _ upgrade: NIOHTTPServerUpgradeConfiguration?, _ limits: ServerLimits
    ) throws {
        var decoding = NIOHTTPDecoderLimitConfiguration()
        decoding.maxHeaderFieldSize = limits.head
        decoding.maxHeaderListSize = limits.head
        decoding.maxHeaderFieldCount = limits.fields
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline(
            withServerUpgrade: upgrade, withErrorHandling: false,
            withEncoderConfiguration: .init(), withDecoderLimitConfiguration: decoding)
        try pipeline.addHandler(conversation)
    }

    // MARK: TCP

    /// Serves a site over TCP as well.
    ///
    /// - Parameters:
    ///   - site: The endpoints.
    ///   - places: Numeric addresses and ports to listen on; port 0 selects a free one.
    ///   - queue: Reports the events of tasks to WebSockets.
    ///   - limits: The limits for clients.
    /// - Returns: The ports.
    /// - Throws: `QueueError`, if the server cannot listen on an address.
    package func serve(
        _ site: WebSite, at places: [(address: String, port: Int)], of queue: any RPCQueue,
        limits: ServerLimits = .web
    ) async throws(QueueError) -> [Int] {
        let (api, hub, connections, loop) = (api, hub, webConnections, group.any())
        let notices = NIOLoopBoundBox<RPCNoticeHub>
            .makeBoxSendingValue(RPCNoticeHub(queue, on: loop), eventLoop: loop)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try Self.admit(channel, connections, limits)
                    try Self.equip(channel, api, site, hub.value, notices.value, limits)
                }
            }
        var ports: [Int] = []
        for (address, port) in places {
            do {
                let channel = try await bootstrap.bind(host: address, port: port).answer()
                webListeners.withLock { $0.append(channel) }
                ports.append(channel.localAddress?.port ?? port)
            } catch {
                throw Self.problem(error, at: address, port)
            }
        }
        return ports
    }

    /// Returns the reason why the server cannot listen on an address.
    static func problem(_ error: any Error, at address: String, _ port: Int) -> QueueError {
        let code = (error as? IOError)?.errnoCode
        let (reason, hint) =
            switch code {
            case EADDRINUSE:
                (
                    "another program uses that port",
                    "choose another port; `ss -ltnp` names the program"
                )
            case EADDRNOTAVAIL:
                ("this machine does not have this address", "`ip address` shows its addresses")
            case EACCES:
                ("the system does not permit it", "choose a port of 1024 or more")
            case let code?: (Diagnostic.describe(errno: code), "choose another address or port")
            case nil: ("\(error)", "choose another address or port")
            }
        return QueueError(
            .unavailable, "cannot listen on \(address), port \(port): \(reason)", hint: hint)
    }

    /// The connection is another user's, or exceeds the limit.
    private struct NotAdmitted: Error {}
}
