/// What has the loop call it for as long as it has something under way, such as what fetches a file.
///
/// The loop knows its clients by their numbers, and nothing else of them.
protocol LoopClient: AnyObject {
    /// Called in each turn of the loop, when all that has ended was reported.
    func turn()
    /// Called about every 100 ms.
    func tick(_ now: Double)
    /// Stops in order: the loop is about to end.
    func cancel()
    /// Whether it wants to know what the kernel says of the connections (`SocketWatch`).
    var watchesConnections: Bool { get }
}

/// What lives on the loop's thread as long as the loop does, one for all clients, such as a book of
/// what is known of servers.
protocol LoopResident: AnyObject, SendableMetatype {
    /// Moves in before the first transfer starts; those that moved in before can be asked for.
    init(_ worker: Worker)
    /// Called in each turn of the loop, when all that has ended was reported; may start transfers.
    func turn()
    /// When its next turn is due at the latest; infinity when nothing is.
    var due: Double { get }
    /// Whether nothing waits for it.
    var isIdle: Bool { get }
    /// A transfer is about to leave the loop, whatever the reason.
    func left(_ transfer: Transfer)
    /// Gives up what waits: the loop is about to end.
    func cancel()
}

extension LoopResident {
    func turn() {}
    var due: Double { .infinity }
    var isIdle: Bool { true }
    func left(_ transfer: Transfer) {}
    func cancel() {}
}
