import Foundation
import TestSupport
import Testing

/// Raw replies, given to `curl -fL` and to segget: a second opinion on each.
///
/// Where curl has a file, segget has the same one, or refuses it for a reason that the table states;
/// where curl has none, segget has none.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ReplyDifferenceTests {
    static let groups = [
        "status lines": ReplyTable.statusLines, "interim": ReplyTable.interim,
        "fields": ReplyTable.fields, "lengths": ReplyTable.lengths, "chunks": ReplyTable.chunks,
        "codings": ReplyTable.codings, "redirects": ReplyTable.redirects,
        "ranges": ReplyTable.ranges, "cuts": ReplyTable.cuts,
    ]

    @Test func theTableIsLarge() {
        #expect(Self.groups.values.map(\.count).reduce(0, +) == ReplyTable.all.count)
        #expect(ReplyTable.all.count >= 150)
        #expect(ReplyTable.all.count { $0.outcome == .download } >= 100)
        #expect(Set(ReplyTable.all.map(\.name)).count == ReplyTable.all.count)
    }

    @Test(arguments: groups.keys.sorted())
    func bothHaveTheSameOrTheTableSaysWhy(group: String) async throws {
        var rows = (Self.groups[group] ?? []).makeIterator()
        try await withThrowingTaskGroup { tasks in
            for _ in 0..<4 {
                if let row = rows.next() { tasks.addTask { try await Self.tryOut(row) } }
            }
            while try await tasks.next() != nil {
                if let row = rows.next() { tasks.addTask { try await Self.tryOut(row) } }
            }
        }
    }

    /// Serves a reply to both, and compares what they make of it.
    private static func tryOut(_ row: ReplyRow) async throws {
        let origin = try FaultOrigin { request in
            let host = request.header("Host") ?? ""
            return .raw(
                row.reply(request).replacingOccurrences(of: "127.0.0.1:PORT", with: host))
        }
        let sandbox = try Sandbox()
        let url = origin.url("/dir/row")
        let curl = try await Trials.end(
            of: ChildProcess(
                "/usr/bin/curl", ["-q", "-fsSL", "-m", "60", "-o", "curl", url], in: sandbox.path))
        let segget = try await Trials.run(
            [
                url, "-o", "segget", "--retries", "0", "--connect-timeout", "30",
                "--stall-timeout", "30",
            ], in: sandbox.path)
        let names = try sandbox.names()
        let report: Comment = """
            \(row.name)
            curl \(curl.end): \(curl.errorOutput)
            segget \(segget.end): \(segget.errorOutput)
            """
        switch row.outcome {
        case .download:
            #expect(curl.exitCode == 0, report)
            #expect(segget.exitCode == 0, report)
            // curl makes no file for an empty body.
            let expected = names.contains("curl") ? try sandbox.read("curl") : Data()
            #expect(names.filter { $0 != "curl" } == ["segget"], report)
            guard names.contains("segget") else { return }
            #expect(try sandbox.read("segget") == expected, report)
        case .failure, .refusal:
            #expect((curl.exitCode == 0) == (row.outcome != .failure), report)
            #expect([65, 69, 76, 77].contains(segget.exitCode), report)
            #expect(!names.contains("segget"), report)
        }
    }
}
