import Foundation
import Glibc
import TestSupport
import Testing

/// Tests input lists, and sessions with unfinished downloads.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2SessionTests {
    private static let size: Int64 = 3_000_000

    /// Runs the line until both slow files have 400 kB, and ends it with SIGINT.
    private func interrupted(
        _ line: String, _ program: Aria2Program, _ pair: Aria2Pair
    ) throws -> Aria2Outcome {
        let count = pair.origin.requests.count
        pair.origin.bendGET { request, reply in
            if request.path.hasPrefix("/slow") { reply.stallAfter = 500_000 }
        }
        let process = try pair.start("exec \(line)", program)
        let isUnderWay = eventually(timeout: 120) {
            let requests = pair.origin.requests.dropFirst(count)
            let paths = Set(requests.filter { $0.bytesServed >= 400_000 }.map(\.path))
            return paths.isSuperset(of: ["/slow1", "/slow2"])
                && process.output.contains("Download complete: \(pair.path("quick", program))")
        }
        #expect(isUnderWay)
        process.signal(SIGINT)
        defer { pair.origin.behave() }
        return try pair.outcome(of: process.wait(), program, after: count)
    }

    /// A session lists unfinished downloads in aria2c's form; as input, it completes them.
    @Test(arguments: ["left", "list"]) func sessionListsUnfinishedDownloads(session: String) throws
    {
        let pair = try Aria2Pair(size: Self.size)
        try pair.write(
            "$B/quick\n$B/slow1\n\n  out=one.bin\n  dir=sub\n  header=X-A: b\n"
                + "$B/slow2\t$B/slow2?mirror\n split=2\n gid=00000000000000aa\n",
            to: "list")
        var forms: [[String]] = []
        for program in Aria2Program.allCases {
            let outcome = try interrupted(
                "aria2c --no-conf -j4 -x1 --file-allocation=none -i list --save-session=\(session)",
                program, pair)
            #expect(outcome.code == 7, "\(outcome.text.lines)")
            let text = String(decoding: try pair.read(session, program), as: UTF8.self)
            #expect(text.contains("gid=00000000000000aa") && !text.contains("/quick"), "\(text)")
            forms.append(
                text.replacingOccurrences(of: pair.folder(program), with: "DIR")
                    .replacing(/gid=[0-9a-f]{16}/, with: "gid=").split(separator: "\n")
                    .map(String.init).sorted())
            let again = try pair.run(
                "aria2c --no-conf -c -i \(session) --save-session=rest", program)
            #expect(again.code == 0, "\(program): \(again.text.lines)")
            #expect(again.tree["sub/one.bin"] == "/slow1", "\(again.tree)")
            #expect(again.tree["slow2"] == "/slow2")
            #expect(again.tree["rest"] == "0 bytes, 0")
            if program == .segget {
                #expect(
                    again.bytesAsked("/slow1", of: Self.size) <= Self.size - 400_000 + (256 << 10))
                #expect(again.bytesAsked("/quick", of: Self.size) == 0)
            }
        }
        #expect(forms[1] == forms[0])
    }

    /// Completed downloads and those not found are not in the session, which may be empty.
    @Test(arguments: ["$B/a\n", "$B/none\n$B/a\n", "$B/status503\n$B/a\n out=x\n", ""])
    func sessionOmitsCompletedDownloads(list: String) throws {
        let pair = try Aria2Pair(size: 100_000)
        pair.origin.bend { request, reply in
            if request.path == "/status503" { reply = .text(503) }
        }
        try pair.write(list, to: "list")
        let (aria2c, segget) = try pair.both(
            "aria2c --no-conf --max-tries=1 -i list --save-session=s; code=$?;"
                + " [ -f s ] && sed -i '/^ gid=/d' s; exit $code")
        #expect(segget.code == aria2c.code, "\(segget.text.lines)")
        #expect(segget.tree == aria2c.tree, "\(segget.text.lines)")
        #expect(segget.text.told == aria2c.text.told)
    }

    /// With `--force-save`, completed downloads remain in the session.
    @Test func forceSaveKeepsCompletedDownloads() throws {
        let pair = try Aria2Pair(size: 100_000)
        let (aria2c, segget) = try pair.both(
            "aria2c --no-conf --force-save=true --save-session=s -o x $B/a; sed -i '/^ gid=/d' s")
        // aria2c also keeps the control file of a complete file.
        #expect(segget.tree == aria2c.tree.filter { $0.key != "x.aria2" }, "\(segget.text.lines)")
    }

    // MARK: Lists

    @Test(
        arguments: [
            "$B/a\r\n out=x\r\n$B/b\r\n", "# c\n\n\n$B/a\n# c\n\n\tout=x\n\n$B/b\n", "$B/a",

            "$B/a\n dir=\n out=x\n", "$B/a\n  dir = sub\n",
            "$B/a\n pause=false\n unknown-to-all=1\n out=x\n",
            "$B/a\n enable-rpc=true\n bt-max-peers=4\n out=x\n", "$B/a \n out=x y \n",
            "$B/a\n max-download-limit=90M\n lowest-speed-limit=1\n retry-wait=1\n out=x\n", "\n\n",

            "$B/a\n split=x\n$B/b\n",
            "$B/a\n out=x\n out=y\n", "$B/a\n header=A: b\n header=C: d\n out=z\n",
            "$B/a\t\t$B/a?m\t\n",
        ], [false, true])
    func readsSameListsAsAria2c(list: String, isPacked: Bool) throws {
        let pair = try Aria2Pair(size: 100_000)
        try pair.write(list, to: "list")
        let pack = isPacked ? "gzip -n list && mv list.gz list && " : ""
        let (aria2c, segget) = try pair.both("\(pack)aria2c --no-conf -i list")
        #expect(segget.code == aria2c.code, "\(segget.text.lines) \(segget.errors)")
        #expect(segget.tree == aria2c.tree, "\(segget.text.lines) \(segget.errors)")
        #expect(segget.text.told == aria2c.text.told, "\(segget.text.lines)")
    }

    /// If a download cannot start, aria2c prints an error and exits with 0; segget exits with 1.
    @Test(arguments: [
        " out=lost\n$B/a\n", "foo\n$B/a\n",
        "$B/a\n gid=0123456789abcdef\n$B/b\n gid=0123456789abcdef\n", "$B/a\n gid=x\n$B/b\n",
    ])
    func reportsListItemsThatCannotStart(list: String) throws {
        let pair = try Aria2Pair(size: 100_000)
        try pair.write(list, to: "list")
        let (aria2c, segget) = try pair.both("aria2c --no-conf -i list")
        #expect(aria2c.code == 0 && segget.code == 1, "\(segget.text.lines) \(segget.errors)")
        #expect(segget.tree == aria2c.tree, "\(segget.text.lines) \(segget.errors)")
    }

    /// `segget -i` reads lists for aria2c, also compressed.
    @Test(arguments: [false, true]) func seggetReadsAria2Lists(isPacked: Bool) throws {
        let pair = try Aria2Pair(size: 100_000)
        try pair.write(
            "# c\n$B/a\t$B/a?m\n\n dir=\n out=x\n header=Authorization: Bearer T\n gid=0123456789abcdef\n"
                + " pause=false\n max-download-limit=90M\n file-allocation=none\n split=2\n$B/b\n dir=sub\n",
            to: "list")
        let pack = isPacked ? "gzip -n list && mv list.gz list && " : ""
        let outcome = try pair.run(
            "\(pack)\"$SEGGET\" -i list", .segget, ["SEGGET": try Segget.binary()])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(outcome.tree["x"] == "/a" && outcome.tree["sub/b"] == "/b", "\(outcome.tree)")
        #expect(outcome.tree.count == 3)
    }
}
