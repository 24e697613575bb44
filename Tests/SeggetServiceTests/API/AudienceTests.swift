import Testing

@testable import SeggetQueue
@testable import SeggetService

struct AudienceTests {
    private static let held = TaskFilter(selection: TaskSelection(states: ["paused"]))
    private let ids = (0..<4).map { _ in QueueTask.ID() }

    private typealias Changes = (touched: Set<QueueTask.ID>?, view: QueueView)

    private static func changes(
        _ touched: Set<QueueTask.ID>?, running: [TaskReport] = [],
        counts: [TaskStatus.Word: Int] = [:]
    ) -> Changes {
        (touched, QueueView(running: running, counts: counts))
    }

    private static func task(_ id: QueueTask.ID, bytes: Int64 = 0, speed: Double? = nil)
        -> TaskReport
    {
        TaskReport(
            id: id, state: speed == nil ? "waiting" : "running", wanted: .run, url: "http://a/",
            folder: "/a", rank: 1, bytesDone: bytes, bytesPerSecond: speed, attempts: 0, added: 0,
            digests: [], tags: [])
    }

    /// Runs a round with the changes of the queue, and returns the questions.
    private func round(
        _ audience: inout Audience, at now: Int64, _ changes: Changes
    ) -> [Audience.Question] {
        audience.beginRound(at: now)
        audience.note(changes.touched, changes.view)
        return audience.takeQuestions(isRound: true)
    }

    /// Sends the answers of all questions, and marks them as received.
    private func tell(
        _ audience: inout Audience, _ questions: [Audience.Question], isTaken: Bool = true
    ) {
        for question in questions {
            for number in audience.answer(question, question.known, isTold: true) where isTaken {
                audience.taken(number)
            }
        }
    }

    @Test func doesNothingWithoutListeners() {
        var audience = Audience(epoch: "e")
        audience.ring()
        #expect(audience.step(at: 1) == .rest)
        let number = audience.add(TaskFilter(), after: nil)
        #expect(audience.step(at: 1) == .round(true))
        audience.remove(number)
        #expect(audience.step(at: 1) == .rest)
    }

    @Test func sendsChangesFourTimesASecond() {
        var audience = Audience(epoch: "e")
        _ = audience.add(TaskFilter(), after: nil)
        var told = 0
        for now in 1...1000 {
            audience.ring()
            guard audience.step(at: Int64(now)) == .round(true) else {
                let rest = 250 - (now - 1) % 250
                #expect(audience.step(at: Int64(now)) == .wait(Int64(rest)))
                continue
            }
            let questions = round(&audience, at: Int64(now), Self.changes([ids[0]]))
            told += questions.count
            tell(&audience, questions)
        }
        #expect(told == 4)
    }

    @Test func newListenerReceivesReportAtOnce() {
        var audience = Audience(epoch: "e")
        _ = audience.add(TaskFilter(), after: nil)
        tell(&audience, round(&audience, at: 1, Self.changes([])))
        #expect(audience.step(at: 2) == .rest)
        let second = audience.add(TaskFilter(), after: nil)
        #expect(audience.step(at: 2) == .round(false))
        let questions = audience.takeQuestions(isRound: false)
        #expect(questions.map(\.listeners) == [[second]])
        #expect(questions[0].changed == nil)
        #expect(audience.step(at: 2) == .rest)
    }

    @Test func groupsListenersWithSameKnowledge() {
        var audience = Audience(epoch: "e")
        let all = (0..<100).map { _ in audience.add(TaskFilter(), after: nil) }
        let filtered = audience.add(Self.held, after: nil)
        let first = round(&audience, at: 1, Self.changes([]))
        #expect(first.map(\.listeners) == [all, [filtered]])
        tell(&audience, first)
        let second = round(&audience, at: 300, Self.changes([ids[0]]))
        #expect(second.map(\.listeners) == [all, [filtered]])
        #expect(second.map(\.changed) == [[ids[0]], [ids[0]]])
        #expect(second[0].id.description == "e-300")
    }

    @Test func slowListenerReceivesLatestChangesAfterReading() {
        var audience = Audience(epoch: "e")
        let number = audience.add(TaskFilter(), after: nil)
        tell(&audience, round(&audience, at: 1, Self.changes([])), isTaken: false)
        for (place, id) in ids.enumerated() {
            #expect(round(&audience, at: 300 * Int64(place + 1), Self.changes([id])).isEmpty)
        }
        audience.taken(number)
        #expect(audience.step(at: 1201) == .wait(249))
        #expect(audience.step(at: 1450) == .round(true))
        let questions = round(&audience, at: 1450, Self.changes([]))
        #expect(questions.map(\.changed) == [Set(ids)])
        #expect(questions[0].id.moment == 1200)
        tell(&audience, questions)
        #expect(audience.step(at: 2000) == .rest)
    }

    @Test func returningListenerReceivesChangesSinceLastEvent() {
        var audience = Audience(epoch: "e")
        let number = audience.add(TaskFilter(), after: nil)
        tell(&audience, round(&audience, at: 1, Self.changes([ids[0]])))
        tell(&audience, round(&audience, at: 300, Self.changes([ids[1]])))
        audience.remove(number)
        _ = audience.add(TaskFilter(), after: "e-1")
        let questions = round(&audience, at: 600, Self.changes([ids[2]]))
        #expect(questions.map(\.changed) == [[ids[1], ids[2]]])
        // A listener with the latest event receives none.
        _ = audience.add(TaskFilter(), after: "e-600")
        #expect(audience.takeQuestions(isRound: true).isEmpty)
    }

    @Test(arguments: [nil, "", "x", "f-1", "e-999999", "e-x", "e--1"])
    func unknownEventIDReceivesFullReport(id: String?) {
        var audience = Audience(epoch: "e")
        _ = audience.add(TaskFilter(), after: id)
        #expect(round(&audience, at: 1000, Self.changes([ids[0]])).map(\.changed) == [nil])
    }

    @Test func progressOfRunningTaskIsChange() {
        var audience = Audience(epoch: "e")
        _ = audience.add(TaskFilter(), after: nil)
        let running = Self.task(ids[0], bytes: 1, speed: 5)
        tell(&audience, round(&audience, at: 1, Self.changes([ids[0]], running: [running])))
        // Running tasks are read again without a notification.
        #expect(audience.step(at: 251) == .round(true))
        #expect(round(&audience, at: 251, Self.changes([], running: [running])).isEmpty)
        let more = Self.task(ids[0], bytes: 2, speed: 5)
        let questions = round(&audience, at: 501, Self.changes([], running: [more]))
        #expect(questions.map(\.changed) == [[ids[0]]])
        tell(&audience, questions)
        #expect(round(&audience, at: 751, Self.changes([])).map(\.changed) == [[ids[0]]])
    }

    @Test func historyIsLimited() {
        var journal = EventJournal()
        for moment in 1...40 {
            let ids = Set((0..<1000).map { _ in QueueTask.ID() })
            journal.note(ids, QueueView(), at: Int64(moment))
        }
        #expect(journal.changed(since: 1) == nil)
        let recent = journal.changed(since: 38)
        #expect(recent?.count == 2000)
        let oldest = (0...40).first { journal.changed(since: Int64($0)) != nil }
        let most = oldest.flatMap { journal.changed(since: Int64($0))?.count } ?? .max
        #expect(most <= EventJournal.most)
        // A change of unknown tasks counts as a change of all.
        journal.note(nil, QueueView(), at: 41)
        #expect(journal.changed(since: 40) == nil)
        #expect(journal.changed(since: 41) == [])
    }

    // MARK: Answers

    private func question(
        changed: Set<QueueTask.ID>, filter: TaskFilter = Self.held, tasks: Set<QueueTask.ID>?,
        totals: QueueView? = QueueView()
    ) -> Audience.Question {
        Audience.Question(
            listeners: [1], filter: filter, changed: changed, running: [],
            known: Audience.Known(tasks: tasks, totals: totals), totals: QueueView(),
            id: EventID(epoch: "e", moment: 1))
    }

    @Test func tasksThatLeaveFilterAreRemoved() {
        let question = question(changed: [ids[0], ids[1], ids[2]], tasks: [ids[0], ids[3]])
        let (changes, known) = question.changes([Self.task(ids[1])])
        #expect(changes?.tasks.map(\.id) == [ids[1]])
        // The third task was never reported.
        #expect(changes?.removed == [ids[0]])
        #expect(known.tasks == [ids[1], ids[3]])
    }

    @Test func sendsNothingWithoutChanges() {
        let question = question(changed: [ids[2]], tasks: [ids[0]])
        #expect(question.changes([]).0 == nil)
        #expect(question.changes([Self.task(ids[0])]).0 == nil)
        #expect(question.changes([Self.task(ids[0], speed: 5)]).0?.tasks == [])
        let unknown = self.question(changed: [], tasks: [], totals: nil)
        #expect(unknown.changes([]).0?.counts == [:])
    }

    @Test func returningListenerReceivesRemovalsOfFilter() {
        let question = question(changed: [ids[0], ids[1]], tasks: nil)
        let (changes, known) = question.changes([Self.task(ids[1])], all: [ids[1], ids[2]])
        #expect(changes?.removed == [ids[0]])
        #expect(known.tasks == [ids[1], ids[2]])
    }
}
