import Foundation
import TestSupport
import Testing

@testable import SeggetQueue

/// Tests how subscribers read the changes of tasks.
struct QueueFeedTests {
    private let home: Sandbox

    init() throws { home = try Sandbox() }

    private func held(_ number: Int, tags: [String] = []) -> NewTask {
        var task = NewTask(
            "http://127.0.0.1:9/\(number)?q\(number)", to: .init(root: home.path("d")))
        (task.isPaused, task.tags) = (true, tags)
        return task
    }

    @Test(.timeLimit(.minutes(5))) func everyChangeIsReportedOnce() async throws {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in
            let rung = Guarded(0)
            let number = await queue.observe { rung.withLock { $0 += 1 } }
            let id = try await queue.add(held(1))
            let other = try await queue.add(held(2))
            // It is notified only once until it reads the changes.
            #expect(rung.withLock { $0 } == 1)
            let first = try await queue.changes(number)
            #expect(first.touched == [id, other])
            #expect(first.view.counts == ["paused": 2] && first.view.running.isEmpty)
            #expect(try await queue.changes(number).touched == [])

            let one = TaskSelection(id)
            for (place, command) in [
                QueueCommand.tag(one, add: ["t"], remove: []), .move(one, to: .last),
                .rename(one, name: "other", folder: nil), .cancel(one), .markSeen(one),
                .retry(one), .pause(one), .remove(one, files: false),
            ].enumerated() {
                _ = try await queue.perform([command])
                #expect(rung.withLock { $0 } == place + 2, "\(command)")
                let changes = try await queue.changes(number)
                #expect(changes.touched?.contains(id) == true, "\(command)")
                #expect(changes.touched?.contains(other) == false, "\(command)")
            }
            #expect(try await queue.reports(of: [id, other], TaskFilter()).map(\.id) == [other])
            await queue.stopObserving(number)
            _ = try await queue.add(held(3))
            #expect(rung.withLock { $0 } == 9)
        }
    }

    @Test(.timeLimit(.minutes(5))) func findsAllMatchesAmongManyTasks()
        async throws
    {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in
            let tasks = (0..<300).map { held($0, tags: $0 % 3 == 0 ? ["third"] : []) }
            let results = try await queue.perform(tasks.map { .add($0) })
            let ids = results.joined().compactMap(\.id)
            for filter in [
                TaskFilter(), TaskFilter(selection: TaskSelection(tags: ["third"])),
                TaskFilter(text: "q2"), TaskFilter(selection: TaskSelection(states: ["failed"])),
                TaskFilter(selection: TaskSelection(ids: ids.prefix(3).map(\.description))),
            ] {
                let all = try await queue.report(filter).tasks
                #expect(try await queue.ids(filter) == Set(all.map(\.id)))
                for count in [0, 5, 299] {
                    let some = Set(ids.suffix(count))
                    let found = try await queue.reports(of: some, filter)
                    var expected = all.filter { some.contains($0.id) }
                    for index in expected.indices { expected[index].position = nil }
                    #expect(Set(found) == Set(expected), "\(filter) of \(count)")
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func pagesAndTagsAreReported() async throws {
        try await withDownloadQueue(at: home.path("q.sqlite")) { queue in
            let tasks = (0..<30).map { held($0, tags: $0 % 3 == 0 ? ["third"] : []) }
            _ = try await queue.perform(tasks.map { .add($0) })
            let filter = TaskFilter(selection: TaskSelection(tags: ["third"]))
            var window = TaskWindow()
            (window.isDescending, window.offset, window.limit) = (true, 2, 5)
            let page = try await queue.page(filter, window)
            var whole = try await queue.report(filter)
            whole.tasks = Array(whole.tasks.reversed()[2..<7])
            #expect(page == TaskPage(report: whole, matching: 10))
            #expect(page.report.tasks.map(\.position) == [22, 19, 16, 13, 10])
            #expect(try await queue.tags() == ["third": 10])
        }
    }
}
