import Foundation
import SeggetQueue
import Segmenter
import TestSupport
import Testing

@testable import SeggetService

@Suite(.timeLimit(.minutes(10)))
struct QueueServerTests {
    private static let health = "GET /v2/health HTTP/1.1\r\nHost: localhost\r\n\r\n"

    @Test func answersEveryRouteToCurl() async throws {
        try await ServedDoor.use { served throws in
            let health = try await served.curl("http://localhost/v2/health")
            #expect(health.status == 200)
            #expect(
                health.body
                    == #"{"api":"v2","version":"\#(seggetVersion)","worker":\#(getpid())}"#)
            #expect(health.head.contains("Content-Type: application/json\r\n"))

            let tasks = try await served.curl("http://localhost/v2/tasks?state=running")
            #expect(tasks.status == 200)
            #expect(tasks.body.contains(#""id":"53a1f0c2b7d94e68""#))
            #expect(!tasks.body.contains("9d04c7be21a65f3b"))

            let page = try await served.curl(
                "http://localhost/v2/tasks?tag=iso&sort=speed&descending=1&offset=1&limit=5")
            #expect(page.status == 200)
            #expect(page.body.contains(#""matching":2,"#))
            #expect(page.body.contains("9d04c7be21a65f3b"))
            #expect(!page.body.contains("53a1f0c2b7d94e68"))
            var window = TaskWindow()
            (window.order, window.isDescending, window.offset, window.limit) = (.speed, true, 1, 5)
            #expect(await served.door.windows == [window])
            #expect(await served.door.filters.last?.selection.tags == ["iso"])

            let speeds = try await served.curl("http://localhost/v2/speeds")
            #expect(speeds.body == #"{"bytes_per_second":[0,1048576],"start":1700000000}"#)
            let tags = try await served.curl("http://localhost/v2/tags")
            #expect(tags.body == #"{"tags":{"iso":1}}"#)

            let task = try await served.curl("http://localhost/v2/tasks/9d04")
            #expect(task.status == 200)
            #expect(task.body.contains(#""state":"completed""#))

            let commands = try await served.curl(
                "http://localhost/v2/commands", "-d",
                #"{"commands":[{"command":"pause","ids":["53a1","77"]}]}"#)
            #expect(commands.status == 200)
            #expect(
                commands.body
                    == #"{"results":[[{"code":0,"id":"53a1f0c2b7d94e68","outcome":"done"},{"code":64,"message":"there is no task 77","outcome":"refused"}]]}"#
            )
            #expect(await served.door.commands == [.pause(TaskSelection(ids: ["53a1", "77"]))])

            let before = try await served.curl("http://localhost/v2/settings")
            let (start, end) = (#"{"max_running":"#, #","metered":"auto""#)
            #expect(
                before.body == start + "3" + end + #","retry_delays":[60,300,900,3600],"rules":[]}"#
            )
            let change = try await served.curl(
                "http://localhost/v2/settings", "-X", "PUT", "-d",
                #"{"max_running":5,"rate_limit":1000,"retry_delays":[1]}"#)
            #expect(change.status == 200)
            #expect(
                change.body == start + "5" + end
                    + #","rate_limit":1000,"retry_delays":[1],"rules":[]}"#)
            #expect(await served.door.kept.maxRunning == 5)
        }
    }

    @Test(arguments: [
        ("GET", "/", 404), ("GET", "/v1", 404), ("GET", "/v2/", 404), ("GET", "/health", 404),
        ("GET", "//v2/health", 404), ("GET", "/v3/health", 404), ("GET", "/v2/tasks/", 404),
        ("GET", "/v2/tasks/a/b", 404),
        ("GET", "/v2/health?a=1", 400), ("GET", "/v2/tasks?ids=1", 400),
        ("GET", "/v2/tasks?state=asleep", 400), ("GET", "/v2/tasks?unseen=perhaps", 400),
        ("GET", "/v2/tasks?text=a&text=b", 400), ("GET", "/v2/tasks?all", 400),
        ("GET", "/v2/tasks?sort=colour", 400), ("GET", "/v2/tasks?sort", 400),
        ("GET", "/v2/tasks?descending=2", 400), ("GET", "/v2/tasks?offset=-1", 400),
        ("GET", "/v2/tasks?limit=0", 400), ("GET", "/v2/tasks?limit=1001", 400),
        ("GET", "/v2/tasks?limit=1&limit=1", 400), ("GET", "/v2/events?limit=1", 400),
        ("GET", "/v2/tags?limit=1", 400), ("GET", "/v2/speeds?x=1", 400), ("POST", "/v2/tags", 405),
        ("GET", "/v2/tasks/77", 404), ("GET", "/v2/events?state=asleep", 400),
        ("POST", "/v2/events", 405), ("GET", "/v2/events/1", 404), ("POST", "/v2/health", 405),
        ("PUT", "/v2/commands", 405),
        ("DELETE", "/v2/tasks/53a1", 405), ("POST", "/v2/commands", 400),
        ("PUT", "/v2/settings", 400), ("OPTIONS", "/v2/settings", 405),
        ("HEAD", "/v2/health", 200), ("HEAD", "/v2/nothing", 404), ("HEAD", "/v2/commands", 405),
    ])
    func reportsReasonOfRefusedRequest(method: String, target: String, status: Int) async throws {
        try await ServedDoor.use { served throws in
            let connection = try served.connect()
            connection.send("\(method) \(target) HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n")
            #expect(await connection.has("\r\n\r\n"))
            #expect(connection.text.hasPrefix("HTTP/1.1 \(status) "))
            if method != "HEAD" {
                #expect(await connection.has("\"hint\""))
                let code = target.hasSuffix("/77") ? "no_task" : "invalid"
                #expect(connection.text.contains(#"{"error":{"code":"\#(code)","hint""#))
            }
            #expect((status == 405) == connection.text.contains("\r\nAllow: "))
            // The connection remains usable; a response to HEAD has no body.
            connection.forget()
            connection.send(Self.health)
            #expect(await connection.has("}"))
            #expect(connection.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test func listsAllowedMethods() async throws {
        try await ServedDoor.use { served throws in
            let settings = try await served.curl("http://localhost/v2/settings", "-X", "DELETE")
            #expect(settings.status == 405)
            #expect(settings.head.contains("Allow: GET, HEAD, PUT\r\n"))
            let commands = try await served.curl("http://localhost/v2/commands")
            #expect(commands.status == 405)
            #expect(commands.head.contains("Allow: POST\r\n"))
        }
    }

    @Test(arguments: [
        ("not JSON, but a secret", "it is not JSON"),
        (#"{"commands":[{"command":"pause","ids":["secret"#, "it is not JSON"),
        ("\u{1}\u{fffd}secret", "it is not JSON"),
        (#"["secret"]"#, "it has the wrong type"),
        (#"{"secret":[]}"#, "it has no `commands`"),
        (#"{"commands":[{"ids":["secret"]}]}"#, "`commands[0]` has no `command`"),
        (#"{"commands":[{"command":"secret"}]}"#, "`commands[0].command`: it is not a command"),
        (#"{"commands":[{"command":"pause"}]}"#, "`commands[0]`: it selects no task"),
        (
            #"{"commands":[{"command":"pause","all":true,"secret":1}]}"#,
            "`commands[0]`: it has an unknown key; the keys are all, command, ids, states, tags"
        ),
        (
            #"{"commands":[{"command":"pause","all":"secret"}]}"#,
            "`commands[0].all` has the wrong type"
        ),
        (
            #"{"commands":[{"command":"add","url":"secret","root":"/","id":"secret"}]}"#,
            "`commands[0].id` cannot be used"
        ),
        (
            #"{"commands":[{"command":"add","url":"secret","root":"/","options":{"checksum":"secret"}}]}"#,
            "`commands[0].options.checksum`"
        ),
        (
            #"{"commands":[{"command":"add","url":"secret","root":"/","options":{"takes_over":"secret"}}]}"#,
            "`commands[0].options.takes_over` cannot be used"
        ),
        (#"{"commands":[{"command":"move","all":true,"to":"secret"}]}"#, "`commands[0].to`"),
        (#"{"commands":[{"command":"pause","states":["secret"]}]}"#, "one is not a state"),
    ])
    func errorsDoNotRepeatBody(body: String, words: String) async throws {
        try await ServedDoor.use { served throws in
            let reply = try await served.curl("http://localhost/v2/commands", "--data-binary", body)
            #expect(reply.status == 400)
            let error = try JSONDecoder().decode(ErrorBody.self, from: Data(reply.body.utf8)).error
            #expect(error.code == .invalid)
            #expect(error.message.contains(words), "\(error.message)")
            #expect(!reply.body.contains("secret"))
            #expect(await served.door.commands.isEmpty)
        }
    }

    @Test func refusesUnknownSettings() async throws {
        try await ServedDoor.use { served throws in
            let reply = try await served.curl(
                "http://localhost/v2/settings", "-X", "PUT", "-d", #"{"max_runing":9}"#)
            #expect(reply.status == 400)
            #expect(reply.body.contains("max_running"))
            #expect(await served.door.kept == QueueSettings())
        }
    }

    @Test(arguments: [
        (QueueError.Code.damaged, 500), (.laterVersion, 500), (.diskFull, 507),
        (.unavailable, 500), (.busy, 503), (.hasWorker, 409), (.noTask, 404), (.invalid, 400),
        (.worker, 502),
    ])
    func mapsQueueErrorsToStatus(code: QueueError.Code, status: Int) async throws {
        try await ServedDoor.use { served throws in
            await served.door.fail(QueueError(code, "what happened", hint: "what to do"))
            let reply = try await served.curl("http://localhost/v2/tasks")
            #expect(reply.status == status)
            #expect(
                try JSONDecoder().decode(ErrorBody.self, from: Data(reply.body.utf8)).error
                    == QueueError(code, "what happened", hint: "what to do"))
        }
    }

    @Test func keepsConnectionOpen() async throws {
        try await ServedDoor.use { served throws in
            let connection = try served.connect()
            for _ in 0..<3 {
                connection.forget()
                connection.send(Self.health)
                #expect(await connection.has("}"))
                #expect(connection.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
                #expect(!connection.text.contains("Connection:"))
            }
            connection.forget()
            connection.send("\(Self.health.dropLast())Connection: close\r\n\r\n")
            #expect(await connection.ends())
            #expect(connection.text.contains("Connection: close\r\n"))
        }
    }

    @Test func answersPipelinedRequestsInOrder() async throws {
        try await ServedDoor.use { served throws in
            let connection = try served.connect()
            let requests = (0..<20).map { number in
                let body = #"{"commands":[{"command":"retry","ids":["9\#(number + 10)"]}]}"#
                return number % 2 == 0
                    ? "GET /v2/tasks/\(number) HTTP/1.1\r\nHost: a\r\n\r\n"
                    : "POST /v2/commands HTTP/1.1\r\nHost: a\r\nContent-Length: \(body.utf8.count)"
                        + "\r\n\r\n" + body
            }
            #expect(await connection.sendAll(requests.joined()))
            #expect(await soon { connection.text.components(separatedBy: "HTTP/1.1 ").count == 21 })
            #expect(await connection.has("there is no task 929"))
            var rest = connection.text[...]
            for number in 0..<20 {
                let words =
                    number % 2 == 0 ? "there is no such task" : "there is no task 9\(number + 10)"
                let place = try #require(rest.range(of: words))
                rest = rest[place.upperBound...]
            }
        }
    }

    @Test func supportsHTTP10Clients() async throws {
        try await ServedDoor.use { served throws in
            let once = try served.connect()
            once.send("GET /v2/health HTTP/1.0\r\n\r\n")
            #expect(await once.ends())
            #expect(once.text.hasPrefix("HTTP/1.0 200 OK\r\n"))
            #expect(once.text.hasSuffix("}"))

            let kept = try served.connect()
            kept.send("GET /v2/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            #expect(await kept.has("}"))
            #expect(kept.text.contains("Connection: keep-alive\r\n"))
            kept.forget()
            kept.send("GET /v2/health HTTP/1.0\r\n\r\n")
            #expect(await kept.ends())
            #expect(kept.text.hasSuffix("}"))
        }
    }

    @Test func answersHalfClosedClient() async throws {
        try await ServedDoor.use { served throws in
            await served.door.hold()
            let connection = try served.connect()
            connection.send("GET /v2/tasks HTTP/1.1\r\nHost: a\r\n\r\n")
            connection.finish()
            while await served.door.waiting == 0 { await Task.yield() }
            await served.door.release()
            #expect(await connection.ends())
            #expect(connection.text.hasSuffix("}"))
        }
    }
}
