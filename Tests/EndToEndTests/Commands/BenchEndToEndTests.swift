import Foundation
import Glibc
import TestSupport
import Testing

/// Tests `segget bench` with servers of several kinds.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct BenchEndToEndTests {
    private static let url = "/file?token=hush"

    private func run(_ stage: Stage, _ arguments: [String]) throws -> Run.Outcome {
        try stage.run(["bench"] + arguments, path: Self.url)
    }

    private func events(
        _ outcome: Run.Outcome, named name: String
    ) throws -> [[String: Any]] {
        try jsonEvents(outcome.output).filter { $0["event"] as? String == name }
    }

    @Test func measuresClientsInTurn() throws {
        let stage = try Stage(size: 4 << 20)
        let outcome = try run(
            stage,
            [
                "-x", "1,4,auto", "--rounds", "2", "--against", "curl", "--json", "--report",
                "r.html",
            ])
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let names = try jsonEvents(outcome.output).compactMap { $0["event"] as? String }
        #expect(
            names == ["run", "schedule"] + Array(repeating: "measured", count: 8) + ["result"])
        let measured = try events(outcome, named: "measured")
        let clients = ["segget -x 1", "segget -x 4", "segget auto", "curl"]
        #expect(
            measured.map { $0["name"] as? String } == clients + clients[1...] + clients[..<1])
        for measurement in measured {
            #expect(measurement["end"] as? String == "complete", "\(measurement)")
            let bytes = try #require(measurement["bytes"] as? Int64)
            #expect(bytes >= 4 << 20 && bytes < 5 << 20, "\(measurement)")
            #expect((measurement["cpu_seconds"] as? Double ?? 0) > 0)
            #expect((measurement["first_byte"] as? Double ?? 0) > 0)
        }
        let result = try #require(try events(outcome, named: "result").first)
        #expect((result["rows"] as? [[String: Any]])?.count == 4)
        #expect((result["ratios"] as? [[String: Any]])?.isEmpty == false)
        let page = try String(contentsOfFile: stage.path("r.html"), encoding: .utf8)
        #expect(page.contains("segget -x 4") && page.contains("<svg"))
        for text in [outcome.output, outcome.errorOutput, page] { #expect(!text.contains("hush")) }
        #expect(outcome.errorOutput.contains("8 measurements of"))
        #expect(try stage.names() == ["r.html"])
    }

    @Test func maxBytesEndsMeasurement() throws {
        let sandbox = try Sandbox()
        let size = 64 << 20
        try Data(count: size).write(to: URL(fileURLWithPath: sandbox.path("file")))
        let nginx = try Nginx(root: sandbox.path, limitRate: "1m")
        let folder = try Sandbox()
        let outcome = try Run(
            [
                "bench", nginx.url("/file"), "-x", "1,2", "--rounds", "1", "--max-bytes", "4M",
                "--csv", "--against", "curl", "-q",
            ], in: folder.path
        ).wait()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput == "")
        let lines = outcome.output.split(separator: "\r\n").map { $0.split(separator: ",") }
        #expect(lines.count == 4 && lines.first?.first == "round")
        for line in lines.dropFirst() {
            #expect(line[3] == "bytes", "\(line)")
            #expect((Int(line[4]) ?? 0) < 16 << 20, "\(line)")
        }
        #expect(try folder.names() == [])
    }

    @Test func removesFiles() throws {
        let stage = try Stage(size: 1 << 20)
        let outcome = try run(stage, ["-x", "2", "--rounds", "2", "--disk", "."])
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        #expect(outcome.output.contains("segget -x 2"))
        #expect(outcome.errorOutput.contains("too little time to measure"))
        #expect(try stage.names() == [])
    }

    @Test func measuresOneStreamWithoutRanges() throws {
        let stage = try Stage(size: 1 << 20)
        stage.origin.change { offer in
            offer.servesRanges = false
            offer.bend = { $1.set("Accept-Ranges", "none") }
        }
        let outcome = try run(stage, ["--rounds", "1", "--json"])
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let plan = try #require(try events(outcome, named: "schedule").first)
        #expect(plan["clients"] as? [String] == ["segget -x 1"])
        #expect(outcome.errorOutput.contains("the server does not support byte ranges"))
    }

    @Test func missingOrFailingProgramsAreNotes() throws {
        let stage = try Stage(size: 1 << 20)
        let programs = try Sandbox()
        try FileManager.default.createSymbolicLink(
            atPath: programs.path("curl"), withDestinationPath: "/bin/false")
        let outcome = try Run(
            [
                "bench", stage.origin.url("/file"), "-x", "1", "--rounds", "1", "--against",
                "curl,aria2c", "--json",
            ], in: stage.folder, environment: ["PATH": programs.path]
        ).wait()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        let result = try #require(try events(outcome, named: "result").first)
        let notes = try #require(result["notes"] as? [String]).joined(separator: "\n")
        #expect(notes.contains("aria2c is left out: it is not installed"))
        #expect(notes.contains("1 measurement of curl failed: the program ended with exit code 1"))
        #expect(try events(outcome, named: "measured").count == 2)
    }

    @Test(arguments: [(404, 69, "status"), (403, 77, "refused")] as [(Int, Int32, String)])
    func failsWithCodeOfStatus(status: Int, code: Int32, kind: String) throws {
        let stage = try Stage(size: 1000)
        stage.origin.bend { $1 = .text(status) }
        let outcome = try run(stage, ["--json"])
        #expect(outcome.exitCode == code)
        let error = try #require(try events(outcome, named: "error").first)
        #expect(error["kind"] as? String == kind)
        #expect(outcome.errorOutput.hasPrefix("error: "))
        #expect(!(outcome.output + outcome.errorOutput).contains("hush"))
    }

    @Test func refusesUnreachableServerAndWrongUsage() throws {
        let folder = try Sandbox()
        func code(_ arguments: [String]) throws -> Int32? {
            try Run(["bench", "--retries", "0"] + arguments, in: folder.path).wait().exitCode
        }
        // No service listens on the port "discard" of a test machine.
        #expect(try code(["http://127.0.0.1:9/f"]) == 69)
        #expect(try code(["ftp://127.0.0.1/f"]) == 64)
        #expect(try code(["http://127.0.0.1/", "--against", "netcat"]) == 64)
        #expect(try code(["http://127.0.0.1/", "--report", "none/r.html"]) == 73)
        try folder.write("r.html", "mine")
        #expect(try code(["http://127.0.0.1/", "--report", "r.html"]) == 73)
        #expect(try folder.names() == ["r.html"])
    }

    @Test func failsIfServerFailsLater() throws {
        let stage = try Stage(size: 1 << 20)
        stage.origin.bendGET { $0 = .text(404) }
        let outcome = try run(stage, ["-x", "1", "--rounds", "1", "--retries", "0"])
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("404"))
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGKILL])
    func stopLeavesNoProcess(signal: Int32) throws {
        let stage = try Stage(size: 64 << 20)
        stage.origin.bendGET { $0.stallAfter = 64 << 10 }
        let secret = "hush-\(getpid())-\(signal)"
        let process = try stage.start(
            ["bench", "-x", "2", "--rounds", "1", "--disk", ".", "--json"],
            path: "/file?token=\(secret)")
        let isUnderWay = process.waits {
            stage.origin.requests.contains { $0.bytesServed > 32 << 10 }
        }
        #expect(isUnderWay, "\(process.errorOutput)")
        let worker = try #require(child(of: process.pid))
        #expect(commandLine(of: worker).contains("bench-worker"))
        #expect(commandLines(with: secret) == [])
        process.signal(signal)
        let outcome = try process.wait()
        #expect(eventually(timeout: 60) { kill(worker, 0) != 0 })
        guard signal != SIGKILL else { return }
        #expect(outcome.exitCode == 128 + signal, "\(outcome.errorOutput)")
        #expect(try stage.names() == [])
        let error = try #require(try events(outcome, named: "error").first)
        #expect(error["kind"] as? String == "cancelled")
    }

    /// The process IDs of this machine.
    private var processes: [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }
    }

    private func commandLine(of pid: Int32) -> String {
        (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)) ?? ""
    }

    private func commandLines(with text: String) -> [String] {
        processes.map(commandLine).filter { $0.contains(text) }
    }

    /// Returns a child process of another process.
    private func child(of parent: Int32) -> Int32? {
        processes.first { pid in
            let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
            return status?.contains("\nPPid:\t\(parent)\n") == true
        }
    }
}
