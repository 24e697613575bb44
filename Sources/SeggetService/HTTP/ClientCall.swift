import FoundationEssentials
import NIOCore
import NIOHTTP1

/// A request of the client, with a promise of its response.
struct ClientCall: Sendable {
    var method: HTTPMethod
    var target: String
    var body: Data?
    var answer: EventLoopPromise<ClientAnswer>
}

/// The response of a server.
struct ClientAnswer: Sendable {
    var status: Int
    var body: Data
}

/// The connection is closed.
struct LineGone: Error {
    /// Whether the request was sent, so that the server may have carried it out.
    var wasSent: Bool
}

/// A client's connection, which sends its requests one at a time, in order.
///
/// Used on the event loop's thread only.
final class ClientLine: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = ClientCall
    typealias OutboundOut = HTTPClientRequestPart

    /// The most bytes of a response.
    private static let mostBytes = 256 << 20

    private var calls = CircularBuffer<ClientCall>()
    /// Whether the first of ``calls`` is being sent, or was sent.
    private var isSent = false
    /// Whether the system has taken all bytes of that request; no server acts on less.
    private var isWhole = false
    private var isOver = false
    private var status = 0
    private var isLast = false
    private var body = ByteBuffer()

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let call = unwrapOutboundIn(data)
        guard !isOver else {
            call.answer.fail(LineGone(wasSent: false))
            return
        }
        calls.append(call)
        sendNext(context)
    }

    private func sendNext(_ context: ChannelHandlerContext) {
        guard !isSent, let call = calls.first else { return }
        (isSent, isWhole) = (true, false)
        var head = HTTPRequestHead(version: .http1_1, method: call.method, uri: call.target)
        head.headers.add(name: "Host", value: "localhost")
        if let body = call.body {
            head.headers.add(name: "Content-Type", value: "application/json")
            head.headers.add(name: "Content-Length", value: String(body.count))
        }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body = call.body {
            context.write(
                wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: body)))), promise: nil)
        }
        let written = context.eventLoop.makePromise(of: Void.self)
        written.futureResult.assumeIsolated().whenSuccess { self.isWhole = true }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: written)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            (status, isLast) = (Int(head.status.code), !head.isKeepAlive)
            body.clear()
        case .body(var part):
            guard body.readableBytes + part.readableBytes <= Self.mostBytes else {
                end(context)
                return
            }
            body.writeBuffer(&part)
        case .end:
            guard isSent, let call = calls.popFirst() else { return }
            (isSent, isWhole) = (false, false)
            let answer = ClientAnswer(status: status, body: Data(body.readableBytesView))
            body = ByteBuffer()
            call.answer.succeed(answer)
            if isLast { end(context) } else { sendNext(context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(context) }

    func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    private func end(_ context: ChannelHandlerContext) {
        guard !isOver else { return }
        isOver = true
        let lost = calls
        calls.removeAll()
        for (place, call) in lost.enumerated() {
            call.answer.fail(LineGone(wasSent: place == 0 && isWhole))
        }
        context.close(promise: nil)
    }
}
