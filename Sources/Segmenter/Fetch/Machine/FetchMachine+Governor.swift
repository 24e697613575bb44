import Assembler

// How many connections are used.
extension FetchMachine {
    /// Part of the loop's time from which on more connections bring no more: it is busy with those
    /// that there are.
    private static let busy = 0.85

    /// Once a tick: has the number of connections follow the goodput.
    mutating func govern(_ world: some FetchWorld) {
        guard governor != nil else { return }
        let (now, origin) = (world.now, sources[0].origin)
        let network = world.network(to: origin)
        let sample = ConnectionGovernor.Sample(
            received: receivedSoFar(world), roundTrip: network.roundTrip,
            segments: network.segments, disordered: network.disordered,
            presentRoundTrip: network.presentRoundTrip,
            remaining: setup.identity.size.map { $0 - scheduler.done.count },
            isHeldBack: network.load >= Self.busy || window?.isBehind == true || isHeldBack,
            cap: connectionsAllowed(network.downloads, world[limitOf: origin]?.limit))
        let before = governor?.target
        let target = max(governor?.step(sample, now: now) ?? 1, leastConnections)
        if let governor, governor.target != before {
            world.report(.connections(governor.target, bytesPerSecond: governor.measured))
        }
        while slots.count < target { slots.append(Slot()) }
        // What has work ends it: giving up a reply costs what is on its way.
        while slots.count > target, let last = slots.last, !last.isBusy,
            last.sample == nil, scheduler.segments[slots.count - 1] == nil
        {
            scheduler.measured(slots.count - 1, rate: nil, now: now)
            slots.removeLast()
        }
    }

    /// Whether a connection is one too many: it rests when it has nothing under way.
    func isSurplus(_ index: Int) -> Bool {
        guard let governor else { return false }
        return index >= max(governor.target, leastConnections)
    }

    /// Several servers want to be measured, and each keeps one at least.
    private var leastConnections: Int { sources.count > 1 ? 2 * sources.count : 1 }

    /// Most connections that this fetch may use: with what is known of the server, and of all files
    /// that are fetched at a time, so that these together are no more than one alone may have.
    private func connectionsAllowed(_ downloads: Int, _ limit: Int?) -> Int {
        let share = max(1, setup.connections / max(1, downloads))
        // One more finds out, now and then, whether the server serves more by now.
        guard sources.count == 1, let limit else { return share }
        return min(share, limit + 1)
    }

    /// Whether the session's limit of rate holds a connection back.
    var isHeldBack: Bool {
        slots.contains { $0.request.body != nil && $0.flow.isHeldBack }
    }
}
