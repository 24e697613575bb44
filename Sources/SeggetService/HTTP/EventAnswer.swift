import NIOCore
import NIOHTTP1
import SeggetQueue

/// The response to one request for events: a stream that lasts as long as the connection.
///
/// Used on the event loop's thread only.
final class EventAnswer {
    private let hub: EventHub
    private let limits: ServerLimits
    private let version: HTTPVersion
    private let api: APIVersion
    private let context: ChannelHandlerContext
    private var number: Int?
    private var hasBegun = false
    private var isOver = false
    private var timer: Scheduled<Void>?

    /// Creates a response; sends nothing yet.
    init(
        hub: EventHub, limits: ServerLimits, version: HTTPVersion, api: APIVersion,
        _ context: ChannelHandlerContext
    ) {
        (self.hub, self.limits, self.version, self.api) = (hub, limits, version, api)
        self.context = context
    }

    /// Starts the stream.
    ///
    /// - Parameters:
    ///   - filter: Selects the reported tasks.
    ///   - lastID: The id of the client's last event.
    ///   - refuse: Called if no event can be sent; the caller then sends another response.
    func begin(
        _ filter: TaskFilter, after lastID: String?, refuse: @escaping (QueueError) -> Void
    ) {
        number = hub.add(filter, after: lastID) { [self] delivery in
            switch delivery {
            case .bytes(let bytes): write(EventText.event(bytes, in: api))
            case .failure(let error) where !hasBegun:
                isOver = true
                refuse(error)
            case .end where !hasBegun:
                isOver = true
                refuse(.ending)
            case .failure, .end: end()
            }
        }
        guard number == nil else { return }
        isOver = true
        refuse(.ending)
    }

    /// Responds to a request for the head alone.
    func answerHead() {
        writeHead()
        end()
    }

    /// Stops, because the connection is closed.
    func leave() {
        isOver = true
        timer?.cancel()
        if let number { hub.remove(number) }
    }

    private func writeHead() {
        hasBegun = true
        var head = HTTPResponseHead(version: version, status: .ok)
        head.headers.add(name: "Content-Type", value: "text/event-stream")
        head.headers.add(name: "Cache-Control", value: "no-store")
        // No response can follow a stream on the same connection.
        head.headers.add(name: "Connection", value: "close")
        context.write(NIOAny(HTTPServerResponsePart.head(head)), promise: nil)
    }

    private func write(_ bytes: ByteBuffer) {
        guard !isOver else { return }
        if !hasBegun {
            writeHead()
            let retry = ByteBuffer(string: EventText.retry)
            context.write(NIOAny(HTTPServerResponsePart.body(.byteBuffer(retry))), promise: nil)
        }
        flush(bytes) { [self] in if let number { hub.taken(number) } }
    }

    /// Writes bytes, calls `taken` when the client has taken them, and schedules the next comment.
    private func flush(_ bytes: ByteBuffer, then taken: @escaping () -> Void) {
        wait(limits.replyTime) { [context] in context.close(promise: nil) }
        context.writeAndFlush(NIOAny(HTTPServerResponsePart.body(.byteBuffer(bytes))))
            .assumeIsolated().whenComplete { [self] result in
                guard !isOver else { return }
                guard case .success = result else {
                    context.close(promise: nil)
                    return
                }
                wait(limits.keepAliveTime) { [self] in
                    flush(ByteBuffer(string: EventText.keepAlive)) {}
                }
                taken()
            }
    }

    private func end() {
        guard !isOver else { return }
        isOver = true
        timer?.cancel()
        context.writeAndFlush(NIOAny(HTTPServerResponsePart.end(nil)))
            .assumeIsolated().whenComplete { [context] _ in context.close(promise: nil) }
    }

    /// Schedules a call, in place of the scheduled one.
    private func wait(_ time: Duration, then act: @escaping () -> Void) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { act() }
    }
}

extension QueueError {
    /// The server is shutting down.
    fileprivate static let ending = QueueError(
        .worker, "the worker is shutting down", hint: "send the request again when it is running")
}
