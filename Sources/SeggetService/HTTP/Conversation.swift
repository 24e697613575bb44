import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOWebSocket
import SeggetQueue

/// One connection of a server: its requests, one after the other.
///
/// All of it is the event loop's. A pipeline handler before it hands it one request at a time, and the next when
/// the answer's end was written; which is when the client has taken the answer, so that none pile up.
final class Conversation: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// For the head of a request.
        case waiting
        /// The head is there, the body is not.
        case receiving
        /// The request is there; the answer is made, or written.
        case answering
        /// The answer was given before the request was complete; the rest is read away.
        case discarding
        /// It is over.
        case closed
    }

    private let api: QueueAPI
    /// What is served over TCP; `nil` on the queue's own socket.
    private let site: WebSite?
    /// The addresses of both ends of a connection over TCP.
    private let ends: Ends
    private let hub: EventHub
    private let limits: ServerLimits
    /// What is told to a client that listens.
    private var events: EventAnswer?
    private var state = State.waiting
    private var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
    private var body = ByteBuffer()
    private var timer: Scheduled<Void>?
    /// Whether the client sends nothing any more.
    private var isInputClosed = false
    /// Of a request that was refused: whether all of it has come, and whether the answer is taken.
    private var (isComplete, isAnswered) = (false, false)

    /// The addresses of a connection's ends, as numbers.
    struct Ends: Sendable {
        var own = ""
        var port = 0
        var client = ""
    }

    init(
        api: QueueAPI, site: WebSite? = nil, ends: Ends = Ends(), hub: EventHub,
        limits: ServerLimits
    ) {
        (self.api, self.site, self.ends, self.hub, self.limits) = (api, site, ends, hub, limits)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        wait(limits.headTime, context) { $0.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state = .closed
        timer?.cancel()
        events?.leave()
        events = nil
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .waiting): begin(head, context)
        case (.body(var part), .receiving):
            guard body.readableBytes + part.readableBytes <= limits.body else {
                refuse(.tooLong(limits.body), context)
                return
            }
            body.writeBuffer(&part)
        case (.end, .receiving): answer(context)
        case (.end, .discarding):
            isComplete = true
            if isAnswered { context.close(promise: nil) }
        default: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case ChannelEvent.inputClosed? = event as? ChannelEvent {
            isInputClosed = true
            // What was asked for completely is answered.
            if state != .answering { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What may be no WebSocket follows as a request like any other.
        if error is NIOWebSocketUpgradeError { return }
        guard let error = error as? HTTPParserError, state == .waiting || state == .receiving else {
            context.close(promise: nil)
            return
        }
        refuse(error == .headerOverflow ? .longHead : .noHTTP, context)
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        self.head = head
        body.clear()
        state = .receiving
        if let refusal = refusal(head) {
            refuse(refusal, context)
            return
        }
        wait(limits.bodyTime, context) { [self] in refuse(.slow, $0) }
        guard head.headers.contains(name: "expect"), !head.isOld else { return }
        // Whoever waits for leave to send the body hears before it whether anything would be done with it.
        do {
            if site == nil {
                let request = APIRequest(method: head.method.rawValue, target: head.uri)
                _ = try Router.call(request, on: .socket)
            }
            let leave = HTTPResponseHead(version: head.version, status: .continue)
            context.writeAndFlush(wrapOutboundOut(.head(leave)), promise: nil)
        } catch {
            refuse(error, context)
        }
    }

    /// Why a request is refused by its head alone.
    private func refusal(_ head: HTTPRequestHead) -> Refusal? {
        guard head.version.major == 1 else { return .otherVersion }
        let hosts = head.headers["host"].count
        guard hosts == 1 || hosts == 0 && head.isOld else { return .noHost }
        if let refusal = site?.refusal(head) { return refusal }
        let expectations = head.headers[canonicalForm: "expect"]
        guard expectations.allSatisfy({ $0.lowercased() == "100-continue" }) else {
            return .expectation
        }
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        return length > limits.body ? .tooLong(limits.body) : nil
    }

    private func answer(_ context: ChannelHandlerContext) {
        state = .answering
        timer?.cancel()
        var request = APIRequest(
            method: head.method.rawValue, target: head.uri, body: Data(body.readableBytesView))
        body = ByteBuffer()
        var api = api
        if let site {
            guard let target = site.apiTarget(head.uri) else {
                answer(request, by: site, context)
                return
            }
            guard let credential = site.credential(head.headers, port: ends.port) else {
                answer(WebSite.unauthorized, after: site.fail(ends.client), context)
                return
            }
            site.succeed(ends.client)
            request.target = target
            api.givesAllLinks = credential == .session
            api.policy = site.rpc.policy
        }
        do throws(Refusal) {
            let call = try Router.call(request, on: api.listener)
            switch call.endpoint.handler {
            case .events: try tellEvents(TaskFilter(call.query), call.version, context)
            case .answer:
                context.eventLoop.makeFutureWithTask { [api] in await api.answer(call) }
                    .assumeIsolated().whenSuccess { [self] in answer($0, context) }
            }
        } catch {
            let version = APIVersion(target: request.target)
            answer(error.reply.encoded(for: version), context)
        }
    }

    /// Answers what is for no API over TCP.
    private func answer(
        _ request: APIRequest, by site: WebSite, _ context: ChannelHandlerContext
    ) {
        guard site.isForRPC(head.uri) else {
            return context.eventLoop.makeFutureWithTask { [head, ends] in
                await site.answerPage(head, request.body, port: ends.port)
            }.assumeIsolated().whenSuccess { [self] in
                answer($0, after: $0.status == 401 ? site.fail(ends.client) : .zero, context)
            }
        }
        switch head.method {
        case .GET, .POST: break
        case .OPTIONS: return answer(.empty, context)
        default: return answer(WebSite.nothing, context)
        }
        context.eventLoop.makeFutureWithTask {
            await site.answer(request.method, request.target, request.body)
        }.assumeIsolated().whenSuccess { [self] reply, isRefused, isAuthorized in
            if isAuthorized { site.succeed(ends.client) }
            // Who does not know the secret waits, and nobody waits with it.
            answer(reply, after: isRefused ? site.fail(ends.client) : .zero, context)
        }
    }

    private func answer(
        _ reply: APIReply, after delay: Duration, _ context: ChannelHandlerContext
    ) {
        guard delay > .zero else { return answer(reply, context) }
        wait(delay, context) { [self] in answer(reply, $0) }
    }

    private func answer(_ reply: APIReply, _ context: ChannelHandlerContext) {
        guard state == .answering else { return }
        let isLast = isInputClosed || !head.isKeepAlive
        send(reply, isLast: isLast, context) { [self] in
            guard state == .answering else { return }
            state = .waiting
            if !isLast { wait(limits.headTime, context) { $0.close(promise: nil) } }
        }
    }

    /// Tells what happens, as long as the client listens.
    private func tellEvents(
        _ filter: TaskFilter, _ api: APIVersion, _ context: ChannelHandlerContext
    ) {
        let version = head.version
        let events = EventAnswer(hub: hub, limits: limits, version: version, api: api, context)
        self.events = events
        do throws(QueueError) {
            try filter.check()
        } catch {
            return answer(APIReply(error), context)
        }
        guard head.method != .HEAD else { return events.answerHead() }
        events.begin(filter, after: head.headers.first(name: "last-event-id")) { [self] in
            self.events = nil
            answer(APIReply(site == nil ? $0 : $0.forClients), context)
        }
    }

    /// Answers before the request is complete, or understood, and ends the connection.
    private func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        state = .discarding
        let isForPeople = refusal == .otherName && head.isNavigation
        send(isForPeople ? .otherName : refusal.reply, isLast: true, context) { [self] in
            guard state == .discarding else { return }
            isAnswered = true
            // The client may still be sending: to close at once would take the answer from it.
            wait(limits.lingerTime, context) { $0.close(promise: nil) }
        }
    }

    private func send(
        _ reply: APIReply, isLast: Bool, _ context: ChannelHandlerContext,
        then done: @escaping () -> Void
    ) {
        var answer = HTTPResponseHead(
            version: head.version.major == 1 ? head.version : .http1_1,
            status: HTTPResponseStatus(statusCode: reply.status))
        // What has not changed is not described again (RFC 9110 §15.4.5).
        if reply.status != 304 {
            answer.headers.add(name: "Content-Type", value: reply.type)
            answer.headers.add(name: "Content-Length", value: String(reply.body.count))
        }
        answer.headers.add(name: "Cache-Control", value: "no-store")
        for field in reply.fields {
            answer.headers.replaceOrAdd(name: field.name, value: field.value)
        }
        if !reply.allowed.isEmpty {
            answer.headers.add(name: "Allow", value: reply.allowed.joined(separator: ", "))
        }
        if let site { site.addFields(to: &answer.headers, for: head) }
        if isLast {
            answer.headers.add(name: "Connection", value: "close")
        } else if head.isOld {
            answer.headers.add(name: "Connection", value: "keep-alive")
        }
        wait(limits.replyTime, context) { $0.close(promise: nil) }
        context.write(wrapOutboundOut(.head(answer)), promise: nil)
        let bytes = head.method == .HEAD ? ByteBuffer() : ByteBuffer(bytes: reply.body)
        context.writeAndFlush(wrapOutboundOut(.body(.byteBuffer(bytes))))
            .assumeIsolated().whenComplete { [self] in
                timer?.cancel()
                guard case .success = $0, state != .closed else {
                    context.close(promise: nil)
                    return
                }
                done()
                end(isLast: isLast, context)
            }
    }

    private func end(isLast: Bool, _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        guard isLast else { return }
        // While the rest of a request is read away, the client sees that nothing else comes.
        let isHalf = state == .discarding && !isComplete
        context.close(mode: isHalf ? .output : .all, promise: nil)
    }

    /// Has something done after a time, in place of what was to be done before.
    private func wait(
        _ time: Duration, _ context: ChannelHandlerContext,
        then act: @escaping (ChannelHandlerContext) -> Void
    ) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) {
            act(context)
        }
    }
}

extension HTTPRequestHead {
    /// Whether it is of a version before HTTP/1.1.
    fileprivate var isOld: Bool { version.major < 1 || version.major == 1 && version.minor < 1 }
}

extension Refusal {
    fileprivate static let slow = Refusal("the body did not arrive in time", status: 408)
    fileprivate static let expectation = Refusal(
        "`Expect` may only be 100-continue", status: 417)
    fileprivate static let longHead = Refusal("the header section is too long", status: 431)
    fileprivate static let noHTTP = Refusal("this is not an HTTP request", status: 400)
    fileprivate static let noHost = Refusal("the request must have one Host field", status: 400)
    fileprivate static let otherVersion = Refusal("only HTTP/1.1 is supported", status: 505)

    fileprivate static func tooLong(_ most: Int) -> Refusal {
        Refusal("the body is longer than \(most) bytes", status: 413)
    }
}
