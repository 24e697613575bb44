import FoundationEssentials
import NIOCore
import NIOHTTP1
import SeggetQueue

/// A client's connection that listens to events: one request and its stream.
///
/// Used on the event loop's thread only.
final class EventLine: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart
    typealias Events = AsyncThrowingStream<ServerSentEvent, any Error>

    /// The most bytes of an event, or of a response without events.
    private static let mostBytes = 256 << 20
    /// The longest time without a byte, four times the server's ``ServerLimits/keepAliveTime``.
    static let longestSilence = TimeAmount.seconds(60)

    private let target: String
    private let lastID: String
    private let events: Events.Continuation
    private var parser = EventParser(mostBytes: EventLine.mostBytes)
    /// The body of an error response; `nil` during a stream.
    private var error: Data?

    init(_ target: String, after lastID: String, _ events: Events.Continuation) {
        (self.target, self.lastID, self.events) = (target, lastID, events)
    }

    func channelActive(context: ChannelHandlerContext) {
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target)
        head.headers.add(name: "Host", value: "localhost")
        head.headers.add(name: "Accept", value: "text/event-stream")
        if !lastID.isEmpty { head.headers.add(name: "Last-Event-ID", value: lastID) }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): error = head.status == .ok ? nil : Data()
        case .body(let part): read(part, context)
        case .end:
            if let error {
                let told = try? JSONDecoder().decode(ErrorBody.self, from: error).error
                events.finish(throwing: told ?? NoEvents())
            }
            context.close(promise: nil)
        }
    }

    private func read(_ part: ByteBuffer, _ context: ChannelHandlerContext) {
        guard error == nil else {
            error?.append(contentsOf: part.readableBytesView)
            if let count = error?.count, count > Self.mostBytes { context.close(promise: nil) }
            return
        }
        do throws(EventParser.TooLong) {
            for event in try parser.read(part.readableBytesView) { events.yield(event) }
        } catch {
            events.finish(throwing: NoEvents())
            context.close(promise: nil)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A server that is still there would have sent a comment.
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        events.finish()
        context.fireChannelInactive()
    }
}

/// The response is neither a stream of events nor an error of the API.
struct NoEvents: Error {}
