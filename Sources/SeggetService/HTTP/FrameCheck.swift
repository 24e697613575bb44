import NIOCore
import NIOWebSocket

/// Refuses frames of a WebSocket that RFC 6455 does not let a client send, and that NIO's decoder takes.
final class FrameCheck: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    /// The frame is none of a client.
    struct Refused: Error {}

    /// What stands between the decoder of frames and whoever takes messages: a message is not longer than a body may
    /// be.
    static func handlers(_ limits: ServerLimits) -> [any ChannelInboundHandler] {
        [
            FrameCheck(),
            NIOWebSocketFrameAggregator(
                minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: limits.fragments,
                maxAccumulatedFrameSize: limits.body),
        ]
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        // §5.1, and §5.2 without extensions.
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3,
            [.continuation, .text, .binary, .connectionClose, .ping, .pong].contains(frame.opcode)
        else {
            context.fireErrorCaught(Refused())
            return
        }
        context.fireChannelRead(data)
    }
}
