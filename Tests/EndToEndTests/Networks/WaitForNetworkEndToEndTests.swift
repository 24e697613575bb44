import Foundation
import Glibc
import TestSupport
import Testing

/// `--wait-for-network`: outages that are longer than all other limits.
@Suite(
    .serialized, .timeLimit(.minutes(5)),
    .enabled(if: NetworkPair.unavailable == nil, "\(NetworkPair.unavailable ?? "")"))
struct WaitForNetworkEndToEndTests {
    /// Limits that end before an outage of some seconds does.
    static let impatient = [
        "--connect-timeout", "1", "--stall-timeout", "1", "--retries", "1",
    ]
    private static let waiting = "\"waiting_for_network\""
    private static let back = "\"network_is_back\""

    /// A file of 8 MB that takes some seconds, in separate network namespaces.
    private func trial(_ connections: Int = 3) throws -> (trial: WireTrial, network: NetworkPair) {
        let network = try NetworkPair()
        let trial = try WireTrial(size: 8_000_000, sendBuffer: 64 << 10, network: network) {
            $1.pace = 1_500_000 / Double(connections)
        }
        return (trial, network)
    }

    private func start(
        _ trial: WireTrial, connections: Int = 3, _ more: [String] = ["--wait-for-network"]
    ) throws -> Run {
        try trial.start(["-x", "\(connections)"] + Self.impatient + more)
    }

    /// Waits until the download runs, and then disconnects the network.
    private func lose(
        _ network: NetworkPair, _ end: NetworkPair.End, _ trial: WireTrial, _ child: Run
    ) throws {
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        try network.unplug(end)
        #expect(eventually { child.output.contains(Self.waiting) })
    }

    /// With `--single-request`, each request may count as a download.
    ///
    /// segget opens connections to check whether the network is back, and sends no request on them.
    @Test func singleRequestSendsNoCanaries() async throws {
        let (trial, network) = try trial(1)
        let child = try start(
            trial, connections: 1, ["--wait-for-network", "--single-request"])
        try lose(network, .client, trial, child)
        let lost = monotonicSeconds()
        // Canaries are due after 1 and 3 s.
        _ = await soon { monotonicSeconds() > lost + 4 }
        try network.plug(.client)
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        let asked = trial.origin.requests.asked
        #expect(asked.count == 2 && asked.first == "GET", "\(asked)")
        let rest = try #require(asked.last)
        #expect(rest.hasPrefix("GET bytes=") && rest.hasSuffix("-"), "\(asked)")
    }

    /// The outage is longer than all timeouts together.
    ///
    /// When the network is back, the next canary is due many seconds later: the route change
    /// triggers one. Meanwhile segget does not wake up.
    @Test(arguments: [(NetworkPair.End.client, 3), (.server, 1)])
    func routeChangeEndsWaitAfterLongOutage(end: NetworkPair.End, connections: Int) async throws {
        let (trial, network) = try trial(connections)
        let child = try start(trial, connections: connections)
        try lose(network, end, trial, child)
        // Canaries are sent after 1, 3, 7 and 15 s, plus the time that each one takes; the next one
        // is due 16 s later.
        let lost = monotonicSeconds()
        _ = await soon { monotonicSeconds() > lost + 13 }
        let before = try Wakes(of: child.pid)
        _ = await soon { monotonicSeconds() > lost + 15.5 }
        let after = try Wakes(of: child.pid)
        _ = await soon { monotonicSeconds() > lost + 21 }
        #expect(child.isRunning && !child.output.contains(Self.back))
        let plugged = monotonicSeconds()
        try network.plug(end)
        #expect(await soon { child.output.contains(Self.back) })
        let woken = monotonicSeconds() - plugged
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(woken < 8, "woken after \(woken) s")
        // The sum over all threads.
        #expect(after.switches - before.switches <= 20, "\(before) \(after)")
        #expect(after.seconds - before.seconds < 0.2, "\(before) \(after)")
        #expect(trial.excess <= 3 << 20)
        #expect(try outcome.notices("network_is_back").count == 1)
        #expect(try outcome.notices("started_over").isEmpty)
        let told = try outcome.notices("waiting_for_network")
        #expect(told.first?.message?.contains("waiting until it is back") == true)
        #expect(try outcome.events("progress").contains { $0.phase == "waiting_for_network" })
        let seconds = try #require(try outcome.notices("network_is_back").first?.seconds)
        #expect(seconds >= 20)
    }

    /// The link goes up and down each second: segget sends at most one canary each time.
    @Test func completesAfterLinkFlaps() async throws {
        let (trial, network) = try trial()
        let child = try start(trial)
        try lose(network, .client, trial, child)
        let before = try Wakes(of: child.pid)
        for _ in 0..<6 {
            try network.plug(.client)
            let now = monotonicSeconds()
            _ = await soon { monotonicSeconds() > now + 0.5 }
            try network.unplug(.client)
            _ = await soon { monotonicSeconds() > now + 1 }
        }
        let after = try Wakes(of: child.pid)
        #expect(child.isRunning)
        try network.plug(.client)
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(after.seconds - before.seconds < 3, "\(before) \(after)")
        #expect(try outcome.notices("started_over").isEmpty)
    }

    /// segget dropped the mirrors during the outage, and uses them again after it.
    @Test func usesDroppedMirrorsAfterOutage() async throws {
        let network = try NetworkPair()
        let trial = try WireTrial(size: 12_000_000, sendBuffer: 64 << 10, network: network) {
            $1.pace = 300_000
        }
        let content = trial.content
        let mirror = try Origin(network: network, sendBuffer: 64 << 10) { request in
            .file(content, for: request, etag: "\"a\"").with { $0.pace = 300_000 }
        }
        let child = try start(
            trial, connections: 4, ["--wait-for-network", "--mirror", mirror.url("/dir/file.bin")])
        #expect(eventually { mirror.bytesServed > 500_000 })
        try network.unplug(.client)
        #expect(eventually { child.output.contains(Self.waiting) })
        let before = (trial.origin.bytesServed, mirror.bytesServed)
        try network.plug(.client)
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(trial.origin.bytesServed > before.0 && mirror.bytesServed > before.1)
        #expect(try outcome.notices("mirror_joined").count == 2)
    }

    /// A part of an earlier run counts as received data, even if nothing answers at the start.
    @Test(arguments: [true, false])
    func waitsAtStartIfPartExists(onlyNames: Bool) async throws {
        let (trial, network) = try trial()
        let names = try NameServer(network, .answers, options: "timeout:1 attempts:1")
        defer { names.stop() }
        let url = "http://origin.test:\(trial.origin.port)/dir/file.bin"
        let arguments = ["-x", "3"] + Self.impatient + ["--wait-for-network"]
        let first = try trial.start(arguments, url: url)
        #expect(eventually { trial.origin.bytesServed > 3_000_000 })
        first.signal(SIGINT)
        let kept = try #require(try await first.ended().events("error").first?.bytesKept)
        #expect(kept > 0)
        if onlyNames { names.become(.silent) } else { try network.unplug(.client) }
        let served = trial.origin.bytesServed
        let child = try trial.start(arguments, url: url)
        #expect(eventually { child.output.contains(Self.waiting) })
        if onlyNames { names.become(.answers) } else { try network.plug(.client) }
        let outcome = try await child.ended()
        try outcome.expectComplete(trial.content)
        #expect(try outcome.events("started").first?.bytesResumed == kept)
        #expect(trial.origin.bytesServed - served <= 8_000_000 - kept + (2 << 20))
    }

    /// segget has received nothing yet, and the host may be wrong.
    @Test func doesNotWaitBeforeFirstByte() async throws {
        let (trial, network) = try trial()
        try network.unplug(.client)
        let outcome = try await start(trial).ended()
        try outcome.expectFailure(code: 69, kind: "network", keepsPart: false)
        #expect(try outcome.notices("waiting_for_network").isEmpty)
        #expect(!outcome.errorOutput.contains("--wait-for-network"))
    }

    @Test func hintNamesOptionIfItIsNotGiven() async throws {
        let (trial, network) = try trial()
        let child = try start(trial, [])
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        try network.unplug(.client)
        let outcome = try await child.ended()
        #expect(outcome.exitCode == 69)
        #expect(outcome.errorOutput.contains("with `--wait-for-network`, segget waits"))
        #expect(try outcome.notices("waiting_for_network").isEmpty)
    }

    /// A server that refuses connections is reachable: only `--retries` applies.
    @Test(arguments: [[], ["--wait-for-network"]])
    func doesNotWaitIfServerRefusesConnections(option: [String]) async throws {
        let (trial, _) = try trial()
        let child = try start(trial, option)
        #expect(eventually { trial.origin.bytesServed > 2_000_000 })
        trial.origin.refuseConnections()
        trial.origin.dropConnections()
        let outcome = try await child.ended()
        try outcome.expectFailure(code: 69, kind: "network")
        #expect(outcome.errorOutput.contains("Connection refused"))
        #expect(!outcome.errorOutput.contains("--wait-for-network"))
        #expect(try outcome.notices("waiting_for_network").isEmpty)
    }

    @Test func signalEndsWait() async throws {
        let (trial, network) = try trial()
        let child = try start(trial)
        try lose(network, .client, trial, child)
        let began = monotonicSeconds()
        child.signal(SIGINT)
        let outcome = try await child.ended()
        try outcome.expectFailure(code: 130, kind: "cancelled")
        #expect(try #require(try outcome.events("error").first?.bytesKept) > 1_000_000)
        #expect(monotonicSeconds() - began < 30)
    }
}

/// The context switches and CPU time of a process so far.
private struct Wakes: CustomStringConvertible {
    /// The voluntary context switches of all threads.
    var switches = 0
    /// The CPU time in seconds.
    var seconds = 0.0

    init(of pid: Int32) throws {
        let tasks = "/proc/\(pid)/task"
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            // A thread may have ended meanwhile.
            guard
                let status = try? String(contentsOfFile: "\(tasks)/\(task)/status", encoding: .utf8)
            else { continue }
            for line in status.split(separator: "\n")
            where line.hasPrefix("voluntary_ctxt_switches") {
                switches += line.split(separator: "\t").last.flatMap { Int($0) } ?? 0
            }
        }
        let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        // Fields 14 and 15, in clock ticks; the name before them may contain spaces.
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        let ticks = fields.dropFirst(12).prefix(2).compactMap { Double($0) }
        seconds = ticks.reduce(0, +) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    var description: String { "\(switches) switches, \(seconds) s" }
}
