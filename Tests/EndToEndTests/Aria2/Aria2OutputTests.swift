import SeggetFormats
import Segmenter
import TestSupport
import Testing

@testable import SeggetReports
@testable import segget

/// What is printed here, beside what aria2c itself prints.
struct Aria2OutputTests {
    private static let environment = ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"]

    /// A file that comes and one that is not there, one after the other: the same lines, but for times,
    /// speeds, GIDs and what went wrong in words.
    @Test(.timeLimit(.minutes(8)), arguments: ["default", "full", "hide"])
    func linesAreThoseOfAria2c(_ results: String) async throws {
        let stage = try Stage(size: 100_000)
        let origin = try FaultOrigin { request in
            request.path.hasSuffix("none") ? .text(404) : .text(200, "some text")
        }
        defer { origin.stop() }
        let urls = [origin.url("/there"), origin.url("/none")]
        let theirs = try ChildProcess.run(
            "/usr/bin/env",
            [
                "aria2c", "--no-conf", "--enable-color=false", "--download-result=\(results)", "-Z",
                "-j1", "-d", stage.path("theirs"),
            ] + urls, in: stage.folder, environment: Self.environment)

        let output = Guarded("")
        var console = Aria2Console()
        console.results = try #require(Aria2Console.Results(rawValue: results))
        let folder = stage.path("ours")
        let session = DownloadSession()
        var options = DownloadOptions()
        options.files.missingFolders = .made
        let tasks = urls.map { Aria2Task(urls: [$0], options: Aria2Options()) }
        let desk = Aria2Desk(
            Aria2Report(
                console, tasks: tasks, folder: folder,
                screen: Aria2Screen(
                    isTerminal: false, isColoured: false, columns: { 80 },
                    write: { text in output.withLock { $0 += text } })), signal: { nil })
        let batch = session.start(
            urls.map { BatchItem($0, to: .folder(folder), options: options) }, jobs: 1)
        await desk.follow(batch.events)
        let code = await desk.finish()
        await session.shutdown()
        #expect(code == theirs.exitCode)
        #expect(code == 3)
        let shown = Self.normalized(theirs.output).replacing("/theirs/", with: "/ours/")
        #expect(Self.normalized(output.withLock { $0 }) == shown)
        #expect(shown.contains("errorCode=3"))
    }

    /// What callers look for in the line that comes once a second.
    @Test(.timeLimit(.minutes(8))) func callersFindTheSameInBoth() throws {
        let stage = try Stage(size: 200_000)
        stage.bendGET { $0.pace = 50_000 }
        let theirs = try ChildProcess.run(
            "/usr/bin/env",
            [
                "aria2c", "--no-conf", "--enable-color=false", "--summary-interval=1", "-d",
                stage.folder, stage.origin.url("/file"),
            ], in: stage.folder, environment: Self.environment)
        let line =
            /\[#(\w+) ([\d.]+[KMG]?i?B)\/([\d.]+[KMG]?i?B)\((\d+)%\) CN:(\d+) DL:([\d.]+[KMG]?i?B)(?: ETA:(\w+))?\]/
        let found = theirs.output.matches(of: line)
        #expect(!found.isEmpty)
        for match in found {
            let lane = try Aria2Readout.Lane(
                gid: #require(Download.ID("\(match.1)0123456789")), place: "", size: 200_000)
            let ours = Aria2Readout([lane], isHumanReadable: true).line(isColoured: false)
            let same = try #require(try line.wholeMatch(in: ours))
            #expect(same.1 == match.1 && same.3 == match.3)
        }
        let head = /\ \*\*\* Download Progress Summary as of (.+) \*\*\* \n=+\n/
        let ours = Aria2Readout([], isHumanReadable: true).summary(at: Aria2Time(0), columns: 79)
        #expect(ours.firstMatch(of: head)?.0.count == theirs.output.firstMatch(of: head)?.0.count)
    }

    /// Without what differs from run to run, and from program to program.
    private static func normalized(_ text: String) -> String {
        text.replacing(/\d\d\/\d\d \d\d:\d\d:\d\d/, with: "T")
            .replacing(/GID#[0-9a-f]{16}/, with: "GID#G")
            .replacing(/(?m)^[0-9a-f]{6}\|/, with: "G|")
            .replacing(/\|[ \w.\/]{11}\|/, with: "|S|")
            .replacing(/CUID#\d+/, with: "CUID#N")
            .replacing(/\[[\w.]+:\d+\] errorCode=(\d+) .*/) { "[P] errorCode=\($0.1)" }
    }
}
