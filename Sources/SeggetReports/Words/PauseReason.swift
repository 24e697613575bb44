/// The condition of a rule that pauses a queue.
package enum PauseReason: Sendable, Hashable {
    /// The network is metered.
    case metered
    /// The machine runs on its battery.
    case battery
    /// The time of day is between two times, as `HH:MM`.
    case hours(from: String, to: String)

    /// The reason in words, to follow "the queue is paused:".
    package var text: String {
        switch self {
        case .metered: "on a metered network"
        case .battery: "on battery"
        case .hours(let start, let end): "from \(start) to \(end)"
        }
    }
}
