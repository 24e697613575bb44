import Assembler

// Limits that show only while the file is fetched.
extension FetchMachine {
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
    mutating func failIfTooLarge(_ size: Int64, _ world: some FetchWorld) -> Bool {
        guard let most = setup.limits.maxSize, size > most else { return false }
        fail(.tooLarge(size: nil, limit: most), world)
        return true
    }

    /// Sees to it that the download is not slower than it may be.
    ///
    /// - Parameters:
    ///   - elapsed: Seconds since the last call.
    ///   - world: The present moment.
    mutating func watchRate(_ elapsed: Double, _ world: some FetchWorld) {
        // Not the server's doing: the session's limit, a slow reader, and extents that are being checked.
        let counts = !isHeldBack && window?.isBehind != true && awaitsNetwork
        // Nor is time in which the loop did not run.
        let seconds = min(elapsed, StallDetector.longestStep)
        switch account.watch(receivedSoFar(world), counts ? seconds : nil) {
        case .goOn: break
        case .changeConnections: changeConnections(world)
        case .giveUp(let rate):
            fail(
                .tooSlow(
                    bytesPerSecond: rate, minimum: setup.limits.minRate ?? 0,
                    seconds: setup.limits.minRatePeriod),
                world)
        }
    }

    /// Whether some byte is still to come over the network.
    private var awaitsNetwork: Bool {
        !scheduler.segments.isEmpty || !scheduler.unassigned.isEmpty
    }

    /// Gives up all connections; `pump` makes new ones.
    ///
    /// A single stream would begin anew: it is left alone.
    private mutating func changeConnections(_ world: some FetchWorld) {
        guard !setup.isOneStream else { return }
        world.report(.changingConnections(minimum: setup.limits.minRate ?? 0))
        for index in slots.indices { reopen(index, world) }
        // Any address of a host will do: these were slow.
        for source in sources.indices { sources[source].places.lastGood = nil }
    }
}
