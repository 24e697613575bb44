import Foundation
import TestSupport
import Testing

/// Tests that the number of system calls of a task does not grow with the files of its folder or
/// the tasks of its queue.
struct QueueCostTests {
    /// Counts the system calls of a queue that downloads `tasks` files into a folder with `others`
    /// other files, by name.
    private func calls(tasks: Int, others: Int) throws -> [String: Int] {
        let stage = try QueueStage(size: 12)
        for number in 0..<others { try stage.files.sandbox.write("other\(number)", "") }
        let list = (0..<tasks).map { stage.origin.url("/\($0)/f\($0)") }.joined(separator: "\n")
        try stage.home.write("list", list)
        try stage.done("add", "-i", stage.home.path("list"))
        let table = stage.home.path("calls")
        let traced = try Run(
            "/usr/bin/strace",
            [
                "-f", "-c", "-U", "name,calls", "-o", table, "-e", "trace=openat,newfstatat",
                try Segget.binary(), "run", "--queue", stage.queue, "--no-inhibit",
            ], in: stage.folder, environment: ["SEGGET_NO_CONFIG": "1"]
        ).wait(timeout: 300)
        try #require(traced.end == .exit(0), "\(traced.errorOutput)")
        for number in [0, tasks - 1] {
            #expect(try stage.isRight("f\(number)", "/\(number)/f\(number)"))
        }
        var calls: [String: Int] = [:]
        for line in try String(contentsOfFile: table, encoding: .utf8).split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.count == 2, let count = Int(words[1]) { calls[String(words[0])] = count }
        }
        return calls
    }

    @Test(.timeLimit(.minutes(5))) func doesNotOpenOtherFilesOfFolder() throws {
        let few = try calls(tasks: 3, others: 0)
        let many = try calls(tasks: 3, others: 3000)
        for call in ["openat", "newfstatat"] {
            let (few, many) = (try #require(few[call]), try #require(many[call]))
            #expect(many < few + 300, "\(call): \(few) and \(many) calls")
        }
    }

    @Test(.timeLimit(.minutes(5))) func twiceAsManyTasksMakeTwiceAsManyCalls() throws {
        let some = try calls(tasks: 50, others: 0)
        let twice = try calls(tasks: 100, others: 0)
        for call in ["openat", "newfstatat"] {
            let (some, twice) = (try #require(some[call]), try #require(twice[call]))
            #expect(Double(twice) < 2.2 * Double(some), "\(call): \(some) and \(twice) calls")
        }
    }
}
