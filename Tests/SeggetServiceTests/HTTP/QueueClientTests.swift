import Foundation
import Segmenter
import TestSupport
import Testing

@testable import SeggetQueue
@testable import SeggetService

@Suite(.timeLimit(.minutes(10)))
struct QueueClientTests {
    @Test func givesSameResultsAsServedQueue() async throws {
        try await ServedDoor.use { served throws in
            try await served.withClient { client throws in
                let door = served.door
                var filter = TaskFilter(
                    selection: TaskSelection(
                        ids: ["53a1"], tags: ["a+b &c=d/é", "iso"], isAll: true, states: ["paused"]),
                    text: "100% + more?")
                filter.isUnseen = true
                for filter in [TaskFilter(), filter] {
                    #expect(try await client.report(filter) == door.report(filter))
                }
                #expect(await door.filters == [TaskFilter(), TaskFilter(), filter, filter])
                for id in ["9d04", "53a1"] {
                    #expect(try await client.detail(id) == door.detail(id))
                }

                let commands = Commands.all
                #expect(try await client.perform(commands) == door.perform(commands))
                #expect(await door.commands == commands + commands)
                #expect(try await client.perform([]) == [])

                var settings = QueueSettings()
                settings.maxRunning = 7
                settings.rateSchedule = RateSchedule(
                    spans: [RateSchedule.Span(start: 480, end: 1080, rate: 2e6)], otherwise: 0)
                settings.rules = [QueueRule(while: .span(DaySpan(start: 0, end: 1)), .rate(2))]
                settings.metered = .yes
                try await client.change(settings)
                #expect(try await client.settings() == settings)
                let health = HealthReport(version: seggetVersion, worker: getpid())
                #expect(try await client.health() == health)
            }
        }
    }
}
