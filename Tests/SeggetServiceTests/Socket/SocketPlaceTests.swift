import Foundation
import Glibc
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

@Suite(.timeLimit(.minutes(10)))
struct SocketPlaceTests {
    private let sandbox: Sandbox
    private let queue: String
    private let name: String

    init() throws {
        sandbox = try Sandbox("place")
        mkdir(sandbox.path("data"), 0o700)
        queue = try sandbox.write("data/queue.sqlite", "")
        var status = stat()
        #expect(stat(queue, &status) == 0)
        name =
            "queue-" + String(status.st_dev, radix: 16) + "-" + String(status.st_ino, radix: 16)
            + ".sock"
    }

    private func folder(_ name: String, _ mode: mode_t) -> String {
        mkdir(sandbox.path(name), 0o700)
        chmod(sandbox.path(name), mode)
        return sandbox.path(name)
    }

    /// Returns the candidates except the last resort.
    private func paths(_ runtime: String?) throws -> [String] {
        let all = try SocketPlace.candidates(
            queue: queue, runtime: runtime, users: sandbox.path("users"), base: sandbox.path)
        #expect(all.last?.path == sandbox.path("segget-\(geteuid())/\(name)"))
        return all.dropLast().map(\.path)
    }

    @Test func prefersRuntimeFolder() throws {
        let runtime = folder("runtime", 0o700)
        mkdir(sandbox.path("users"), 0o755)
        let user = folder("users/\(geteuid())", 0o700)
        let home = sandbox.path("data/\(name)")
        #expect(
            try paths(runtime) == ["\(runtime)/segget/\(name)", "\(user)/segget/\(name)", home])
        #expect(try paths(nil) == ["\(user)/segget/\(name)", home])
        // The same folder is used once.
        #expect(try paths(user) == ["\(user)/segget/\(name)", home])
    }

    @Test func skipsFolderThatOthersCanAccess() throws {
        let home = [sandbox.path("data/\(name)")]
        #expect(try paths(folder("writable", 0o770)) == home)
        #expect(try paths("relative") == home)
        #expect(try paths("") == home)
        #expect(try paths(sandbox.path("missing")) == home)
        #expect(try paths(queue) == home)
        chmod(sandbox.path("data"), 0o750)
        #expect(try paths(nil) == [])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can have somebody else's"))
    func skipsFolderOfOtherUser() throws {
        let runtime = folder("other", 0o700)
        chown(runtime, 65534, 65534)
        #expect(try paths(runtime) == [sandbox.path("data/\(name)")])
    }

    @Test func skipsLongPath() throws {
        let runtime = folder("r", 0o700)
        let tail = "/segget/\(name)"
        let room = SocketPlace.longestPath - runtime.utf8.count - tail.utf8.count
        try #require(room > 2)
        let fits = folder("r/" + String(repeating: "x", count: room - 1), 0o700)
        #expect(try paths(fits).first?.utf8.count == SocketPlace.longestPath)
        let exceeds = folder("r/" + String(repeating: "x", count: room), 0o700)
        #expect(try paths(exceeds).first == sandbox.path("data/\(name)"))
    }

    @Test func missingQueueHasNoSocket() {
        #expect(throws: QueueError.self) {
            try SocketPlace.candidates(queue: sandbox.path("none"), runtime: nil)
        }
    }

    @Test func servesAtPathAndRemovesSocket() async throws {
        let runtime = folder("runtime", 0o755)
        let server = try await QueueServer.start(
            for: queue, door: FakeDoor(), runtime: runtime, users: "/nowhere")
        #expect(server.path == "\(runtime)/segget/\(name)")
        var status = stat()
        #expect(stat("\(runtime)/segget", &status) == 0)
        #expect(status.st_mode == S_IFDIR | 0o700)
        await server.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(runtime)/segget") == [])
    }

    @Test func restrictsModeOfFolder() async throws {
        let runtime = folder("runtime", 0o700)
        chmod(folder("runtime/segget", 0o777), 0o777)
        let server = try await QueueServer.start(
            for: queue, door: FakeDoor(), runtime: runtime, users: "/nowhere")
        #expect(server.path.hasPrefix(runtime))
        var status = stat()
        #expect(stat("\(runtime)/segget", &status) == 0)
        #expect(status.st_mode == S_IFDIR | 0o700)
        await server.close()
    }

    @Test func doesNotFollowLinkInRuntimeFolder() async throws {
        let runtime = folder("runtime", 0o700)
        symlink(folder("elsewhere", 0o700), "\(runtime)/segget")
        let server = try await QueueServer.start(
            for: queue, door: FakeDoor(), runtime: runtime, users: "/nowhere")
        #expect(server.path == sandbox.path("data/\(name)"))
        await server.close()
        #expect(try sandbox.names().contains("elsewhere"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: sandbox.path("data")) == [
                "queue.sqlite"
            ])
    }

    @Test func everyWorkerCanUseLastResort() async throws {
        chmod(sandbox.path("data"), 0o755)
        let folder = sandbox.path("segget-\(geteuid())")
        // The second server finds the folder that the first one created.
        for _ in 0..<2 {
            let server = try await start()
            #expect(server.path == "\(folder)/\(name)")
            var status = stat()
            #expect(stat(folder, &status) == 0)
            #expect(status.st_mode == S_IFDIR | 0o700)
            await server.close()
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        }
    }

    @Test func refusesUnsafeLastResort() async throws {
        chmod(sandbox.path("data"), 0o755)
        symlink(folder("elsewhere", 0o700), sandbox.path("segget-\(geteuid())"))
        await #expect { try await start() } throws: {
            ($0 as? QueueError)?.code == .unavailable
        }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: sandbox.path("elsewhere")) == [])
    }

    private func start() async throws -> QueueServer {
        try await QueueServer.start(
            for: queue, door: FakeDoor(), runtime: nil, users: "/nowhere", base: sandbox.path)
    }
}
