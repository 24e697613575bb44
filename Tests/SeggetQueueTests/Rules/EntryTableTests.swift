import Segmenter
import Testing

@testable import SeggetQueue

struct EntryTableTests {
    @Test(arguments: 1...20) func indexesMatchFullScan(seed: UInt64) {
        var random = SplitMix(seed)
        var table = EntryTable()
        var expected: [QueueTask.ID: QueueMachine.Entry] = [:]
        for step in 0..<600 {
            let takesBack = step.isMultiple(of: 7)
            let before = expected
            if takesBack { table.begin() }
            for _ in 0...(takesBack ? 5 : 0) {
                let id = QueueTask.ID.number(Int(random.next() % 40))
                let entry = random.next() % 5 == 0 ? nil : Self.entry(id, &random)
                table[id] = entry
                expected[id] = entry
                // `nextReady` may move or drop entries of its index, which must not change later
                // results.
                _ = table.nextReady()
            }
            if takesBack {
                table.end(takesBack: true)
                expected = before
            }
            let mistakes = Self.mistakes(&table, expected)
            #expect(mistakes.isEmpty, "step \(step): \(mistakes)")
        }
    }

    @Test func recordsOnlyChangedTasks() {
        var table = UndoableTable<Int, Int>()
        for number in 0..<10_000 { table[number] = number }
        table.begin()
        table[1] = 2
        table[1] = 3
        table[20_000] = 1
        let earlier = table.end()
        #expect(earlier == [1: 1, 20_000: nil])
        #expect(table.end().isEmpty)
    }

    private static func entry(
        _ id: QueueTask.ID, _ random: inout SplitMix
    ) -> QueueMachine.Entry {
        var status = TaskStatus()
        status.position = Int64(id.number) * 1000 + Int64(random.next() % 1000)
        status.wanted = random.next() % 4 == 0 ? .paused : .run
        status.state =
            [
                .waiting, .waiting, .running, .verifying, .waitingForNetwork(since: 1),
                .retrying(at: 5), .completed, .failed, .cancelled,
            ][Int(random.next() % 9)]
        var entry = QueueMachine.Entry(
            id: id, status: status, host: ["a", "b", "c"][Int(random.next() % 3)])
        entry.hasClaim = random.next() % 3 == 0
        entry.fetching = [.none, .none, .on, .stopping][Int(random.next() % 4)]
        if random.next() % 8 == 0 { entry.chore = .discard }
        if random.next() % 3 == 0 { entry.due = Double(random.next() % 50) }
        return entry
    }

    private static func mistakes(
        _ table: inout EntryTable, _ expected: [QueueTask.ID: QueueMachine.Entry]
    ) -> [String] {
        let all = expected.values
        let away = all.filter(\.isAway)
        let asked = Set(away.filter { $0.fetching != .none }.map(\.host))
        let ready = all.filter { entry in
            entry.isReady && !away.contains { $0.host == entry.host }
        }
        let next = ready.min {
            ($0.hasClaim ? 0 : 1, $0.status.position) < ($1.hasClaim ? 0 : 1, $1.status.position)
        }
        let answers: [(String, Bool)] = [
            ("values", Set(table.values) == Set(all)),
            ("slots", table.slots == Set(all.filter(\.status.hasSlot).map(\.id))),
            ("over", table.over == Set(all.filter(\.isOver).map(\.id))),
            ("fetched", table.fetched == all.count { $0.fetching != .none }),
            ("chores", table.chores == all.count { $0.chore != nil }),
            (
                "wanted",
                table.wanted == all.count { !$0.status.isEnded && $0.status.wanted != .paused }
            ),
            ("askers", table.askers == away.count { $0.fetching == .on }),
            ("away", Set(table.away) == Set(away)),
            ("asked", table.askedHosts == asked),
            ("unasked", table.isAnyUnasked == !Set(away.map(\.host)).subtracting(asked).isEmpty),
            ("due", table.nextDue == all.map(\.due).min() ?? .infinity),
            ("ready", table.nextReady() == next),
        ]
        return answers.filter { !$0.1 }.map(\.0)
    }
}

/// Numbers that a seed determines (SplitMix64).
private struct SplitMix {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var number = state
        number = (number ^ (number >> 30)) &* 0xbf58_476d_1ce4_e5b9
        number = (number ^ (number >> 27)) &* 0x94d0_49bb_1331_11eb
        return number ^ (number >> 31)
    }
}
