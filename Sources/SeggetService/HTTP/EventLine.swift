import FoundationEssentials
import NIOCore
import NIOHTTP1
import SeggetQueue

/// The connection of a client that listens: one request, and the events that come.
///
/// All of it is the event loop's.
final class EventLine: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart
    typealias Events = AsyncThrowingStream<ServerSentEvent, any Error>

    /// Most bytes of an event, or of an answer that is none.
    private static let mostBytes = 256 << 20
    /// Longest time without a byte; the server says that it is there after a quarter of that.
    static let longestSilence = TimeAmount.seconds(60)

    private let target: String
    private let lastID: String
    private let events: Events.Continuation
    private var parser = EventParser(mostBytes: EventLine.mostBytes)
    /// The body of an answer that tells of an error; `nil` where events come.
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
        // Whoever is there would have said so.
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

/// What came is no stream of events, nor an error of the API.
struct NoEvents: Error {}
