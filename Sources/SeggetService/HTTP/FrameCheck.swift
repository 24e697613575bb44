import NIOCore
import NIOWebSocket

/// Refuses WebSocket frames that RFC 6455 does not allow a client to send and that NIO's decoder
/// accepts.
final class FrameCheck: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    /// The frame is not allowed from a client.
    struct Refused: Error {}

    /// Returns the handlers between the decoder of frames and the receiver of messages.
    ///
    /// They limit a message to the length of a body.
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
        // RFC 6455 §5.1, and §5.2 without extensions.
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3,
            [.continuation, .text, .binary, .connectionClose, .ping, .pong].contains(frame.opcode)
        else {
            context.fireErrorCaught(Refused())
            return
        }
        context.fireChannelRead(data)
    }
}
