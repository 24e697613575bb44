import Foundation
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests that a command applies to the tasks that a filter with the same selection finds.
@Suite struct TaskSelectionTests {
    private let queue: StoredQueue
    private let door: DirectDoor
    private let ids = ["a1", "a2", "b1", "b2"].map { "\($0)00000000000000" }

    init() throws {
        queue = try StoredQueue()
        let states: [TaskStatus.State] = [.waiting, .cancelled, .cancelled, .completed]
        var tasks: [QueueTask] = []
        for (index, state) in states.enumerated() {
            var task = QueueTask.plain("http://h/\(index)", at: Int64(index), state)
            task.id = try #require(QueueTask.ID(ids[index]))
            if index == 3 { task.tags = ["t"] }
            tasks.append(task)
        }
        tasks[0].status.wanted = .paused
        try queue.open().insert(tasks)
        door = DirectDoor(queue.files.database)
    }

    private static let rows: [(selection: TaskSelection, found: [Int])] = [
        (TaskSelection(ids: ["a1"]), [0]),
        (TaskSelection(ids: ["A1"]), [0]),
        (TaskSelection(ids: ["a1", "b1"]), [0, 2]),
        (TaskSelection(ids: ["a1"], states: ["cancelled"]), []),
        (TaskSelection(ids: ["a2"], states: ["cancelled"]), [1]),
        (TaskSelection(ids: ["a1", "a2", "b2"], states: ["cancelled", "paused"]), [0, 1]),
        (TaskSelection(ids: ["a1"], tags: ["t"]), [0, 3]),
        (TaskSelection(ids: ["a1"], tags: ["t"], states: ["completed"]), [3]),
        (TaskSelection(tags: ["t"], states: ["cancelled"]), []),
        (TaskSelection(states: ["cancelled"]), [1, 2]),
        (TaskSelection(ids: ["a1"], isAll: true, states: ["cancelled"]), [1, 2]),
        (TaskSelection(ids: ["a1"], isAll: true), [0, 1, 2, 3]),
    ]

    @Test(arguments: rows)
    func commandAppliesToTasksOfFilter(selection: TaskSelection, found: [Int]) async throws {
        let expected = Set(found.map { ids[$0] })
        let report = try await door.report(TaskFilter(selection: selection))
        #expect(Set(report.tasks.map(\.id.description)) == expected)
        let results = try await door.perform([.remove(selection, files: false)])[0]
        #expect(Set(results.compactMap(\.id?.description)) == expected)
        let left = Set(try queue.open().find().map(\.id.description))
        #expect(left == Set(ids).subtracting(expected))
    }

    @Test func emptySelectionAppliesToNoTask() async throws {
        #expect(try await door.perform([.remove(TaskSelection(), files: false)]) == [[]])
        #expect(try queue.open().find().count == ids.count)
    }

    @Test func commandSeesStatesAfterEarlierCommands() async throws {
        let results = try await door.perform([
            .cancel(TaskSelection(ids: ["a1"])),
            .tag(TaskSelection(states: ["cancelled"]), add: ["x"], remove: []),
        ])
        #expect(Set(results[1].compactMap(\.id?.description)) == Set(ids[0...2]))
    }
}
