import Assembler

// Limits that show only while the file is fetched.
extension Fetch {
    /// Where writing ends at the latest, in bytes from the start of the file.
    ///
    /// Of a file of unknown size, one byte more than it may have: then it is known to be too large.
    var writeLimit: Int64 {
        guard setup.identity.size == nil, let most = setup.limits.maxSize, most < .max else {
            return .max
        }
        return most + 1
    }

    /// Whether a file of unknown size has turned out to be larger than it may be.
    func failIfTooLarge(_ size: Int64) -> Bool {
        guard let most = setup.limits.maxSize, size > most else { return false }
        fail(.tooLarge(size: nil, limit: most))
        return true
    }

    /// Sees to it that the download is not slower than it may be.
    ///
    /// - Parameter elapsed: Seconds since the last call.
    func watchRate(_ elapsed: Double) {
        let received = receivedSoFar
        let fresh = received - receivedAtWatch
        receivedAtWatch = received
        // Not the server's doing: the session's limit, a slow reader, and extents that are being checked.
        let isHeldBack = slots.contains { $0.writer != nil && $0.isHeldBack }
        guard !isHeldBack, window?.isBehind != true, awaitsNetwork else { return }
        // Nor is time in which the loop did not run.
        let seconds = min(elapsed, 2 * Worker.tickInterval)
        switch floor?.note(bytes: fresh, seconds: seconds) {
        case nil, .goOn: break
        case .changeConnections: changeConnections()
        case .giveUp(let rate):
            fail(
                .tooSlow(
                    bytesPerSecond: rate, minimum: setup.limits.minRate ?? 0,
                    seconds: setup.limits.minRatePeriod))
        }
    }

    /// Whether some byte is still to come over the network.
    private var awaitsNetwork: Bool {
        !scheduler.segments.isEmpty || !scheduler.unassigned.isEmpty
    }

    /// Gives up all connections; `pump` makes new ones.
    ///
    /// A single stream would begin anew: it is left alone.
    private func changeConnections() {
        guard !setup.isOneStream else { return }
        report(.changingConnections(minimum: setup.limits.minRate ?? 0))
        for index in slots.indices { reopen(index) }
        // Any address of a host will do: these were slow.
        for source in sources.indices { sources[source].lastGood = nil }
    }
}
