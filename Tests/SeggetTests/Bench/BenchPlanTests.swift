import ArgumentParser
import Testing

@testable import SeggetFormats
@testable import SeggetReports
@testable import SeggetCommand

struct BenchPlanTests {
    private func plan(_ count: Int, rounds: Int) -> BenchPlan {
        BenchPlan(
            subjects: (1...count).map { BenchSubject(client: .segget, connections: .fixed($0)) },
            rounds: rounds, maxTime: 60, maxBytes: 1 << 30, warmUp: 1)
    }

    @Test(arguments: [(1, 1), (3, 2), (6, 7), (5, 5)])
    func everyRoundHasEachSubjectOnceInRotation(count: Int, rounds: Int) {
        let plan = plan(count, rounds: rounds)
        #expect(plan.turns.count == plan.count)
        for round in 1...rounds {
            let turns = plan.turns.filter { $0.round == round }
            #expect(Set(turns.map(\.subject)) == Set(plan.subjects))
            #expect(turns.first?.subject == plan.subjects[(round - 1) % count])
        }
        #expect(plan.turns.map(\.round) == plan.turns.map(\.round).sorted())
    }

    @Test(arguments: [(1, 1), (3, 2), (6, 7), (4, 25)])
    func sharesStayWithinLimits(count: Int, rounds: Int) {
        let plan = plan(count, rounds: rounds)
        #expect(plan.secondsEach * Double(plan.count) <= plan.maxTime * 1.000001)
        #expect(plan.bytesEach * Int64(plan.count) <= plan.maxBytes)
        #expect(plan.bytesAtMost(size: nil) <= plan.maxBytes)
        #expect(plan.bytesAtMost(size: 1000) == Int64(plan.count) * 1000)
    }

    @Test func costIsShown() {
        let lines = plan(2, rounds: 3).announcement(url: "`u`", size: 100 << 20, sink: "to x")
        let text = lines.joined(separator: "\n")
        for part in [
            "`u` (100 MiB)", "3 rounds of segget -x 1, segget -x 2; to x", "1m00s and 600 MiB",
            "6 measurements of 10 s or 100 MiB each",
        ] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test(
        arguments: [
            ("1", [.fixed(1)]), ("64,auto", [.fixed(64), .auto]),
            ("2,1,2", [.fixed(2), .fixed(1)]),
            ("", nil), ("0", nil), ("65", nil), ("1,", nil), ("Auto", nil), ("-1", nil),
            ("1 ,2", nil), ("+1x", nil),
        ] as [(String, [BenchSubject.Connections]?)])
    func readsListsOfConnections(text: String, list: [BenchSubject.Connections]?) {
        #expect(BenchSubject.Connections.list(text) == list)
    }

    @Test func defaultListIsValid() throws {
        let list = try #require(BenchSubject.Connections.list(BenchSubject.Connections.defaultList))
        #expect(list == [1, 2, 4, 8, 16].map { .fixed($0) } + [.auto])
    }

    @Test(
        arguments: [
            (.aria2c, [.fixed(1), .fixed(16), .fixed(64), .auto], 16), (.axel, [.auto], 8),
            (.aria2c, [.fixed(32), .fixed(4)], 4), (.curl, [.fixed(8)], 1),
            (.wget2, [.fixed(1), .fixed(8)], 1),
        ] as [(BenchClient, [BenchSubject.Connections], Int)])
    func peersUseTheLargestCommonNumber(
        client: BenchClient, list: [BenchSubject.Connections], number: Int
    ) {
        #expect(BenchPlan.peer(client, beside: list).connections == .fixed(number))
    }

    @Test func singleStreamIsMeasuredOnce() {
        let subjects =
            plan(4, rounds: 1).subjects + [BenchSubject(client: .curl, connections: .fixed(1))]
        #expect(BenchPlan.oneStream(subjects).map(\.name) == ["segget -x 1", "curl"])
    }

    private func bench(_ arguments: [String]) throws -> BenchCommand {
        try #require(try Segget.parseAsRoot(["bench"] + arguments) as? BenchCommand)
    }

    @Test func optionsDetermineTheSchedule() throws {
        let command = try bench([
            "http://h/f", "-x", "2,auto", "--rounds", "5", "--max-time", "50", "--max-bytes", "1G",
            "--warm-up", "0", "--against", "curl,aria2c,curl",
        ])
        let plan = command.measuring.plan(with: command.measuring.peers)
        #expect(
            plan.subjects.map(\.name) == ["segget -x 2", "segget auto", "curl", "aria2c -x 2"])
        #expect(plan.rounds == 5 && plan.maxTime == 50 && plan.maxBytes == 1 << 30)
        #expect(plan.warmUp == 0)
        let plain = try bench(["http://h/f"]).measuring.plan(with: [])
        #expect(plain.count == 18 && plain.isFeasible)
    }

    @Test(
        arguments: [
            ([], "Missing expected"), (["http://h", "http://u:secret@h"], "one URL at a time; 2"),
            (["http://h", "-x", "0"], "1 to 64"), (["http://h", "-x", ""], "1 to 64"),
            (["http://h", "--rounds", "0"], "1 to 100"),
            (["http://h", "--max-time", "0"], "1 to 86400"),
            (["http://h", "--max-time", "nan"], "1 to 86400"),
            (["http://h", "--max-time", "8"], "18 measurements within these limits"),
            (["http://h", "--max-bytes", "1M"], "raise `--max-time` or `--max-bytes`"),
            (["http://h", "--max-bytes", "many"], "takes a size"),
            (["http://h", "--warm-up", "-1"], "--warm-up"), (["http://h", "--disk", ""], "folder"),
            (["http://h", "--json", "--csv"], "one of them"),
            (["http://h", "--report", ""], "name of a file"),
            (["http://h", "--against", "wget"], "did you mean `wget2`?"),
            (["http://h", "--against", "segget"], "knows aria2c, axel, curl, wget2"),
            (["http://h", "--against", ""], "knows aria2c"),
            (["http://h", "--against", "curl", "-H", "A: secret"], "every program supports"),
            (["http://h", "--against", "curl", "-u", "me:secret"], "every program supports"),
            (["http://h/a b", "--against", "curl"], "%XX"),
            (["http://h/a\"\n-o secret", "--against", "curl"], "%XX"),
        ] as [([String], String)])
    func usageErrorNamesProblem(arguments: [String], problem: String) {
        let error = #expect(throws: (any Error).self) {
            try Segget.parseAsRoot(["bench"] + arguments)
        }
        guard let error else { return }
        let message = Segget.fullMessage(for: error)
        #expect(Segget.exitCode(for: error).rawValue == ExitStatus.usage.rawValue)
        #expect(message.contains(problem), "\(message)")
        #expect(!message.contains("secret"))
    }

    @Test func downloadSettingsAreIgnored() throws {
        let file = "connections = 3\nmax-time = 5\noverwrite\nretries = 2\nquiet"
        let lines = try ConfigurationFile.lines(of: file, home: nil)
        let settings = try Settings(
            ["bench", "http://h/"], environment: { ["SEGGET_CONNECTIONS": "4"][$0] },
            file: ConfigurationFile(path: "conf", lines: lines), tree: Program.segget.tree)
        let command = try #require(try Segget.parseAsRoot(settings.arguments) as? BenchCommand)
        #expect(command.measuring.connections == BenchSubject.Connections.defaultList)
        #expect(command.measuring.maxTime == 120 && !command.output.overwrite)
        #expect(command.request.retries == 2 && command.output.quiet)
    }
}
