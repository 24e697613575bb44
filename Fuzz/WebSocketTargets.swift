import NIOCore
import NIOEmbedded
import NIOWebSocket

@testable import SeggetService

/// What comes on a WebSocket.
enum WebSocketTargets {
    private static let limits = {
        var limits = ServerLimits.web
        (limits.body, limits.fragments) = (256, 4)
        return limits
    }()

    /// Frames, in pieces as long as the first byte says: their messages are those of RFC 6455, up to the first frame
    /// that it does not allow, or that is too much.
    static func frames(_ bytes: [UInt8]) {
        let (expected, isRefused) = messages(bytes.dropFirst())
        for piece in [bytes.count, max(1, Int(bytes.first ?? 1))] {
            let sink = Sink()
            let channel = EmbeddedChannel()
            defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
            do {
                let pipeline = channel.pipeline.syncOperations
                // As the upgrade to a WebSocket has it.
                try pipeline.addHandler(
                    ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: limits.body)))
                try pipeline.addHandlers(FrameCheck.handlers(limits))
                try pipeline.addHandler(sink)
                var rest = bytes.dropFirst()
                while !rest.isEmpty, !sink.isRefused {
                    try channel.writeInbound(ByteBuffer(bytes: rest.prefix(piece)))
                    rest = rest.dropFirst(piece)
                }
            } catch {
                expect(sink.isRefused, "\(error)")
            }
            expect(sink.isRefused == isRefused, "refused: \(sink.isRefused), not \(isRefused)")
            expect(sink.messages == expected, "\(sink.messages), not \(expected)")
        }
    }

    private struct Message: Equatable {
        var opcode: UInt8
        var payload: [UInt8]
    }

    /// What is in the place of `RPCSocket`.
    private final class Sink: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame
        var messages: [Message] = []
        var isRefused = false

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !isRefused else { return }
            let frame = unwrapInboundIn(data)
            messages.append(
                Message(
                    opcode: UInt8(webSocketOpcode: frame.opcode),
                    payload: Array(frame.unmaskedData.readableBytesView)))
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { isRefused = true }
    }

    /// The messages and control frames in some bytes, by RFC 6455 §5 and the limits.
    ///
    /// - Returns: Those before the first frame that is refused, and whether there is one.
    private static func messages(_ bytes: ArraySlice<UInt8>) -> ([Message], isRefused: Bool) {
        var (messages, rest): ([Message], _) = ([], bytes)
        var fragments: [Message] = []
        func take(_ count: Int) -> [UInt8]? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        while let head = take(2) {
            let (isLast, opcode) = (head[0] & 0x80 != 0, head[0] & 15)
            var length = UInt64(head[1] & 127)
            if length > 125 {
                guard let digits = take(length == 126 ? 2 : 8) else { break }
                length = digits.reduce(0) { $0 << 8 | UInt64($1) }
            }
            let isControl = opcode & 8 != 0
            if length > limits.body || isControl && (!isLast || length > 125) {
                return (messages, true)
            }
            let isMasked = head[1] & 0x80 != 0
            guard let mask = isMasked ? take(4) : [], let masked = take(Int(length)) else { break }
            guard isMasked, head[0] & 0x70 == 0, [0, 1, 2, 8, 9, 10].contains(opcode) else {
                return (messages, true)
            }
            let payload = masked.enumerated().map { $1 ^ mask[$0 % 4] }
            if isControl {
                messages.append(Message(opcode: opcode, payload: payload))
                continue
            }
            guard (opcode == 0) == !fragments.isEmpty else { return (messages, true) }
            fragments.append(Message(opcode: opcode, payload: payload))
            let whole = fragments.flatMap(\.payload)
            guard whole.count <= limits.body,
                fragments.count < limits.fragments || isLast && fragments.count == limits.fragments
            else { return (messages, true) }
            if isLast {
                messages.append(Message(opcode: fragments[0].opcode, payload: whole))
                fragments = []
            }
        }
        return (messages, false)
    }
}
