import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `segget settings --rule`.
@Suite(.timeLimit(.minutes(5)))
struct QueueRuleCommandTests {
    private let stage: QueueStage

    init() throws { stage = try QueueStage(size: 100_000) }

    @Test func meteredNetworkPausesQueue() throws {
        try stage.tool("busctl", "echo u 1")
        try stage.done("settings", "--rule", "metered=pause", "--rule", "battery=2M")
        let id = try stage.add("/1/a.iso")
        let worker = try stage.work()
        #expect(
            try eventually {
                try stage.task(id)["pause_reason"] as? String == "on a metered network"
            })
        #expect(try stage.task(id)["wanted"] as? String == "run")
        let list = try stage.done("list")
        #expect(
            list.contains(" waiting ")
                && list.contains("\nthe queue is paused: on a metered network\n"))
        let shown = try stage.done("show", id)
        #expect(
            shown.contains("state         waiting: the queue is paused: on a metered"), "\(shown)")
        #expect(stage.origin.requests.isEmpty)
        // A changed rule makes the worker check the network at once.
        try stage.tool("busctl", "echo u 4")
        try stage.done("settings", "--rule", "metered=pause")
        let outcome = try worker.wait(timeout: 120)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("note: the queue is paused: on a metered network"))
        #expect(outcome.errorOutput.contains("note: the queue continues"))
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
    }

    @Test func rulesAreShownAndRemoved() throws {
        let shown = try stage.done(
            "settings", "--rule", "metered=pause", "--rule", "22:00-06:00=pause", "--rule",
            "battery=2M", "--metered", "yes")
        #expect(
            shown.contains("rules           metered pause, 22:00-06:00 pause, battery 2.00 MiB/s"))
        #expect(shown.contains("metered         yes"))
        let json = try stage.done("settings", "--json")
        let settings = try #require(
            try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(settings["metered"] as? String == "yes")
        #expect((settings["rules"] as? [[String: Any]])?.count == 3)
        let none = try stage.done("settings", "--rule", "none", "--metered", "auto")
        #expect(!none.contains("rules") && !none.contains("metered"))
        for bad in ["metered", "battery=0", "wifi=pause", "metered=pause,battery=2M"] {
            let refused = try stage.run("settings", "--rule", bad)
            #expect(refused.end == .exit(64), "\(bad): \(refused.errorOutput)")
            #expect(refused.errorOutput.contains("`--rule` takes"), "\(refused.errorOutput)")
        }
    }
}
