import Foundation
import TestSupport
import Testing

/// Tests standard output and standard error, with callers' regular expressions.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2StreamTests {
    /// Runs a download that takes some seconds, because the origin pauses in the middle.
    private func printed(_ options: String, _ program: Aria2Program) throws -> Aria2Outcome {
        let pair = try Aria2Pair(size: 4 << 20)
        pair.origin.bendGET { _, reply in
            reply.stallAfter = reply.body.count / 2
            reply.stallFor = 3.5
        }
        return try pair.run("aria2c --no-conf -x1 \(options) $B/a.bin", program)
    }

    @Test(arguments: Aria2Program.allCases) func printsReadoutsAsLines(program: Aria2Program) throws
    {
        let outcome = try printed("--summary-interval=1", program)
        #expect(outcome.code == 0, "\(outcome.text.lines) \(outcome.errors)")
        #expect(!outcome.text.readouts.isEmpty, "\(outcome.text.lines)")
        let text = outcome.text.lines.joined(separator: "\n")
        #expect(text.contains(/\*\*\* Download Progress Summary as of .* \*\*\* ?\n=+\n/))
        #expect(text.contains(/\nFILE: .*\/a\.bin\n-+/), "\(text)")
        #expect(outcome.errors.isEmpty)
    }

    @Test(arguments: [
        "-q", "--quiet=true", "--show-console-readout=false", "--download-result=hide",
        "--download-result=full", "--console-log-level=error", "--console-log-level=warn",
        "--stderr",
        "--stderr=true", "--enable-color=false", "--human-readable=false", "--summary-interval=0",
    ])
    func usesSameStreamsAsAria2c(option: String) throws {
        let pair = try Aria2Pair(size: 300_000)
        for (path, code) in [("a.bin", 0), ("none", 3)] as [(String, Int32)] {
            let (aria2c, segget) = try pair.both("aria2c --no-conf \(option) $B/\(path)")
            #expect(aria2c.code == code && segget.code == code, "\(segget.text.lines)")
            #expect(segget.text.told == aria2c.text.told, "\(segget.text.lines)")
            #expect(segget.text.lines.isEmpty == aria2c.text.lines.isEmpty, "\(segget.text.lines)")
            #expect(segget.errors.isEmpty == aria2c.errors.isEmpty, "\(segget.errors)")
        }
    }

    /// Each installed name runs the drop-in.
    @Test(arguments: ["segget-aria2c", "aria2c"]) func runsUnderInstalledNames(name: String) throws
    {
        let pair = try Aria2Pair(size: 300_000)
        let outcome = try pair.run("\(name) --no-conf -x2 $B/a.bin && \(name) -v", .segget)
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.tree == ["a.bin": "/a.bin"])
        #expect(outcome.text.lines.contains { $0.hasPrefix("aria2 version 1.") })
        #expect(outcome.text.lines.contains { $0.contains("segget") })
    }
}
