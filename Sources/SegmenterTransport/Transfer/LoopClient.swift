/// An object that the loop calls while it has active requests, such as the fetch of a file.
///
/// The loop refers to its clients by number, and knows nothing else about them.
package protocol LoopClient: AnyObject {
    /// Handles a turn of the loop, after the results of all ended transfers were reported.
    func turn()
    /// Handles a tick, about every 100 ms; `now` is the monotonic time in seconds.
    func tick(_ now: Double)
    /// Stops all work in an orderly way, because the loop is about to end.
    func cancel()
    /// Whether the client needs the kernel's statistics of connections (`SocketWatch`).
    var watchesConnections: Bool { get }
}

/// An object that exists on the loop thread as long as the loop, shared by all clients.
///
/// An example is the book of known facts about servers.
package protocol LoopResident: AnyObject, SendableMetatype {
    /// Creates the resident before the first transfer starts.
    ///
    /// `worker` has the residents that were created before it.
    init(_ worker: Worker)
    /// Handles a turn of the loop, after the results of all ended transfers were reported.
    ///
    /// The resident may start transfers.
    func turn()
    /// The monotonic time in seconds by which the next turn is due; infinity if none is.
    var due: Double { get }
    /// Whether the resident has no pending work.
    var isIdle: Bool { get }
    /// Handles the head of a final response, before its transfer decides on the body.
    ///
    /// - Parameters:
    ///   - reply: The head.
    ///   - origin: The origin of the request.
    ///   - worker: The loop's worker.
    func replied(_ reply: Reply, from origin: String, on worker: Worker)
    /// Handles a transfer that is about to be removed from the loop, for any reason.
    func left(_ transfer: Transfer, on worker: Worker)
    /// Cancels pending work, because the loop is about to end.
    func cancel()
}

extension LoopResident {
    package func turn() {}
    package var due: Double { .infinity }
    package var isIdle: Bool { true }
    package func replied(_ reply: Reply, from origin: String, on worker: Worker) {}
    package func left(_ transfer: Transfer, on worker: Worker) {}
    package func cancel() {}
}
