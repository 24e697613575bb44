import Foundation
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

/// Tests the events that a server sends to subscribers.
@Suite(.timeLimit(.minutes(10)))
struct EventStreamTests {
    private static func read(_ event: ServerSentEvent?) throws -> QueueReport {
        let event = try #require(event)
        #expect(event.name == "snapshot")
        return try JSONDecoder().decode(QueueReport.self, from: event.data)
    }

    private static func id(_ text: String) -> QueueTask.ID { QueueTask.ID(text) ?? QueueTask.ID() }

    private static func held(_ number: Int) -> TaskReport {
        var task = Sample.tasks[1]
        (task.id, task.state) = (id("00000000000000\(number + 10)"), "waiting")
        return task
    }

    @Test func sendsReportThenChanges() async throws {
        try await ServedDoor.use { served throws in
            let reader = try EventReader(served.server.path)
            let report = try Self.read(try await reader.next())
            #expect(try await report == served.door.report(TaskFilter()))

            let new = Self.held(1)
            await served.door.put(new)
            let first = try #require(try await reader.changes())
            #expect(first.changes.tasks == [new] && first.changes.removed.isEmpty)
            #expect(first.changes.counts == report.counts)
            #expect(first.changes.unseen == report.unseen)
            #expect(first.changes.bytesPerSecond == report.bytesPerSecond)

            await served.door.take(new.id)
            let second = try #require(try await reader.changes())
            #expect(second.changes.tasks.isEmpty && second.changes.removed == [new.id])
        }
    }

    @Test func curlReceivesEvents() async throws {
        let child = try await ServedDoor.use { served throws in
            let child = try Run(
                "/usr/bin/curl",
                [
                    "-q", "-sSNi", "--unix-socket", served.server.path,
                    "http://localhost/v2/events?state=running",
                ], in: served.sandbox.path)
            #expect(
                await soon { child.output.contains("\r\n\r\nretry: 1000\nevent: snapshot\nid: ") })
            #expect(child.output.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(child.output.contains("Content-Type: text/event-stream\r\n"))
            #expect(child.output.contains("transfer-encoding: chunked\r\n"))
            await served.door.move()
            #expect(await soon { child.output.contains("event: changes\nid: ") })
            #expect(!child.output.contains(Sample.second.description))
            return child
        }
        #expect(await soon { !child.isRunning })
        // The server has ended the chunked body.
        #expect(try child.wait().end == .exit(0))
    }

    @Test func sendsAtMostFourEventsASecond() async throws {
        try await ServedDoor.use { served throws in
            let reader = try EventReader(served.server.path)
            var last = try #require(try await reader.next()?.moment)
            await served.door.move()
            var bytes = Sample.tasks[0].bytesDone
            for _ in 0..<5 {
                let event = try #require(try await reader.changes())
                let moment = try #require(EventID(event.id)?.moment)
                #expect(moment - last >= 250)
                last = moment
                let done = try #require(event.changes.tasks.first?.bytesDone)
                #expect(done > bytes)
                bytes = done
            }
        }
    }

    @Test func sendsOnlyKeepAliveWithoutChanges() async throws {
        var limits = ServerLimits()
        limits.keepAliveTime = .milliseconds(20)
        try await ServedDoor.use(limits: limits) { served throws in
            let connection = try served.connect()
            connection.send("GET /v2/events HTTP/1.0\r\n\r\n")
            #expect(await connection.has("\n\n:\n\n:\n\n:\n\n"))
            #expect(!connection.text.contains("event: changes"))
        }
    }

    @Test func appliesFilterToChanges() async throws {
        try await ServedDoor.use { served throws in
            let reader = try EventReader(served.server.path, query: "?state=waiting")
            #expect(try Self.read(try await reader.next()).tasks.isEmpty)
            // Tasks that do not match are not reported.
            var other = Self.held(2)
            other.state = "failed"
            await served.door.put(other)
            var new = Self.held(1)
            await served.door.put(new)
            let first = try #require(try await reader.changes())
            #expect(first.changes.tasks == [new] && first.changes.removed.isEmpty)
            new.state = "completed"
            await served.door.put(new)
            let second = try #require(try await reader.changes())
            #expect(second.changes.tasks.isEmpty && second.changes.removed == [new.id])
        }
    }

    @Test func returningClientReceivesChangesSinceLastEvent() async throws {
        try await ServedDoor.use { served throws in
            let path = served.server.path
            let reader = try EventReader(path)
            let start = try #require(try await reader.next()?.id)
            await served.door.put(Self.held(1))
            let first = try #require(try await reader.changes())
            // There is no subscriber meanwhile.
            reader.connection.finish()
            await served.door.put(Self.held(2))
            let later = try EventReader(path, after: first.id)
            #expect(try await later.changes()?.changes.tasks == [Self.held(2)])
            let both = try EventReader(path, after: start)
            let changed = try #require(try await both.changes()).changes.tasks
            #expect(Set(changed.map(\.id)) == [Self.held(1).id, Self.held(2).id])
            // With a filter too.
            let some = try EventReader(path, query: "?state=waiting", after: first.id)
            #expect(try await some.changes()?.changes.tasks == [Self.held(2)])
            await served.door.take(Self.held(1).id)
            #expect(try await some.changes()?.changes.removed == [Self.held(1).id])

            for id in ["x", "0-1", "\(start)0000000", "9\(start)"] {
                let other = try EventReader(path, after: id)
                #expect(try Self.read(try await other.next()).tasks.count == 3, "\(id)")
            }
        }
    }

    @Test func clientThatNeverReadsDelaysNoOther() async throws {
        try await ServedDoor.use { served throws in
            await served.door.pad(8 << 20)
            let stuck = try EventReader(served.server.path)
            while await served.door.filters.isEmpty { await Task.yield() }
            let reader = try EventReader(served.server.path)
            _ = try Self.read(try await reader.next())
            await served.door.move()
            var newest: Int64 = 0
            for _ in 0..<6 {
                let changes = try #require(try await reader.changes()).changes
                newest = try #require(changes.tasks.first?.bytesDone)
            }
            // One event was buffered; the next one has the current state, and nothing in between.
            _ = try Self.read(try await stuck.next())
            let changes = try #require(try await stuck.changes()).changes
            #expect(try #require(changes.tasks.first?.bytesDone) >= newest)
        }
    }

    @Test func clientThatNeverReadsIsDisconnected() async throws {
        var limits = ServerLimits()
        limits.replyTime = .milliseconds(500)
        try await ServedDoor.use(limits: limits) { served throws in
            await served.door.pad(8 << 20)
            let stuck = try served.connect()
            stuck.send("GET /v2/events HTTP/1.1\r\nHost: a\r\n\r\n")
            let isClosed = await soon {
                var poll = pollfd(fd: stuck.descriptor, events: 0, revents: 0)
                return Glibc.poll(&poll, 1, 0) == 1 && poll.revents & Int16(POLLHUP) != 0
            }
            #expect(isClosed)
            await served.door.pad(0)
            let reader = try EventReader(served.server.path)
            _ = try Self.read(try await reader.next())
            await served.door.move()
            #expect(try await reader.changes() != nil)
        }
    }

    @Test func servesHundredSubscribers() async throws {
        try await ServedDoor.use { served throws in
            let readers = try (0..<100).map { number in
                try EventReader(served.server.path, query: number % 2 == 0 ? "" : "?state=running")
            }
            for reader in readers { _ = try Self.read(try await reader.next()) }
            await served.door.move()
            for reader in readers {
                let changes = try #require(try await reader.changes()).changes
                #expect(changes.tasks.map(\.id) == [Sample.first])
            }
            // Half of them disconnect, and the others continue to receive events.
            for reader in readers.prefix(50) { reader.connection.finish() }
            for reader in readers.suffix(50) { #expect(try await reader.changes() != nil) }
        }
    }

    @Test(arguments: [
        "HTTP/1.1\r\nHost: a\r\nConnection: close", "HTTP/1.1\r\nHost: a", "HTTP/1.0",
    ])
    func serverStopEndsStreams(head: String) async throws {
        let connection = try await ServedDoor.use { served throws in
            let connection = try served.connect()
            connection.send("GET /v2/events \(head)\r\n\r\n")
            #expect(await connection.has("\n\n"))
            return connection
        }
        #expect(await connection.ends())
        #expect(connection.text.contains("Connection: close\r\n"))
        let isChunked = !head.hasSuffix("1.0")
        #expect(connection.text.hasSuffix("\r\n0\r\n\r\n") == isChunked)
    }

    @Test func headRequestHasNoEvents() async throws {
        try await ServedDoor.use { served throws in
            let connection = try served.connect()
            connection.send("HEAD /v2/events HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(await connection.ends())
            #expect(connection.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(connection.text.contains("Content-Type: text/event-stream\r\n"))
            #expect(connection.text.hasSuffix("\r\n\r\n"))
        }
    }

    @Test func reportsUnusableQueue() async throws {
        try await ServedDoor.use { served throws in
            let reader = try EventReader(served.server.path)
            _ = try Self.read(try await reader.next())
            await served.door.fail(QueueError(.damaged, "it is damaged", hint: "see to it"))
            await served.door.move()
            #expect(try await reader.next() == nil)
            let reply = try await served.curl("http://localhost/v2/events")
            #expect(reply.status == 500)
            #expect(reply.body.contains("it is damaged"))
            // The next event is sent as usual.
            await served.door.fail(nil)
            #expect(
                try Self.read(try await EventReader(served.server.path).next()).tasks.count == 2)
        }
    }
}
