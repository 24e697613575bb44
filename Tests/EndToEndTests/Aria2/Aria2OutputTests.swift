import Foundation
import Segmenter
import TestSupport
import Testing

@testable import SeggetReports
import SeggetAria2

/// Compares segget's output with aria2c's.
struct Aria2OutputTests {
    private static let environment = ["HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent"]

    /// For a file and a 404, both print the same lines, except times, rates, GIDs and error texts.
    @Test(.timeLimit(.minutes(8)), arguments: ["default", "full", "hide"])
    func printsSameLinesAsAria2c(_ results: String) throws {
        let stage = try Stage(size: 100_000)
        let origin = try Origin { request in
            request.path.hasSuffix("none") ? .text(404) : .text(200, "some text")
        }
        defer { origin.stop() }
        let ours = stage.path("ours/aria2c")
        try FileManager.default.createDirectory(
            atPath: stage.path("ours"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(
            atPath: ours, withDestinationPath: Segget.binary())
        let outcomes = try [ours, "aria2c"].map { program in
            try Run(
                "/usr/bin/env",
                [
                    program, "--no-conf", "--enable-color=false", "--download-result=\(results)",
                    "-Z", "-j1", "-d", stage.path("files"), origin.url("/there"),
                    origin.url("/none"), "--allow-overwrite",
                ], in: stage.folder, environment: Self.environment
            ).wait()
        }
        let shown = outcomes.map { Self.normalized($0.output) }
        #expect(outcomes.map(\.exitCode) == [3, 3])
        #expect(outcomes.map(\.errorOutput) == ["", ""])
        #expect(shown[0] == shown[1])
        #expect(shown[1].contains("errorCode=3"))
    }

    /// The progress line contains what callers search for.
    @Test(.timeLimit(.minutes(8))) func progressLineMatchesCallersExpression() throws {
        let stage = try Stage(size: 200_000)
        stage.origin.bendGET { $0.pace = 50_000 }
        let theirs = try Run(
            "/usr/bin/env",
            [
                "aria2c", "--no-conf", "--enable-color=false", "--summary-interval=1", "-d",
                stage.folder, stage.origin.url("/file"),
            ], in: stage.folder, environment: Self.environment
        ).wait()
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

    /// Returns the text without parts that differ between runs or programs.
    private static func normalized(_ text: String) -> String {
        text.replacing(/\d\d\/\d\d \d\d:\d\d:\d\d/, with: "T")
            .replacing(/GID#[0-9a-f]{16}/, with: "GID#G")
            .replacing(/(?m)^[0-9a-f]{6}\|/, with: "G|")
            .replacing(/\|[ \w.\/]{11}\|/, with: "|S|")
            .replacing(/CUID#\d+/, with: "CUID#N")
            .replacing(/\[[\w.]+:\d+\] errorCode=(\d+) .*/) { "[P] errorCode=\($0.1)" }
    }
}
