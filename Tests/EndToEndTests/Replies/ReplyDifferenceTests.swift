import Foundation
import TestSupport
import Testing

/// Compares what `curl -fL` and segget do with the same raw replies.
///
/// If curl saves a file, segget saves the same one, or refuses it for a reason in the table. If
/// curl saves none, segget saves none.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ReplyDifferenceTests {
    static let groups = [
        "status lines": ReplyTable.statusLines, "interim": ReplyTable.interim,
        "fields": ReplyTable.fields, "lengths": ReplyTable.lengths, "chunks": ReplyTable.chunks,
        "codings": ReplyTable.codings, "redirects": ReplyTable.redirects,
        "ranges": ReplyTable.ranges, "cuts": ReplyTable.cuts,
    ]

    @Test func tableHasManyRows() {
        #expect(Self.groups.values.map(\.count).reduce(0, +) == ReplyTable.all.count)
        #expect(ReplyTable.all.count >= 150)
        #expect(ReplyTable.all.count { $0.outcome == .download } >= 100)
        #expect(Set(ReplyTable.all.map(\.name)).count == ReplyTable.all.count)
    }

    @Test(arguments: groups.keys.sorted())
    func resultsMatchCurlOrTable(group: String) async throws {
        let rows = Self.groups[group] ?? []
        let origins = try rows.map { row in
            try Origin { request in
                let host = request.header("Host") ?? ""
                return .raw(
                    row.reply(request).replacingOccurrences(of: "127.0.0.1:PORT", with: host))
            }
        }
        let sandbox = try Sandbox()
        let list = origins.enumerated().map { "\($1.url("/dir/row"))\n  out=segget\($0)\n" }
        try sandbox.write("list", list.joined())
        // One process for all rows, because starting processes takes most of the time.
        let segget = try await Run(
            [
                "--input-file", "list", "--jobs", "4", "--json", "--retries", "0",
                "--connect-timeout", "60", "--stall-timeout", "60",
            ], in: sandbox.path
        ).ended()
        let failures = try segget.events("error")
        for (number, row) in rows.enumerated() {
            let url = origins[number].url("/dir/row")
            try await Self.compare(
                row, number, url, in: sandbox, failures.first { $0.url == url })
        }
    }

    /// Downloads a row with curl, and compares the results.
    private static func compare(
        _ row: ReplyRow, _ number: Int, _ url: String, in sandbox: Sandbox, _ failure: WireEvent?
    ) async throws {
        let (theirs, ours) = ("curl\(number)", "segget\(number)")
        let curl = try await Run(
            "/usr/bin/curl", ["-q", "-fsSL", "-m", "60", "-o", theirs, url], in: sandbox.path
        ).ended()
        let names = try sandbox.names()
        let report: Comment = """
            \(row.name)
            curl \(curl.end): \(curl.errorOutput)
            segget \(failure?.code ?? 0): \(failure?.message ?? "")
            """
        switch row.outcome {
        case .download:
            #expect(curl.exitCode == 0, report)
            #expect(failure == nil, report)
            #expect(names.contains(ours), report)
            guard names.contains(ours) else { return }
            // curl creates no file for an empty body.
            let expected = names.contains(theirs) ? try sandbox.read(theirs) : Data()
            #expect(try sandbox.read(ours) == expected, report)
        case .failure, .refusal:
            #expect((curl.exitCode == 0) == (row.outcome != .failure), report)
            #expect([65, 69, 76, 77].contains(failure?.code), report)
            #expect(!names.contains(ours), report)
        }
    }
}
