import Foundation
import Glibc
import TestSupport
import Testing

/// Tests how `segget list` and other commands report tasks and a missing worker.
struct QueueListTests {
    private func add(_ count: Int, _ stage: QueueStage) throws -> [String] {
        let urls = (1...count).map { stage.origin.url("/\($0)/\($0).iso") }
        let outcome = try stage.start(["add"] + urls).wait(timeout: 300)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
        return outcome.output.split(separator: "\n").map(String.init)
    }

    @Test(.timeLimit(.minutes(5))) func watchFitsScreenAndKeepsSummary() throws {
        let stage = try QueueStage(size: 1000)
        _ = try add(30, stage)
        let screen = try Screen(
            [try Segget.binary(), "list", "--watch", "--queue", stage.queue], in: stage.folder,
            width: 80)
        func has(_ text: String) throws -> Bool {
            try eventually { try screen.lines().joined(separator: "\n").contains(text) }
        }
        #expect(try has("… and 10 more\n30 waiting"), "\(screen.shown)")
        #expect(try has("no worker is running"))
        #expect(try screen.lines().first?.hasPrefix("  ID STATE") == true, "\(screen.shown)")
        #expect(try stage.run("run").end == .exit(0))
        #expect(try has("30 completed\n30 finished since you last looked"), "\(screen.shown)")
        // Tasks that did not fit on the screen are still unseen.
        #expect(try eventually { try stage.tasks("--unseen").count == 10 })
        // Later frames repeat the summary.
        _ = try stage.add("/31/31.iso", "--paused")
        #expect(try has("1 paused, 30 completed\n30 finished"), "\(screen.shown)")
        try screen.resize(width: 40)
        #expect(
            try eventually {
                let lines = try screen.lines()
                return lines.count == 24 && lines.contains("1 paused, 30 completed")
                    && lines.first?.hasPrefix("  ID STATE") == true
            }, "\(screen.shown)")
    }

    @Test(.timeLimit(.minutes(10))) func watchSurvivesRestartOfWorker() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.stallAfter = 100_000 }
        try stage.done("settings", "--max-running", "1")
        let id = try add(2, stage)[0]
        let worker = try stage.work("--keep-running")
        let list = try Screen(
            [try Segget.binary(), "list", "--watch", "--queue", stage.queue], in: stage.folder,
            width: 80)
        let show = try Screen(
            [try Segget.binary(), "show", "--watch", id, "--queue", stage.queue], in: stage.folder,
            width: 80)
        func has(_ screen: Screen, _ text: String, _ isWorked: Bool) throws -> Bool {
            try eventually {
                let shown = try screen.lines().joined(separator: "\n")
                return shown.contains(text) && shown.contains("no worker is running") != isWorked
            }
        }
        #expect(try has(list, "\n1 running, 1 waiting", true), "\(list.shown)")
        #expect(try has(show, "state         running", true), "\(show.shown)")
        #expect(try has(show, "connection    ", true), "\(show.shown)")
        // The list shows added tasks.
        _ = try stage.add("/3/3.iso", "--paused")
        #expect(try has(list, "\n1 running, 1 waiting, 1 paused", true), "\(list.shown)")
        worker.signal(SIGKILL)
        _ = try worker.wait()
        #expect(try has(list, "\n2 waiting, 1 paused", false), "\(list.shown)")
        #expect(try has(show, "state         waiting for a slot", false), "\(show.shown)")
        let next = try stage.work("--keep-running")
        #expect(try has(list, "\n1 running, 1 waiting, 1 paused", true), "\(list.shown)")
        #expect(try has(show, "state         running", true), "\(show.shown)")
        try stage.done("cancel", id)
        #expect(try has(show, "state         cancelled", true), "\(show.shown)")
        // Ctrl-C ends `list`; `show` ends when its task is removed.
        try list.press("C-c")
        #expect(
            try eventually {
                let lines = try list.lines()
                // Only the previous screen remains.
                return lines.count == 1 && lines[0].hasSuffix("code 130")
            }, "\(list.shown)")
        try stage.done("remove", id)
        #expect(try eventually { try show.text().contains("code 64") }, "\(show.shown)")
        #expect(try show.text().contains("there is no task \(id)"), "\(show.shown)")
        next.signal(SIGTERM)
        _ = try next.wait()
    }

    @Test(.timeLimit(.minutes(5))) func everyCommandReportsMissingWorker() throws {
        let stage = try QueueStage(size: 1000)
        let id = try add(1, stage)[0]
        for arguments in [
            ["add", stage.origin.url("/2/b.iso")], ["list"], ["show", id], ["pause", id],
            ["resume", id], ["start", id], ["move", id, "--last"], ["rename", id, "c.iso"],
            ["set", id, "-x", "2"], ["tag", id, "+t"], ["settings"],
            ["settings", "--max-running", "2"], ["clear"], ["cancel", id], ["retry", id],
            ["remove", id],
        ] {
            let outcome = try stage.start(arguments).wait()
            #expect(outcome.end == .exit(0), "\(arguments): \(outcome.errorOutput)")
            let note = "no worker is running"
            #expect(outcome.errorOutput.contains(note), "\(arguments)")
            #expect(!outcome.output.contains(note), "\(arguments)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func listCountsRunningTasks() throws {
        let stage = try QueueStage()
        stage.origin.bendGET { _, reply in reply.stallAfter = 100_000 }
        try stage.done("settings", "--max-running", "1")
        let worker = try stage.work("--keep-running")
        _ = try add(2, stage)
        var shown = ""
        #expect(
            try eventually {
                shown = try stage.done("list")
                return shown.contains("\n1 running, 1 waiting")
            }, "\(shown)")
        worker.signal(SIGTERM)
        _ = try worker.wait()
    }

    @Test(.timeLimit(.minutes(5))) func unknownTagIsReported() throws {
        let stage = try QueueStage(size: 1000)
        try stage.done("pause", "--all")
        let id = try stage.add("/1/a.iso", "--tag", "good")
        for arguments in [
            ["pause"], ["cancel"], ["remove"], ["move", "--first"], ["set", "-x", "2"],
        ] {
            let outcome = try stage.start(arguments + ["--tag", "godo"]).wait()
            #expect(outcome.end == .exit(64), "\(arguments): \(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains("no task has the tag `godo`"), "\(arguments)")
        }
        // The command applies to the other tag.
        let both = try stage.run("pause", "--tag", "godo", "--tag", "good")
        #expect(both.end == .exit(64))
        #expect(try stage.task(id)["wanted"] as? String == "paused")
    }
}
