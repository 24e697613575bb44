/// The limits of a server for its clients.
package struct ServerLimits: Sendable {
    /// The longest time until the head of the next request is complete.
    package var headTime = Duration.seconds(60)
    /// The longest time from the head of a request to the end of its body.
    package var bodyTime = Duration.seconds(120)
    /// The longest time until the client has taken a response.
    package var replyTime = Duration.seconds(60)
    /// The time without an event after which a stream sends a comment.
    package var keepAliveTime = Duration.seconds(15)
    /// The longest time for which the rest of a refused request is discarded.
    package var lingerTime = Duration.seconds(5)
    /// The longest time for requests in progress when the server shuts down.
    package var closeTime = Duration.seconds(1)
    /// The most bytes of a body.
    package var body = 16 << 20
    /// The most bytes of all header fields of a request, and of each.
    package var head = 32 << 10
    /// The most header fields of a request.
    package var fields = 100
    /// The most fragments of a WebSocket message.
    package var fragments = 1024
    /// The most connections.
    package var connections = 512

    /// The limits for clients over TCP, which are stricter because any process can connect.
    package static let web = {
        var limits = ServerLimits()
        (limits.headTime, limits.bodyTime) = (.seconds(10), .seconds(30))
        (limits.body, limits.connections) = (2 << 20, 256)
        return limits
    }()

    /// Creates the default limits, which are those of the socket.
    package init() {}
}
