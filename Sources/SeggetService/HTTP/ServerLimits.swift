/// What a client may take up of a server.
package struct ServerLimits: Sendable {
    /// Longest time without a request, or until the head of one is complete.
    package var headTime = Duration.seconds(60)
    /// Longest time from the head of a request to the end of its body.
    package var bodyTime = Duration.seconds(120)
    /// Longest time until an answer is taken.
    package var replyTime = Duration.seconds(60)
    /// Time without an event after which a stream of events says that it is there.
    package var keepAliveTime = Duration.seconds(15)
    /// Longest time for which the rest of a request that was refused is read away.
    package var lingerTime = Duration.seconds(5)
    /// Longest time for requests that are being answered when the server ends.
    package var closeTime = Duration.seconds(1)
    /// Most bytes of a body.
    package var body = 16 << 20
    /// Most bytes of all fields of a head, and of one.
    package var head = 32 << 10
    /// Most fields of a head.
    package var fields = 100
    /// Most fragments of a message of a WebSocket.
    package var fragments = 1024
    /// Most connections.
    package var connections = 512

    /// The limits for clients over TCP, who may be anybody.
    package static let web = {
        var limits = ServerLimits()
        (limits.headTime, limits.bodyTime) = (.seconds(10), .seconds(30))
        (limits.body, limits.connections) = (2 << 20, 256)
        return limits
    }()

    /// The usual limits.
    package init() {}
}
