import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that event hooks run with aria2c's arguments.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2HookTests {
    /// Returns the calls in order: the hook, and its arguments without the folder and with `GID`
    /// for a GID.
    private func calls(_ program: Aria2Program, _ pair: Aria2Pair, count: Int) -> [String] {
        var lines: [String] = []
        // The commands may end after the program.
        _ = eventually(timeout: 20) {
            let data = FileManager.default.contents(atPath: pair.sandbox.path("\(program)/calls"))
            lines = String(decoding: data ?? Data(), as: UTF8.self).split(separator: "\n").map(
                String.init)
            return lines.count >= count
        }
        return lines.map {
            $0.replacingOccurrences(of: pair.folder(program), with: "DIR")
                .replacing(/[0-9a-f]{16}/, with: "GID")
        }.sorted()
    }

    private func hooks(_ names: [String], _ program: Aria2Program, _ pair: Aria2Pair) throws
        -> String
    {
        try names.map { name in
            let path = try pair.sandbox.write(
                "\(program)/\(name).sh",
                "#!/bin/sh\necho \"\(name) $# $1 $2 $3\" >>'\(pair.sandbox.path("\(program)/calls"))'\n"
            )
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return "--on-download-\(name)=\(path)"
        }.joined(separator: " ")
    }

    private static let all = ["start", "complete", "error", "stop"]

    @Test(
        arguments: [
            (all, "$B/a.bin", ["complete 3 GID 1 DIR/a.bin", "start 3 GID 1 "]),
            (
                ["start", "stop"], "-d sub -o x $B/a.bin",
                ["start 3 GID 1 sub/x", "stop 3 GID 1 sub/x"]
            ),
            (all, "$B/none", ["error 3 GID 1 ", "start 3 GID 1 "]),
            (["stop"], "$B/none", ["stop 3 GID 1 "]),
            (["complete"], "$B/none", []),
            (
                all, "-j1 -Z $B/a.bin $B/none $B/b.bin",
                [
                    "complete 3 GID 1 DIR/a.bin", "complete 3 GID 1 DIR/b.bin", "error 3 GID 1 ",
                    "start 3 GID 1 ", "start 3 GID 1 ", "start 3 GID 1 ",
                ]
            ),
        ] as [([String], String, [String])])
    func passesSameArgumentsAsAria2c(names: [String], line: String, wanted: [String]) throws {
        let pair = try Aria2Pair(size: 300_000)
        for program in Aria2Program.allCases {
            let outcome = try pair.run(
                "aria2c --no-conf \(try hooks(names, program, pair)) \(line)", program)
            let calls = calls(program, pair, count: wanted.count)
            #expect(calls == wanted, "\(program): \(outcome.text.lines)")
        }
    }

    /// A signal runs the stop hook.
    @Test func signalRunsStopHook() throws {
        let pair = try Aria2Pair(size: 4 << 20)
        pair.origin.bendGET { $1.stallAfter = 1 << 20 }
        var all: [[String]] = []
        for program in Aria2Program.allCases {
            let count = pair.origin.requests.count
            let process = try pair.start(
                "exec aria2c --no-conf \(try hooks(Self.all, program, pair)) -x1 $B/a.bin", program)
            #expect(
                eventually {
                    pair.origin.requests.dropFirst(count).contains { $0.bytesServed >= 1 << 20 }
                })
            process.signal(SIGINT)
            #expect(try pair.outcome(of: process.wait(), program, after: count).code == 7)
            all.append(calls(program, pair, count: 2))
        }
        #expect(all[0] == all[1])
        #expect(all[1].contains { $0.hasPrefix("stop 3 GID 1 ") }, "\(all)")
    }

    /// A hook that does not exist does not change the exit code.
    @Test func missingHookDoesNotChangeExitCode() throws {
        let pair = try Aria2Pair(size: 100_000)
        let (aria2c, segget) = try pair.both(
            "aria2c --no-conf --on-download-complete=/nonexistent/x $B/a.bin")
        #expect(aria2c.code == segget.code && segget.code == 0, "\(segget.text.lines)")
        #expect(segget.tree == aria2c.tree)
    }
}
