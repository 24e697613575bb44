import Assembler

extension SegmentScheduler {
    /// Whether some byte is still to come over the network.
    var awaitsNetwork: Bool { !segments.isEmpty || !unassigned.isEmpty }

    /// Notes how long a reply took on a connection that was made, in seconds.
    mutating func answered(after wait: Double) {
        let trip = max(0, wait)
        // One that took long says little: the server had something else to do.
        let part = roundTrip == 0 ? 1 : trip < roundTrip ? 0.5 : 0.125
        roundTrip += part * (trip - roundTrip)
    }
}
