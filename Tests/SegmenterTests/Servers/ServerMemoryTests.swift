import Glibc
import TestSupport
import Testing

@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

/// Tests that facts about servers are available in the next run, for a week.
struct ServerMemoryTests {
    private static let now = 1_800_000_000.0
    private static let week = 604_800.0

    private static func memory(_ sandbox: Sandbox) -> ServerMemory {
        ServerMemory(path: "\(sandbox.path)/state/segget/servers.json")
    }

    @Test func limitsPersistAcrossRuns() throws {
        let sandbox = try Sandbox("segget-memory")
        let memory = Self.memory(sandbox)
        #expect(memory.limits(now: Self.now) == [:])
        #expect(memory.add(["https://a:443": 4], now: Self.now))
        #expect(memory.add(["https://b:443": 7, "http://c:80": 1], now: Self.now + 1))
        #expect(memory.add(["https://b:443": 8], now: Self.now + 2))
        let all = ["https://a:443": 4, "https://b:443": 8, "http://c:80": 1]
        #expect(memory.limits(now: Self.now + 3) == all)
        var status = stat()
        #expect(stat(memory.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(access(memory.path + "~", F_OK) != 0)
    }

    @Test func limitsExpireAfterAWeek() throws {
        let sandbox = try Sandbox("segget-memory")
        let memory = Self.memory(sandbox)
        memory.add(["https://a:443": 4], now: Self.now)
        memory.add(["https://b:443": 5], now: Self.now + 1000)
        #expect(memory.limits(now: Self.now + Self.week - 1).count == 2)
        #expect(memory.limits(now: Self.now + Self.week + 1) == ["https://b:443": 5])
        // The clock was wrong.
        #expect(memory.limits(now: Self.now - 1) == [:])
    }

    @Test(arguments: [
        "", "{", "[]", "{\"version\":1}", "{\"version\":1,\"servers\":{\"a\":{\"limit\":4}}}",
        "{\"version\":1,\"servers\":{\"a\":{\"limit\":0,\"learned\":1800000000}}}",
        "{\"version\":1,\"servers\":{\"a\":{\"limit\":65,\"learned\":1800000000}}}",
        "{\"version\":1,\"servers\":{\"a\":{\"limit\":1e99,\"learned\":1800000000}}}",
    ])
    func invalidFileIsReplaced(text: String) throws {
        let sandbox = try Sandbox("segget-memory")
        let memory = ServerMemory(path: "\(sandbox.path)/servers.json")
        _ = try sandbox.write("servers.json", text)
        #expect(memory.limits(now: Self.now + 1) == [:])
        #expect(memory.add(["https://a:443": 4], now: Self.now + 2))
        #expect(memory.limits(now: Self.now + 3) == ["https://a:443": 4])
    }

    @Test func lockWaitIsBounded() throws {
        let sandbox = try Sandbox("segget-memory")
        let memory = ServerMemory(path: "\(sandbox.path)/servers.json")
        let other = open(sandbox.path, O_RDONLY | O_DIRECTORY)
        defer { close(other) }
        #expect(flock(other, LOCK_EX) == 0)
        #expect(!memory.add(["https://a:443": 4], now: Self.now, patience: 0.05))
        #expect(flock(other, LOCK_UN) == 0)
        #expect(memory.add(["https://a:443": 4], now: Self.now))
    }

    @Test func unwritableFolderIsNoError() {
        let memory = ServerMemory(path: "/dev/null/segget/servers.json")
        #expect(!memory.add(["https://a:443": 4], now: Self.now))
        #expect(memory.limits(now: Self.now) == [:])
    }

    @Test(arguments: [
        (["XDG_STATE_HOME": "/s", "HOME": "/tmp"], "/s/segget/servers.json"),
        (["XDG_STATE_HOME": "s", "HOME": "/tmp"], "/tmp/.local/state/segget/servers.json"),
        (["HOME": "/tmp"], "/tmp/.local/state/segget/servers.json"),
        (["HOME": "/no/such/home"], nil), ([:], nil),
    ])
    func pathFollowsEnvironment(environment: [String: String], path: String?) {
        #expect(ServerMemory { environment[$0] }?.path == path)
    }
}
