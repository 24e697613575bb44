extension SegmentScheduler {
    /// Whether some bytes still have to be downloaded, so that verifying alone cannot complete the
    /// file.
    var awaitsNetwork: Bool { !segments.isEmpty || !unassigned.isEmpty }

    /// Records the seconds from a request on an established connection to its response.
    package mutating func answered(after wait: Double) {
        let trip = max(0, wait)
        // A long wait counts little: the server was probably busy.
        let part = roundTrip == 0 ? 1 : trip < roundTrip ? 0.5 : 0.125
        roundTrip += part * (trip - roundTrip)
    }
}
