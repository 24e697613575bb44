import Foundation
import Glibc
import TestSupport
import Testing

/// Disconnects the network of a queue, over a virtual Ethernet pair: tasks wait and resume without
/// help.
@Suite(
    .serialized, .timeLimit(.minutes(8)),
    .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
struct QueueNetworkTests {
    private static let impatient = [
        "--connect-timeout", "1", "--stall-timeout", "1", "--retries", "1",
    ]

    private func add(_ stage: QueueStage, _ number: Int) throws -> String {
        let outcome = try stage.start(
            ["add", stage.origin.url("/\(number)/\(number).iso"), "-x", "2"] + Self.impatient
        ).wait()
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        return outcome.output.trimmingCharacters(in: .newlines)
    }

    /// The link is down for 2, 3 and 12 s, the last longer than every timeout, while five tasks
    /// run.
    @Test func tasksSurviveLinkFailures() async throws {
        let network = try NetworkPair()
        let stage = try QueueStage(size: 6_000_000, network: network)
        stage.origin.bendGET { _, reply in reply.pace = 200_000 }
        try stage.done("settings", "--max-running", "5")
        var ids: [String] = []
        for number in 1...5 { ids.append(try add(stage, number)) }
        let worker = try stage.work()
        for seconds in [2.0, 3, 12] {
            let before = stage.origin.bytesServed
            #expect(eventually(timeout: 120) { stage.origin.bytesServed > before + 1_000_000 })
            try network.unplug(.client)
            let lost = monotonicSeconds()
            _ = await soon { monotonicSeconds() > lost + seconds }
            try network.plug(.client)
        }
        stage.origin.behave()
        let outcome = try worker.wait(timeout: 240)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for (index, id) in ids.enumerated() {
            #expect(try stage.state(id) == "completed")
            let name = "\(index + 1).iso"
            #expect(try stage.isRight(name, "/\(index + 1)/\(name)"))
        }
    }

    @Test(arguments: ["serve", "run"])
    func returnOfNetworkIsReported(command: String) throws {
        let network = try NetworkPair()
        let stage = try QueueStage(size: 4_000_000, network: network)
        stage.origin.bendGET { _, reply in reply.pace = 100_000 }
        let id = try add(stage, 1)
        let worker = try stage.start([command])
        #expect(eventually(timeout: 120) { stage.origin.bytesServed > 300_000 })
        try network.unplug(.client)
        #expect(try stage.waits(for: "waiting_for_network", of: id))
        #expect(
            eventually(timeout: 120) { worker.errorOutput.contains("waiting for network") })
        #expect(!worker.errorOutput.contains("the network is back"))
        try network.plug(.client)
        #expect(
            eventually(timeout: 240) { worker.errorOutput.contains("the network is back after ") })
        stage.origin.behave()
        #expect(try stage.waits(for: "completed", of: id))
        worker.signal(SIGTERM)
        _ = try worker.wait(timeout: 240)
    }

    /// While the network is down, waiting tasks free their slots, and one task probes each host;
    /// all resume afterwards.
    @Test func oneTaskProbesUnreachableHost() throws {
        let network = try NetworkPair()
        let stage = try QueueStage(size: 4_000_000, network: network)
        stage.origin.bendGET { _, reply in reply.pace = 100_000 }
        var ids: [String] = []
        for number in 1...4 { ids.append(try add(stage, number)) }
        let worker = try stage.work()
        #expect(eventually(timeout: 120) { stage.origin.bytesServed > 500_000 })
        try network.unplug(.client)
        #expect(
            try eventually(timeout: 120, poll: 0.2) {
                try stage.tasks("--state", "waiting_for_network").count == 3
            })
        // The fourth task does not start while its host is unreachable.
        #expect(try stage.state(ids[3]) == "waiting")
        try network.plug(.client)
        stage.origin.behave()
        let outcome = try worker.wait(timeout: 240)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for id in ids { #expect(try stage.state(id) == "completed") }
    }

    /// A queue that is opened without a network waits, and downloads once there is one.
    @Test func queueOpenedOfflineWaitsForNetwork() throws {
        let network = try NetworkPair()
        try network.unplug(.client)
        let stage = try QueueStage(size: 1_000_000, network: network)
        let ids = try (1...3).map { try add(stage, $0) }
        let worker = try stage.work()
        #expect(
            try eventually(timeout: 120, poll: 0.2) {
                try !stage.tasks("--state", "waiting_for_network").isEmpty
            })
        // A kill at this moment changes nothing.
        worker.signal(SIGKILL)
        _ = try worker.wait()
        let second = try stage.start(["run"])
        #expect(eventually(timeout: 120) { stage.isWorked(by: second.pid) })
        try network.plug(.client)
        let outcome = try second.wait(timeout: 240)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for id in ids { #expect(try stage.state(id) == "completed") }
    }
}
