// HTTP: the server and the client: requests and answers on a Unix socket. It knows the API; it never knows what a
// command means.

import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
package import SeggetQueue
import SeggetReports
import Synchronization

/// Serves the API of a queue, as HTTP/1.1 on a Unix socket, to this user's processes.
///
/// It has one thread of its own. What the queue takes its time for holds up only the client that asked for it.
package final class QueueServer: Sendable {
    /// Path of the socket.
    package let path: String
    private let entry: SocketEntry?
    private let limits: ServerLimits
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel
    private let api: QueueAPI
    /// What lets into the page.
    package let openings = OpeningTokens()
    private let webListeners = Mutex<[any Channel]>([])
    private let connections: NIOLoopBoundBox<[ObjectIdentifier: any Channel]>
    private let webConnections: NIOLoopBoundBox<[ObjectIdentifier: any Channel]>
    private let hub: NIOLoopBoundBox<EventHub>

    /// Serves a queue at the first place that will do.
    ///
    /// The caller holds the queue's lock, and writes ``path`` into its file.
    ///
    /// - Parameters:
    ///   - queue: path of the queue's database, which exists.
    ///   - door: what is served.
    ///   - runtime: what `XDG_RUNTIME_DIR` says.
    ///   - users: the folder in which each user that is logged in has one, named as the user's number.
    ///   - base: the folder of the last resort, in which everybody may make folders.
    ///   - limits: what clients may take up.
    /// - Returns: The server, which serves.
    /// - Throws: `QueueError`, when there is no such place, or somebody listens there.
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
                // There is another place: not every file system has sockets.
                continue
            }
        }
        throw .noSocket(
            "no folder is private to this user, not even \(base)/segget-\(geteuid())")
    }

    /// Serves a queue on a socket that somebody else listens on for this process, as systemd does; it stays when the
    /// service ends.
    ///
    /// - Throws: `QueueError`.
    package static func start(
        on descriptor: Int32, door: any RPCQueue, limits: ServerLimits = ServerLimits()
    ) async throws(QueueError) -> QueueServer {
        try await QueueServer(
            try ListeningSocket(inherited: descriptor), door: door, limits: limits)
    }

    /// Serves a queue at a socket that is bound already, in a folder that is this user's alone.
    ///
    /// - Throws: `QueueError`, when that cannot be.
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

    /// Ends the service: the socket goes at once, and what is being answered is answered within a time.
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

    /// Lets this user's processes in only.
    private static func checkUser(_ channel: any Channel) throws {
        let isSameUser = try channel.pipeline.syncOperations
            .withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { Peer.isSameUser($0) }
        guard isSameUser == true else { throw NotAdmitted() }
    }

    /// Lets a connection in, or throws, which closes it.
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

    /// The same for a connection over TCP, which may become a WebSocket.
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

    /// Serves a site over TCP, too.
    ///
    /// - Parameters:
    ///   - site: What is served.
    ///   - places: Where: the number of an address, and a port; 0 is a free one.
    ///   - queue: Tells of what happens to tasks.
    ///   - limits: What clients may take up.
    /// - Returns: The ports.
    /// - Throws: `QueueError`, when nobody can listen there.
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

    /// Why the service cannot listen at an address.
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

    /// Somebody else's connection, or one too many.
    private struct NotAdmitted: Error {}
}
