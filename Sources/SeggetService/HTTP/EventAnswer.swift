import NIOCore
import NIOHTTP1
import SeggetQueue

/// The answer to one request for events: it goes on until one of both ends it, and the connection with it.
///
/// All of it is the event loop's.
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

    /// Makes an answer that has not begun.
    init(
        hub: EventHub, limits: ServerLimits, version: HTTPVersion, api: APIVersion,
        _ context: ChannelHandlerContext
    ) {
        (self.hub, self.limits, self.version, self.api) = (hub, limits, version, api)
        self.context = context
    }

    /// Begins.
    ///
    /// - Parameters:
    ///   - filter: Which tasks it tells of.
    ///   - lastID: The id of the event that the client got last.
    ///   - refuse: Called when there is nothing to be told; then something else is to be answered.
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

    /// Answers a request for the head alone.
    func answerHead() {
        writeHead()
        end()
    }

    /// The connection is gone.
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
        // It has no end that another answer could follow.
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

    /// Writes bytes, and waits until the client has taken them; then for something else to be told.
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

    /// Has something done after a time, in place of what was to be done before.
    private func wait(_ time: Duration, then act: @escaping () -> Void) {
        timer?.cancel()
        timer = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(time)) { act() }
    }
}

extension QueueError {
    /// The server ends.
    fileprivate static let ending = QueueError(
        .worker, "the worker is shutting down", hint: "send the request again when it is running")
}
