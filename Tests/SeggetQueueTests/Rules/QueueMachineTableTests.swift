import Testing

@testable import SeggetQueue

/// Tests the outcome of each command and event in each situation of a task.
///
/// The table is in `QueueMachineTable.swift`. A situation consists of the user's wish, the state,
/// the download, and the chore.
struct QueueMachineTableTests {
    @Test(arguments: MachineSituation.all) func outcomesMatchTable(
        situation: MachineSituation
    ) throws {
        let row = try #require(Self.table[situation.name], "the table has no \(situation.name)")
        for stimulus in MachineStimulus.allCases {
            let reason = situation.whyNot(stimulus)
            switch (row[stimulus.rawValue], reason) {
            case (let expected?, nil):
                let outcome = situation.outcome(of: stimulus)
                #expect(outcome == expected, "\(situation.name), \(stimulus.rawValue)")
            case (nil, _?): break
            case (nil, nil): Issue.record("\(situation.name) says nothing of \(stimulus.rawValue)")
            case (_?, let reason?):
                Issue.record("\(situation.name), \(stimulus.rawValue): \(reason)")
            }
        }
    }

    @Test func tableHasAllPossibleSituations() {
        var situations: [String] = []
        for wanted in ["run", "paused"] {
            for state in TaskStatus.State.words {
                for fetching in ["none", "on", "stopping"] {
                    for chore in ["-", "discard", "remove", "move"]
                    where MachineSituation.whyNot(wanted, state, fetching, chore) == nil {
                        situations.append("\(wanted) \(state) \(fetching) \(chore)")
                    }
                }
            }
        }
        #expect(situations.sorted() == MachineSituation.all.map(\.name).sorted())
        #expect(situations.sorted() == Self.table.keys.sorted())
    }

    @Test(arguments: MachineSituation.all) func situationMatchesName(situation: MachineSituation) {
        let desk = situation.desk()
        #expect(MachineSituation.words(desk).hasPrefix(situation.name))
        #expect(desk.mistakes.isEmpty)
    }

    /// The table by situation and stimulus.
    static let table: [String: [String: String]] = {
        var table: [String: [String: String]] = [:]
        var situation = ""
        for line in machineTable.split(separator: "\n") where !line.isEmpty {
            if line.hasPrefix("# ") {
                situation = String(line.dropFirst(2))
                table[situation] = [:]
            } else {
                let halves = line.split(separator: ":", maxSplits: 1)
                let outcome = halves[1].drop { $0 == " " }
                for stimulus in halves[0].split(separator: " ") {
                    let old = table[situation]?.updateValue(
                        String(outcome), forKey: String(stimulus))
                    precondition(old == nil, "\(situation) has \(stimulus) twice")
                }
            }
        }
        return table
    }()
}

/// A command or an event for a task.
enum MachineStimulus: String, CaseIterable {
    case start, pause, resume, retry, cancel, remove, rename, restart
    case lost, back, verifying, again, progressed
    case completed, stopped, fails, retries, choreDone, due

    var isEnd: Bool { [.completed, .stopped, .fails, .retries].contains(self) }
    var isOfDownload: Bool {
        isEnd || [.lost, .back, .verifying, .again, .progressed].contains(self)
    }

    func apply(to desk: inout MachineDesk) {
        switch self {
        case .start: desk.start(1)
        case .pause: desk.pause(1)
        case .resume: desk.resume(1)
        case .retry: desk.retry(1)
        case .cancel: desk.cancel(1)
        case .remove: desk.remove(1)
        case .rename: desk.moveFiles(1)
        case .restart: desk.restart(1)
        case .lost: desk.lose(1)
        case .back: desk.find(1)
        case .verifying: desk.verify(1)
        case .again: desk.verify(1, false)
        case .progressed: desk.progress(1)
        case .completed: desk.end(1)
        case .stopped: desk.end(1, .stopped)
        case .fails: desk.end(1, .failed(.fail, .some))
        case .retries: desk.end(1, .failed(.retry(after: 100), .some))
        case .choreDone: desk.chore(1)
        case .due: desk.tick(after: 50)
        }
    }
}

/// A situation of task 1 in a queue with one slot.
///
/// Task 9, of another host, has the slot or waits for it.
struct MachineSituation: CustomTestStringConvertible, Sendable {
    let name: String
    let prepare: @Sendable (inout MachineDesk) -> Void

    var testDescription: String { name }

    init(_ name: String, _ prepare: @escaping @Sendable (inout MachineDesk) -> Void) {
        (self.name, self.prepare) = (name, prepare)
    }

    func desk() -> MachineDesk {
        var desk = MachineDesk(1)
        prepare(&desk)
        return desk
    }

    /// Returns the new situation of the task and the actions; `=` if neither changes.
    func outcome(of stimulus: MachineStimulus) -> String {
        var desk = desk()
        let before = Self.words(desk)
        stimulus.apply(to: &desk)
        var parts = [Self.words(desk)] + desk.actions
        if parts == [before] { parts = ["="] }
        return (parts + desk.mistakes.map { "MISTAKE: \($0)" }).joined(separator: ", ")
    }

    /// Returns the wish, the state, the download, the chore and the claims of a task.
    static func words(_ desk: MachineDesk) -> String {
        desk.entry(1).map { words($0) } ?? "missing"
    }

    static func words(_ entry: QueueMachine.Entry) -> String {
        let chore =
            switch entry.chore {
            case nil: "-"
            case .discard: "discard"
            case .remove: "remove"
            case .move: "move"
            }
        return "\(entry.status.wanted) \(entry.status.state.word) \(entry.fetching) \(chore)"
            + (entry.goesOn ? " goes on" : "") + (entry.hasClaim ? " claims" : "")
    }

    /// Returns why a stimulus is impossible in this situation; `nil` if it is possible.
    func whyNot(_ stimulus: MachineStimulus) -> String? {
        let words = name.split(separator: " ")
        let (state, fetching, chore) = (words[1], words[2], words[3])
        if stimulus.isOfDownload, fetching == "none" { return "nothing fetches it" }
        if stimulus == .choreDone {
            if chore == "-" { return "it has no chore" }
            if fetching != "none" { return "its chore waits for what fetches it" }
        }
        if [.cancel, .remove, .rename].contains(stimulus), chore != "-" {
            return "a worker has the command wait for the chore"
        }
        if stimulus == .rename, state == "cancelled" { return "it is refused: there is no file" }
        if [.verifying, .again, .progressed].contains(stimulus), state == "waiting_for_network" {
            return "it has no network; an answer tells first that it is back"
        }
        return nil
    }

    /// Returns why a situation is impossible; `nil` if it is possible.
    static func whyNot(
        _ wanted: String, _ state: String, _ fetching: String, _ chore: String
    ) -> String? {
        if wanted == "paused", state != "waiting" {
            return "what is held waits, and does nothing else"
        }
        if fetching == "on", chore != "-" { return "what has a chore is told to stop" }
        if chore == "remove", wanted == "run",
            !["completed", "failed", "cancelled"].contains(state)
        {
            return "what is to be removed is not to be fetched"
        }
        switch state {
        case "waiting": return fetching == "on" ? "what waits has no download" : nil
        case "running":
            return fetching == "none" && chore == "-" ? "what runs is fetched" : nil
        case "verifying":
            return fetching != "on" ? "what is told to begin again does not verify any more" : nil
        case "waiting_for_network":
            return chore == "discard" ? "what was thrown away waits for a slot first" : nil
        case "retrying":
            if fetching != "none" { return "a download has ended before its task is retried" }
            return chore == "discard" ? "what was thrown away waits for a slot first" : nil
        case "cancelled":
            if fetching == "on" { return "what is cancelled is told to stop" }
            if chore == "move" { return "what is cancelled has no file to move" }
            return fetching == "stopping" && chore != "discard"
                ? "it is thrown away when it has stopped" : nil
        default:
            if fetching != "none" { return "its download has ended" }
            return chore == "discard" ? "only what is cancelled is thrown away" : nil
        }
    }
}
