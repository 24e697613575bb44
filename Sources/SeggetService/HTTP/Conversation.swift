import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOWebSocket
import SeggetQueue

/// A connection of the server, which answers its requests one at a time.
///
/// Used on the event loop's thread only. NIO's `HTTPServerPipelineHandler` passes on one request at
/// a time. It passes on the next one when the end of the response is written, which is when the
/// client has taken the response. Responses do not accumulate for a slow client.
final class Conversation: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private enum State {
        /// Waiting for the head of a request.
        case waiting
        /// The head is received, the body is not.
        case receiving
        /// The request is received; the response is built or written.
        case answering
        /// The response was sent before the request was complete; the rest of the request is
        /// discarded.
        case discarding
        /// The connection is closed.
        case closed
    }

    private let api: QueueAPI
    /// The endpoints over TCP; `nil` on the queue's socket.
    private let site: WebSite?
    /// The addresses of a TCP connection's ends.
    private let ends: Ends
    private let hub: EventHub
    private let limits: ServerLimits
    /// The response to a client that listens to events.
    private var events: EventAnswer?
    private var state = State.waiting
    private var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
    private var body = ByteBuffer()
    private var timer: Scheduled<Void>?
    /// Whether the client has closed its side of the connection.
    private var isInputClosed = false
    /// Of a refused request: whether it is received, and whether the response is sent.
    private var (isComplete, isAnswered) = (false, false)

    /// The numeric addresses of a connection's ends.
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
            // A request that is complete is still answered.
            if state != .answering { context.close(promise: nil) }
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A failed upgrade to a WebSocket: the request is answered like any other.
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
        // With `Expect: 100-continue`, refuse an unknown path before the body is sent (RFC 9110
        // §10.1.1).
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

    /// Returns the reason to refuse a request by its head alone.
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

    /// Answers a request over TCP that is not for the API.
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
            // Delay failed logins without blocking other clients.
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

    /// Streams events until the client disconnects.
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

    /// Responds before the request is complete or understood, and closes the connection.
    private func refuse(_ refusal: Refusal, _ context: ChannelHandlerContext) {
        state = .discarding
        let isForPeople = refusal == .otherName && head.isNavigation
        send(isForPeople ? .otherName : refusal.reply, isLast: true, context) { [self] in
            guard state == .discarding else { return }
            isAnswered = true
            // The client may still be sending: closing now would reset the connection before it
            // reads the response.
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
        // A 304 response describes no content (RFC 9110 §15.4.5).
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
        // Close only the sending side while the rest of the request is discarded.
        let isHalf = state == .discarding && !isComplete
        context.close(mode: isHalf ? .output : .all, promise: nil)
    }

    /// Schedules a call, in place of the scheduled one.
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
    /// Whether the request's version is before HTTP/1.1.
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
