import FoundationEssentials
import NIOCore
import NIOWebSocket
import SeggetQueue
import SeggetReports

/// A WebSocket for JSON-RPC: answers its calls one at a time, and sends notifications about tasks.
///
/// Used on the event loop's thread only.
final class RPCSocket: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// The most calls that wait for their response; at this number, reading stops.
    private static let mostWaiting = 16
    /// The most notifications that are buffered for a client that does not read.
    private static let mostNotices = 4096

    private let site: WebSite
    private let hub: RPCNoticeHub
    private let limits: ServerLimits
    private let address: String
    private var context: ChannelHandlerContext?
    private var waiting: [Data] = []
    private var waitingBytes = 0
    private var isAnswering = false
    /// Whether the client receives notifications.
    private var hears: Bool
    private var unread = 0
    private var timer: Scheduled<Void>?
    private var isOver = false

    /// Creates the handler of a WebSocket.
    ///
    /// - Parameters:
    ///   - site: The site that the connection belongs to.
    ///   - hub: Sends notifications about tasks.
    ///   - limits: The limits for clients.
    ///   - address: The client's address.
    init(_ site: WebSite, _ hub: RPCNoticeHub, _ limits: ServerLimits, address: String) {
        (self.site, self.hub, self.limits, self.address) = (site, hub, limits, address)
        // aria2 notifies all clients; with a secret, only those that have sent it.
        hears = site.gate == nil || site.rpc.policy.isOpen == true
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        hub.add(self)
    }

    func handlerRemoved(context: ChannelHandlerContext) { leave() }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
        context.fireChannelInactive()
    }

    private func leave() {
        isOver = true
        timer?.cancel()
        hub.remove(self)
        context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Ignore data after a close frame or a refused frame.
        guard !isOver else { return }
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            waiting.append(Data(frame.unmaskedData.readableBytesView))
            waitingBytes += frame.unmaskedData.readableBytes
            answerNext()
        // A client that does not read receives no pongs, so that they do not accumulate.
        case .ping where context.channel.isWritable:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
        case .connectionClose:
            close(frame.unmaskedData.getWebSocketErrorCode(at: frame.unmaskedData.readerIndex))
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        close(error is NIOWebSocketFrameAggregator.Error ? .messageTooLarge : .protocolError)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            context.close(promise: nil)
        } else if event is ChannelShouldQuiesceEvent {
            close(.goingAway)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        timer?.cancel()
        if context.channel.isWritable {
            unread = 0
        } else {
            timer = context.eventLoop.assumeIsolated().scheduleTask(
                in: TimeAmount(limits.replyTime)
            ) { [self] in self.context?.close(promise: nil) }
        }
        context.fireChannelWritabilityChanged()
    }

    private func answerNext() {
        guard let context, !isOver, !isAnswering, !waiting.isEmpty else { return readMore() }
        isAnswering = true
        let text = waiting.removeFirst()
        waitingBytes -= text.count
        readMore()
        let (rpc, begun) = (site.rpc, hub.begun)
        context.eventLoop.makeFutureWithTask {
            // Notifications have to start before the call, which may add a task.
            await begun?.value
            return await rpc.answer(text)
        }
        .assumeIsolated().whenSuccess { [self] answer in
            guard !isOver else { return }
            guard answer.isRefused else {
                if answer.isAuthorized {
                    site.succeed(address)
                    hears = true
                }
                return write(answer.body)
            }
            // Delay failed logins without blocking other clients.
            context.eventLoop.assumeIsolated()
                .scheduleTask(in: TimeAmount(site.fail(address))) { [self] in write(answer.body)
                }
        }
    }

    /// Reads more, unless too many calls wait.
    private func readMore() {
        guard let context else { return }
        let isFull = waiting.count >= Self.mostWaiting || waitingBytes > limits.body
        context.channel.setOption(.autoRead, value: !isFull).whenFailure { _ in }
    }

    private func write(_ text: Data) {
        guard let context, !isOver else { return }
        let giveUp = context.eventLoop.assumeIsolated().scheduleTask(
            in: TimeAmount(limits.replyTime)
        ) { [self] in self.context?.close(promise: nil) }
        send(ByteBuffer(bytes: text))
            .assumeIsolated().whenComplete { [self] result in
                giveUp.cancel()
                guard case .success = result, !isOver else {
                    context.close(promise: nil)
                    return
                }
                // Answer the next call when the client has taken this response.
                isAnswering = false
                answerNext()
            }
    }

    /// Sends a notification.
    func tell(_ notice: ByteBuffer) {
        guard hears, let context else { return }
        if !context.channel.isWritable {
            unread += 1
            guard unread <= Self.mostNotices else {
                context.close(promise: nil)
                return
            }
        }
        send(notice).whenFailure { _ in }
    }

    private func send(_ text: ByteBuffer) -> EventLoopFuture<Void> {
        guard let context else { return hub.loop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        return context.writeAndFlush(
            wrapOutboundOut(WebSocketFrame(fin: true, opcode: .text, data: text)))
    }

    private func close(_ code: WebSocketErrorCode?) {
        guard let context, !isOver else { return }
        isOver = true
        var data = context.channel.allocator.buffer(capacity: 2)
        if let code { data.write(webSocketErrorCode: code) }
        context.writeAndFlush(
            wrapOutboundOut(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
        ).assumeIsolated().whenComplete { _ in context.close(promise: nil) }
    }
}

/// Sends notifications about tasks to the WebSockets.
///
/// Used on the event loop's thread only.
final class RPCNoticeHub {
    let loop: any EventLoop
    private let queue: any RPCQueue
    private var sockets: [ObjectIdentifier: RPCSocket] = [:]
    /// Completes when notifications have started; `nil` before the first WebSocket.
    private(set) var begun: Task<Void, Never>?

    init(_ queue: any RPCQueue, on loop: any EventLoop) { (self.queue, self.loop) = (queue, loop) }

    func add(_ socket: RPCSocket) {
        sockets[ObjectIdentifier(socket)] = socket
        guard begun == nil else { return }
        let (queue, loop) = (queue, loop)
        let box = NIOLoopBound(self, eventLoop: loop)
        begun = Task {
            let events = await queue.events()
            let tasks = (try? await queue.report(TaskFilter()).tasks) ?? []
            Task {
                var notices = RPCNotices(tasks)
                for await event in events {
                    let told = notices.take(event).map { ByteBuffer(bytes: $0.value.data) }
                    guard !told.isEmpty else { continue }
                    loop.execute { for notice in told { box.value.tell(notice) } }
                }
            }
        }
    }

    func remove(_ socket: RPCSocket) { sockets[ObjectIdentifier(socket)] = nil }

    private func tell(_ notice: ByteBuffer) {
        for socket in sockets.values { socket.tell(notice) }
    }
}
