import Foundation
import TestSupport
import Testing

/// Links that allow one request, in lists, in the queue, over the API and for aria2c's clients.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SingleRequestPlacesTests {
    /// Serves the first requests for each path, and replies 410 to all later ones.
    private static func serveOnce(_ stage: BatchStage, cut: Int64? = nil, times: Int = 1) {
        let used = Guarded<[String: Int]>([:])
        stage.origin.bend { request, reply in
            let number = used.withLock { used in
                used[request.path, default: 0] += 1
                return used[request.path] ?? 0
            }
            if number > times { reply = .text(410) }
            if number == 1 { reply.cutAfter = cut }
        }
    }

    /// The list has more files than are downloaded at a time: segget sends no request before it can
    /// save the reply.
    @Test(arguments: [Int64(1000), 3_000_000])
    func requestsEachListedFileOnce(size: Int64) throws {
        let stage = try BatchStage(size: size)
        Self.serveOnce(stage)
        let list = stage.urls(12).map { "\($0)\n single-request=true\n auto-rename=true\n" }
        let outcome = try stage.run(list: list.joined())
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.origin.requests.asked == Array(repeating: "GET", count: 12))
        for (number, name) in (["big.iso"] + (1...11).map { "big.\($0).iso" }).enumerated() {
            #expect(try stage.isRight(name, "/\(number + 1)/big.iso"), "\(name)")
        }
    }

    @Test func optionAppliesToAllListedFiles() throws {
        let stage = try BatchStage(size: 3_000_000)
        Self.serveOnce(stage)
        let outcome = try stage.run(
            list: stage.urls(3).joined(separator: "\n"), ["--single-request", "--auto-rename"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.origin.requests.asked == Array(repeating: "GET", count: 3))
    }

    @Test func queueTaskSendsSingleRequests() throws {
        let stage = try QueueStage()
        Self.serveOnce(stage.files, cut: 1_000_000, times: 2)
        let id = try stage.add("/1/a.iso", "--single-request")
        let run = try stage.run("run")
        #expect(run.end == .exit(0), "\(run.errorOutput)")
        #expect(try stage.state(id) == "completed")
        #expect(try stage.isRight("a.iso", "/1/a.iso"))
        #expect(stage.origin.requests.asked == ["GET", "GET bytes=1000000-"])
    }

    /// The API has `single_request`; clients of aria2's RPC set the options below.
    @Test(arguments: ["api", "rpc"]) func clientsTaskSendsOneRequest(client: String) throws {
        let stage = try DoorStage(size: 3_000_000)
        Self.serveOnce(stage.queue.files)
        let door = try stage.open()
        let url = stage.queue.origin.url("/1/a.iso")
        if client == "api" {
            let reply = try door.ask(
                "POST /api/v2/commands", door.authorization,
                #"{"commands":[{"command":"add","url":"\#(url)","root":"\#(stage.queue.folder)","#
                    + #""options":{"single_request":true}}]}"#)
            #expect(reply.status == 200, "\(reply.body)")
        } else {
            _ = try door.add(
                url, #"{"use-head":"false","split":"1","max-connection-per-server":"1"}"#)
        }
        #expect(
            eventually(timeout: 120) { (try? stage.queue.isRight("a.iso", "/1/a.iso")) == true })
        try door.end()
        #expect(stage.queue.origin.requests.asked == ["GET"])
    }

    /// The replacement for aria2c sends one request with `--use-head=false` and one connection.
    @Test(arguments: ["-s1 -x1", "-s1"])
    func aria2ReplacementSendsOneRequest(connections: String) throws {
        let pair = try Aria2Pair(size: 3_000_000)
        let used = Guarded(0)
        pair.origin.bend { _, reply in
            let number = used.withLock { used in
                used += 1
                return used
            }
            if number > 1 { reply = .text(410) }
        }
        let outcome = try pair.run(
            "aria2c --no-conf --use-head=false \(connections) -o f.bin $B/f.bin", .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        #expect(outcome.requests.asked == ["GET"])
    }

    /// With more connections, `--use-head=false` has no effect.
    @Test(arguments: ["-s4 -x4", "-s1 -x2", "-x4"])
    func aria2ReplacementWithMoreConnectionsSendsRanges(connections: String) throws {
        let pair = try Aria2Pair(size: 3_000_000)
        let outcome = try pair.run(
            "aria2c --no-conf --use-head=false \(connections) -o f.bin $B/f.bin", .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        let asked = outcome.requests.asked
        #expect(asked.first == "HEAD", "\(asked)")
        // If the download takes more than a second, `HEAD` also checks the version at its end.
        let gets = asked.filter { $0.hasPrefix("GET") }
        #expect(!gets.isEmpty && gets.allSatisfy { $0.hasPrefix("GET bytes=") }, "\(asked)")
    }
}
