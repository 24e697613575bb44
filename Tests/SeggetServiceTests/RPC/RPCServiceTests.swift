import Foundation
import SeggetFormats
import Testing

import SeggetReports
@testable import SeggetQueue
@testable import SeggetService
import SeggetAria2

/// Tests the effects of calls on a queue, and their responses.
struct RPCServiceTests {
    private let door = FakeDoor()
    private let service: RPCService

    init() {
        service = RPCService(door, RPCPolicy(secret: "s", folder: "/srv/downloads"))
    }

    private func text(_ body: String, isExposed: Bool = false) async -> (Int, String) {
        let answer = await service.answer(Data(body.utf8), isExposed: isExposed)
        return (answer.status, String(decoding: answer.body, as: UTF8.self))
    }

    /// Returns the result of a call, or the message of its error.
    private func call(_ method: String, _ parameters: JSONValue...) async -> JSONValue? {
        let call: JSONValue = [
            "id": 1, "method": .string(method), "params": .array(["token:s"] + parameters),
        ]
        let answer = JSONValue.read(await service.answer(call.data).body)?.object
        return answer?["result"] ?? answer?["error"]?.object?["message"]
    }

    /// Replaces the tasks of the queue by some with ids that end in 1, 2 and so on.
    private func fill(_ states: TaskStatus.Word...) async {
        await door.replace(
            states.enumerated().map { number, state in
                var report = Sample.tasks[0]
                report.id = QueueTask.ID("000000000000000\(number + 1)") ?? QueueTask.ID()
                report.state = state
                return report
            })
    }

    private func gids(_ method: String, _ parameters: JSONValue...) async -> [String] {
        let call: JSONValue = [
            "id": 1, "method": .string(method),
            "params": .array(["token:s"] + parameters + [["gid"]]),
        ]
        let answer = JSONValue.read(await service.answer(call.data).body)?.object
        return answer?["result"]?.array?.compactMap {
            $0.object?["gid"]?.string.map { String($0.suffix(1)) }
        } ?? []
    }

    // MARK: HTTP status

    @Test(arguments: [
        (#"{"id":1,"method":"aria2.getVersion","params":["token:s"]}"#, 200),
        (#"{"id":1,"method":"aria2.getVersion","params":["token:t"]}"#, 400),
        (#"{"id":1,"method":"aria2.noSuchMethod","params":["token:s"]}"#, 400),
        (#"{"id":1,"method":"aria2.tellStatus","params":["token:s"]}"#, 400),
        (#"{"method":"aria2.getVersion","params":["token:s"]}"#, 400),
        (#"{"id":1,"method":"aria2.getVersion","params":{}}"#, 500), ("{", 500), ("[]", 200),
        (#"[{"id":1,"method":"aria2.getVersion","params":["token:t"]}]"#, 200),
    ])
    func httpStatusMatchesAria2(body: String, status: Int) async {
        #expect(await text(body).0 == status)
    }

    @Test func errorHasIdentifierOfCall() async {
        #expect(
            await text(
                #"{"id":12345678901234567890,"method":"aria2.noSuchMethod","params":["token:s"]}"#
            )
            .1
                == #"{"error":{"code":1,"message":"No such method: aria2.noSuchMethod"},"id":12345678901234567890,"jsonrpc":"2.0"}"#
        )
        #expect(
            await text("{").1
                == #"{"error":{"code":-32700,"message":"Parse error."},"id":null,"jsonrpc":"2.0"}"#)
    }

    @Test(arguments: [
        "aria2.addTorrent", "aria2.addMetalink", "aria2.getFile", "system.nothing", "",
        "aria2.ADDURI",
    ])
    func refusesUnknownMethods(method: String) async {
        #expect(await call(method)?.string?.hasPrefix("No such method: ") == true)
    }

    // MARK: Tokens

    @Test func checksToken() async {
        for token in ["token:s ", "token:", "token:S", "s", "TOKEN:s", "token:ss"] {
            let body: JSONValue = [
                "id": 1, "method": "aria2.getVersion", "params": .array([.string(token)]),
            ]
            let answer = await service.answer(body.data)
            #expect(answer.status == 400 && answer.isRefused && !answer.isAuthorized, "\(token)")
        }
        let right = await service.answer(
            Data(#"{"id":1,"method":"aria2.getVersion","params":["token:s"]}"#.utf8))
        #expect(right.isAuthorized && !right.isRefused)
    }

    @Test func noSecretStillNeedsTokenForBrowserRequests() async {
        var policy = RPCPolicy(secret: "s", folder: "/srv")
        policy.isOpen = true
        let service = RPCService(door, policy)
        let body = Data(#"{"id":1,"method":"aria2.getVersion"}"#.utf8)
        #expect(await service.answer(body).status == 200)
        let exposed = await service.answer(body, isExposed: true)
        #expect(exposed.status == 400 && exposed.isRefused)
    }

    @Test func eachCallOfMulticallNeedsToken() async {
        let calls: JSONValue = [
            ["methodName": "aria2.getVersion", "params": ["token:s"]],
            ["methodName": "aria2.getVersion", "params": ["token:x"]],
            ["methodName": "aria2.getVersion"], ["methodName": "system.multicall", "params": [[]]],
            ["params": []], "nothing", ["methodName": "system.listNotifications", "params": []],
        ]
        let body: JSONValue = ["id": 1, "method": "system.multicall", "params": [calls]]
        let answer = await service.answer(body.data)
        #expect(answer.status == 200 && answer.isRefused && answer.isAuthorized)
        let results = JSONValue.read(answer.body)?.object?["result"]?.array ?? []
        #expect(results.count == 7)
        #expect(results.first?.array?.first?.object?["version"] != nil)
        #expect(
            results.dropFirst().map { $0.object?["message"]?.string } == [
                "Unauthorized", "Unauthorized", "Recursive system.multicall forbidden.",
                "Missing methodName.", "system.multicall expected struct.", nil,
            ])
    }

    // MARK: Lists

    @Test(arguments: [
        (0, 3, "123"), (0, 99, "12345"), (1, 2, "23"), (4, 9, "5"), (5, 9, ""), (99, 1, ""),
        (0, 0, ""), (-1, 2, "54"), (-2, 2, "43"), (-1, 99, "54321"), (-5, 2, "1"), (-6, 2, ""),
        (-99, 9, ""),
    ])
    func returnsPartOfList(offset: Int, count: Int, expected: String) async {
        await fill("waiting", "waiting", "retrying", "waiting_for_network", "waiting", "running")
        #expect(
            await gids(
                "aria2.tellWaiting", JSONValue(integerLiteral: offset),
                JSONValue(integerLiteral: count)
            ).joined() == expected)
        await fill("completed", "failed", "cancelled", "completed", "failed", "running")
        #expect(
            await gids(
                "aria2.tellStopped", JSONValue(integerLiteral: offset),
                JSONValue(integerLiteral: count)
            ).joined() == expected)
    }

    @Test func acceptsOffsetsOfAnySize() async {
        await fill("waiting", "waiting")
        for number in [Int.max, Int.min, Int.min + 1] {
            #expect(
                await gids(
                    "aria2.tellWaiting", JSONValue(integerLiteral: number),
                    JSONValue(integerLiteral: .max)
                ).isEmpty)
        }
        #expect(
            await call("aria2.tellWaiting", 0, -1)
                == "The integer parameter at 1 has invalid value: the value must be greater than or equal to 0."
        )
    }

    @Test func tellActiveListsActiveTasks() async {
        await fill("running", "waiting", "verifying", "completed")
        #expect(await gids("aria2.tellActive") == ["1", "3"])
    }

    // MARK: Order

    @Test(arguments: [
        (1, 0, "POS_SET", 0), (1, 2, "POS_SET", 2), (1, 99, "POS_SET", 2), (3, -9, "POS_SET", 0),
        (2, 1, "POS_CUR", 2), (2, -1, "POS_CUR", 0), (2, -9, "POS_CUR", 0), (2, 9, "POS_CUR", 2),
        (1, 0, "POS_END", 2), (1, -1, "POS_END", 1), (1, -9, "POS_END", 0), (1, 9, "POS_END", 2),
        (1, Int.max, "POS_CUR", 2), (1, Int.min, "POS_END", 0),
    ])
    func limitsPositions(task: Int, distance: Int, how: String, place: Int) async {
        await fill("waiting", "waiting", "waiting")
        #expect(
            await call(
                "aria2.changePosition", .string("000000000000000\(task)"),
                JSONValue(integerLiteral: distance), .string(how))
                == JSONValue(integerLiteral: place))
    }

    @Test func movesOnlyWaitingTasks() async {
        await fill("running", "waiting", "completed")
        for task in [1, 3] {
            #expect(
                await call(
                    "aria2.changePosition", .string("000000000000000\(task)"), 0, "POS_SET")
                    == .string("GID#000000000000000\(task) not found in the waiting queue."))
        }
        #expect(
            await call("aria2.changePosition", "0000000000000002", 0, "POS_ANY")
                == "Illegal argument.")
    }

    // MARK: Gids

    @Test(arguments: ["", "g", "12345678901234567", "0x1", "-1", " 1"])
    func refusesInvalidGid(gid: String) async {
        #expect(
            await call("aria2.tellStatus", .string(gid))?.string?.hasPrefix("Invalid GID") == true)
    }

    @Test func reportsMissingTask() async {
        #expect(
            await call("aria2.tellStatus", "00000000000000ff")
                == "GID 00000000000000ff is not found")
    }

    // MARK: Paths

    @Test(
        arguments: [
            (nil, nil, "/srv/downloads", nil), ("/srv/downloads/a", "b", "/srv/downloads/a", "b"),
            ("a/b", nil, "/srv/downloads/a/b", nil), (nil, "a/b/c", "/srv/downloads/a/b", "c"),
            ("/other", "a/b", "/other/a", "b"),
            ("/srv//downloads/./a/", nil, "/srv/downloads/a", nil),
            ("/srv/downloads-beside", nil, "/srv/downloads-beside", nil),
            ("a/../../x", nil, "/srv/downloads/a/../../x", nil),
            (nil, "/etc/x", "/srv/downloads/etc", "x"),
        ] as [(String?, String?, String, String?)])
    func resolvesPathOfFile(dir: String?, out: String?, folder: String, name: String?) throws {
        var options = Aria2Options()
        for (key, value) in [("dir", dir), ("out", out)] {
            if let value { try options.take(client: key, [value]) }
        }
        let place = RPCService.place(options, in: "/srv/downloads")
        #expect(place.folderPath == folder && place.name == name)
    }
}

struct RPCNoticesTests {
    /// Returns the notifications for a sequence of states of a task.
    private static func told(_ states: [(TaskStatus.Word, TaskStatus.Wanted)]) -> [String] {
        var notices = RPCNotices([])
        return states.flatMap { state, wanted in
            var report = Sample.tasks[0]
            (report.state, report.wanted) = (state, wanted)
            return notices.take(.changed(report)).map(\.word)
        }
    }

    @Test(
        arguments: [
            ([("waiting", .run), ("running", .run), ("completed", .run)], ["Start", "Complete"]),
            (
                [("waiting", .run), ("running", .run), ("verifying", .run), ("completed", .run)],
                ["Start", "Complete"]
            ),
            (
                [("running", .run), ("paused", .paused), ("running", .run)],
                ["Start", "Pause", "Start"]
            ),
            ([("paused", .paused)], []),
            ([("waiting", .run), ("paused", .paused), ("waiting", .run)], ["Pause"]),
            ([("running", .run), ("retrying", .run), ("running", .run)], ["Start", "Start"]),
            ([("running", .run), ("failed", .run)], ["Start", "Error"]),
            ([("waiting", .run), ("failed", .run)], ["Start", "Error"]),
            ([("waiting", .run), ("completed", .run)], ["Start", "Complete"]),
            ([("waiting", .run), ("cancelled", .run)], ["Stop"]),
            ([("running", .run), ("cancelled", .run), ("cancelled", .run)], ["Start", "Stop"]),
        ] as [([(TaskStatus.Word, TaskStatus.Wanted)], [String])])
    func notifiesStateChanges(states: [(TaskStatus.Word, TaskStatus.Wanted)], told: [String]) {
        #expect(Self.told(states) == told)
    }

    @Test func notifiesStopOfRemovedTask() {
        var notices = RPCNotices(Sample.tasks)
        #expect(notices.take(.removed(Sample.first)).map(\.word) == ["Stop"])
        #expect(notices.take(.removed(Sample.first)).isEmpty)
        // The task had ended, and that was notified then.
        #expect(notices.take(.removed(Sample.second)).isEmpty)
    }

    @Test func encodesNotification() {
        let notice = RPCNotices.Notice(word: "Start", id: Sample.first)
        #expect(
            String(decoding: notice.value.data, as: UTF8.self)
                == #"{"jsonrpc":"2.0","method":"aria2.onDownloadStart","params":[{"gid":"53a1f0c2b7d94e68"}]}"#
        )
    }
}

struct RPCStatusTests {
    private static let mebibyte: Int64 = 1 << 20

    private static func bitfield(
        _ size: Int64?, _ segments: [(Int64, Int64)], state: TaskStatus.Word = .running
    ) -> String? {
        var report = Sample.tasks[0]
        (report.size, report.state) = (size, state)
        let status = RPCStatus(
            report: report, segments: segments.map { .init(start: $0.0, end: $0.1) })
        return status.value(["bitfield"]).object?["bitfield"]?.string
    }

    @Test(
        arguments: [
            (nil, [], nil), (0, [], nil), (1, [], "00"), (1, [(0, 1)], "80"),
            (mebibyte, [(0, mebibyte)], "80"), (mebibyte, [(0, mebibyte - 1)], "00"),
            (mebibyte + 1, [(0, mebibyte)], "80"), (mebibyte + 1, [(0, mebibyte + 1)], "c0"),
            (mebibyte + 1, [(mebibyte, mebibyte + 1)], "40"),
            (8 * mebibyte, [(0, 8 * mebibyte)], "ff"), (9 * mebibyte, [(0, 9 * mebibyte)], "ff80"),
            // A piece that two segments complete, and an incomplete piece.
            (2 * mebibyte, [(0, 10), (10, mebibyte)], "80"), (2 * mebibyte, [(1, mebibyte)], "00"),
            (3 * mebibyte, [(mebibyte, 2 * mebibyte), (0, 5)], "40"),
            (2 * mebibyte, [(0, mebibyte + 5), (mebibyte, 2 * mebibyte)], "c0"),
            // A segment after the end of the file.
            (mebibyte, [(0, 9 * mebibyte)], "80"),
        ] as [(Int64?, [(Int64, Int64)], String?)])
    func computesBitfields(size: Int64?, segments: [(Int64, Int64)], expected: String?) {
        #expect(Self.bitfield(size, segments) == expected)
    }

    @Test func bitfieldOfCompletedTaskIsFull() {
        #expect(Self.bitfield(9 * Self.mebibyte, [], state: "completed") == "ff80")
        #expect(Self.bitfield(9 * Self.mebibyte, [], state: "verifying") == "ff80")
        #expect(Self.bitfield(9 * Self.mebibyte, [], state: "failed") == "0000")
    }

    @Test(
        arguments: [
            (10_240 * mebibyte, 10_240, mebibyte), (10_240 * mebibyte + 1, 5121, 2 * mebibyte),
            (Int64.max, 8192, Int64(1) << 50), (nil, 0, mebibyte), (0, 0, mebibyte),
        ] as [(Int64?, Int64, Int64)])
    func limitsNumberOfPieces(size: Int64?, count: Int64, length: Int64) {
        var report = Sample.tasks[0]
        report.size = size
        let value = RPCStatus(report: report).value(["numPieces", "pieceLength"]).object
        #expect(value?["numPieces"] == .text(count))
        #expect(value?["pieceLength"] == .text(length))
    }

    @Test func returnsOnlyRequestedKeys() {
        let status = RPCStatus(report: Sample.tasks[0])
        #expect(status.value(["gid", "nothing"]) == ["gid": "53a1f0c2b7d94e68"])
        #expect(status.value(nil).object?["errorCode"] == nil)
        #expect(
            RPCStatus(report: Sample.tasks[1]).value(["errorCode", "errorMessage"])
                == ["errorCode": "0", "errorMessage": ""])
    }
}
