import Foundation
import Glibc
import TestSupport
import Testing

/// Kills a service: its clients over TCP reconnect, and receive correct reports.
@Suite(.timeLimit(.minutes(15)))
struct DoorKillTests {
    /// No other test connects from this address, so no connection takes the port between two
    /// services.
    private static let address = "127.0.9.1"
    private static let kills = 5

    private let stage: DoorStage
    /// Releases the delayed tasks.
    private let release = Guarded(false)

    init() throws {
        stage = try DoorStage(size: 2 << 20)
        let release = release
        stage.queue.origin.bendGET { request, reply in
            guard request.path.hasPrefix("/held") else { return }
            (reply.stallAfter, reply.release) = (128 << 10, release)
        }
    }

    /// Adds the file at a path, which is saved under the same name.
    private func add(_ name: String, _ door: Door) throws -> String {
        try door.add(stage.queue.origin.url("/\(name)"), #"{"split":"1"}"#)
    }

    /// The gids of all tasks.
    private func gids(_ door: Door) throws -> Set<String> {
        var gids: Set<String> = []
        for (method, parameters) in [
            ("aria2.tellActive", []), ("aria2.tellWaiting", ["0", "99"]),
            ("aria2.tellStopped", ["0", "99"]),
        ] {
            let answer =
                parameters.isEmpty
                ? try door.call(method) : try door.call(method, parameters[0], parameters[1])
            for task in try #require(answer as? [[String: Any]]) {
                gids.insert(try #require(task["gid"] as? String))
            }
        }
        return gids
    }

    @Test func clientsReconnectAndReceiveCorrectReports() throws {
        var door = try stage.open(at: Self.address, 0)
        let names = Guarded<[String: String]>([:])
        let watcher = DoorWatcher(door) { [queue = stage.queue] gid in
            // The notification may arrive before the response to `addUri`.
            _ = eventually { names.withLock { $0[gid] != nil } }
            let name = names.withLock { $0[gid] ?? "" }
            return try queue.isRight(name, "/\(name)")
        }
        let subscriber = QueueSubscriber(door)
        defer {
            watcher.stop()
            subscriber.stop()
        }
        func enter(_ name: String) throws -> String {
            let gid = try add(name, door)
            names.withLock { $0[gid] = name }
            watcher.watch(gid)
            return gid
        }
        let held = try ["held-1", "held-2"].map(enter)
        for kill in 1...Self.kills {
            let session = try #require(try door.call("aria2.getSessionInfo") as? [String: Any])
            let id = try #require(session["sessionId"] as? String)
            #expect(
                eventually(timeout: 120) {
                    let told = watcher.told
                    return told.asked.contains(id) && told.heard.contains(id)
                }, "kill \(kill): nobody is connected anew")
            #expect(try gids(door) == Set(names.withLock { $0.keys }), "kill \(kill)")
            let quick = try ["a", "b", "c"].map { try enter("\(kill)\($0)") }
            // The first task is reported as complete, the delayed ones are active, and the others
            // are in any state.
            #expect(
                eventually(timeout: 120) {
                    watcher.told.notices.contains(["aria2.onDownloadComplete", quick[0]])
                }, "kill \(kill): nothing is told")
            #expect(
                try eventually(timeout: 120) {
                    try held.allSatisfy { try door.status($0)["status"] as? String == "active" }
                }, "kill \(kill): what was active does not go on")
            door.service.signal(SIGKILL)
            #expect(try door.service.wait().end == .signal(SIGKILL))
            door = try stage.open(at: Self.address, door.port)
        }
        release.withLock { $0 = true }
        let all = Set(names.withLock { $0.keys })
        #expect(
            eventually(timeout: 300) {
                let told = watcher.told
                return told.complete == all
                    && told.states == all.reduce(into: [:]) { $0[$1] = "complete" }
            }, "\(watcher.told)")
        #expect(try gids(door) == all)
        for (gid, name) in names.withLock({ $0 }) {
            #expect(try door.status(gid)["completedLength"] as? String == "\(2 << 20)")
            #expect(try stage.queue.isRight(name, "/\(name)"))
        }
        let tasks = try stage.queue.tasks()
        #expect(try eventually(timeout: 120) { try subscriber.knows(tasks) }, "\(subscriber.known)")
        #expect(subscriber.faults.isEmpty)
        #expect(watcher.told.faults.isEmpty)
        try door.end()
    }
}
