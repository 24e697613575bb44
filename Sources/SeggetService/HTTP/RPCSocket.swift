import FoundationEssentials
import NIOCore
import NIOWebSocket
import SeggetQueue
import SeggetReports

/// One WebSocket: its calls, one after the other, and what it is told of tasks.
///
/// All of it is the event loop's.
final class RPCSocket: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// Most calls that wait to be answered; while there are so many, nothing more is read.
    private static let mostWaiting = 16
    /// Most notices that wait for a client that reads nothing.
    private static let mostNotices = 4096

    private let site: WebSite
    private let hub: RPCNoticeHub
    private let limits: ServerLimits
    private let address: String
    private var context: ChannelHandlerContext?
    private var waiting: [Data] = []
    private var waitingBytes = 0
    private var isAnswering = false
    /// Whether it is told of tasks.
    private var hears: Bool
    private var unread = 0
    private var timer: Scheduled<Void>?
    private var isOver = false

    /// - Parameters:
    ///   - site: Whose it is.
    ///   - hub: Tells of tasks.
    ///   - limits: How long it may read nothing.
    ///   - address: The client's.
    init(_ site: WebSite, _ hub: RPCNoticeHub, _ limits: ServerLimits, address: String) {
        (self.site, self.hub, self.limits, self.address) = (site, hub, limits, address)
        // aria2 tells everybody; where a secret is needed, only who has shown it.
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
        // What stands behind the last frame, or behind one that is refused, is not carried out.
        guard !isOver else { return }
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text, .binary:
            waiting.append(Data(frame.unmaskedData.readableBytesView))
            waitingBytes += frame.unmaskedData.readableBytes
            answerNext()
        // Whoever does not read gets none, so that they do not pile up.
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
            // Of what it adds, it is told from the start on.
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
            // Who does not know the secret waits, and nobody waits with it.
            context.eventLoop.assumeIsolated()
                .scheduleTask(in: TimeAmount(site.fail(address))) { [self] in write(answer.body)
                }
        }
    }

    /// Reads on as long as not too much waits.
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
                // The next is answered once this one was taken.
                isAnswering = false
                answerNext()
            }
    }

    /// Tells of something that happened to a task.
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

/// Tells the WebSockets what happens to tasks.
///
/// All of it is the event loop's.
final class RPCNoticeHub {
    let loop: any EventLoop
    private let queue: any RPCQueue
    private var sockets: [ObjectIdentifier: RPCSocket] = [:]
    /// Ends once everything that happens from then on is told of; `nil` as long as nobody listens.
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
