import Foundation
import Glibc
import TestSupport
import Testing

/// Tests sets on a full disk, and after kills at random moments.
@Suite(.serialized, .timeLimit(.minutes(20)))
struct SetDiskTests {
    /// Makes the files that nginx serves, and the plan of them.
    private static func prepare(
        _ sandbox: Sandbox, _ nginx: Nginx, sizes: [Int64]
    ) throws {
        let list = sizes.indices.map { number -> String in
            let path = "d\(number % 20)/f\(number)"
            return "\(nginx.url(path))\n out=\(path)\n"
        }
        try sandbox.write("list", list.joined())
        let outcome = try Run(["plan", "-i", "list", "-o", "plan"], in: sandbox.path).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    }

    /// The URL paths of the files that have their names.
    private static func paths(in sandbox: Sandbox, _ count: Int) -> Set<String> {
        Set(
            (0..<count).map { "/d\($0 % 20)/f\($0)" }.filter {
                access(sandbox.path("set") + $0, F_OK) == 0
            })
    }

    private static func contents(_ sizes: [Int64]) throws -> Sandbox {
        let root = try Sandbox("segget-root")
        for (number, size) in sizes.enumerated() {
            let folder = root.path("d\(number % 20)")
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            try Content(size: size, seed: UInt64(number)).write(to: "\(folder)/f\(number)")
        }
        return root
    }

    /// Whatever the moment of a kill, what is complete is not requested again.
    @Test func killedSetRequestsNothingTwice() throws {
        let sizes = (0..<3000).map { Int64(1 + $0 * 7 % 9000) }
        let root = try Self.contents(sizes)
        let nginx = try Nginx(root: root.path, limitRate: nil)
        let sandbox = try Sandbox()
        try Self.prepare(sandbox, nginx, sizes: sizes)
        var random = SystemRandomNumberGenerator()
        var kills = 0
        var last: Run.Outcome?
        while kills < 20 {
            // A kill comes after some requests, not after some time.
            let complete = Self.paths(in: sandbox, sizes.count)
            let before = try nginx.accessLog().count
            let more = Int.random(in: 1...200, using: &random)
            let run = try Run(["get", "--plan", "plan", "-d", "set", "--quiet"], in: sandbox.path)
            _ = run.waits { ((try? nginx.accessLog().count) ?? 0) >= before + more }
            run.signal(SIGKILL)
            last = try run.wait()
            let requested = try nginx.accessLog().dropFirst(before).compactMap {
                $0.request.split(separator: " ").dropFirst().first.map(String.init)
            }
            let again = complete.intersection(requested)
            #expect(again.isEmpty, "\(again.count) complete files were requested")
            if last?.end == .exit(0) { break }
            kills += 1
        }
        let outcome = try Run(["get", "--plan", "plan", "-d", "set"], in: sandbox.path).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for (number, size) in sizes.enumerated() {
            let content = Content(size: size, seed: UInt64(number))
            let path = sandbox.path("set/d\(number % 20)/f\(number)")
            #expect(try content.firstDifference(at: path) == nil, "\(path)")
        }
        #expect(kills > 0)
        let before = try nginx.accessLog().count
        let again = try Run(["get", "--plan", "plan", "-d", "set"], in: sandbox.path).wait()
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(try nginx.accessLog().count == before)
    }

    /// A disk that fills up: complete files stay recorded, and the exit code says that later helps.
    @Test func fullDiskLosesNothing() throws {
        let sizes = [Int64](repeating: 100_000, count: 30)
        let root = try Self.contents(sizes)
        let nginx = try Nginx(root: root.path)
        let disk = try Tmpfs(size: 1_500_000)
        let sandbox = try Sandbox()
        try Self.prepare(sandbox, nginx, sizes: sizes)
        let arguments = ["get", "--plan", "plan", "-d", disk.path("set"), "--quiet"]
        let full = try Run(arguments, in: sandbox.path).wait()
        #expect([.exit(75), .exit(74)].contains(full.end), "\(full.errorOutput)")
        try disk.resize(to: 8 << 20)
        let before = try nginx.accessLog().reduce(0) { $0 + $1.bytes }
        let again = try Run(arguments, in: sandbox.path).wait()
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        let served = try nginx.accessLog().reduce(0) { $0 + $1.bytes } - before
        #expect(served < 2_500_000, "\(served)")
        for number in sizes.indices {
            let content = Content(size: sizes[number], seed: UInt64(number))
            let path = disk.path("set/d\(number % 20)/f\(number)")
            #expect(try content.firstDifference(at: path) == nil, "\(path)")
        }
    }
}
