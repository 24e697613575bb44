import Foundation
import TestSupport
import Testing

/// Files that change on servers that others wrote, while they run.
@Suite(.timeLimit(.minutes(5)))
struct RealServerChangeTests {
    /// Where in a file of 8 MB the change comes: amid it, or when its last replies run.
    static let moments: [Int64] = [2_000_000, 6_500_000]

    /// Tornado computes a file's strong ETag once and remembers it as long as it runs.
    ///
    /// What shows the change is Last-Modified, and the bytes.
    @Test func theTagStaysAndTheFileIsAnotherBetweenTwoRuns() throws {
        let trial = try RealServerTrial(.tornado)
        let folder = try Sandbox()
        let name = "large.bin"
        let killed = try trial.startSlowly(name, rate: "4M", until: 2_000_000, in: folder)
        killed.signal(SIGKILL)
        _ = try killed.wait()
        let after = Content(size: 8_000_000, seed: 99)
        try overwrite(trial.servedPath(name), with: after)
        let outcome = try Segget.run([trial.server.url("files/\(name)")], in: folder.path)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try after.firstDifference(at: folder.path(name)) == nil)
    }

    /// The neighbour: the date alone is another, as on clusters, and what is there stays.
    @Test func theTagStaysAndOnlyTheDateIsAnotherBetweenTwoRuns() throws {
        let trial = try RealServerTrial(.tornado)
        let folder = try Sandbox()
        let file = try trial.file("large.bin")
        let killed = try trial.startSlowly(file.name, rate: "4M", until: 2_000_000, in: folder)
        killed.signal(SIGKILL)
        _ = try killed.wait()
        guard utimes(trial.servedPath(file.name), nil) == 0 else {
            throw SystemCallError("utimes")
        }
        let outcome = try Segget.run(
            ["--json", trial.server.url(file.path)], in: folder.path)
        #expect(outcome.end == .exit(0), "\(outcome.output)")
        let finished = try #require(try jsonEvents(outcome.output).last)
        // Less than the file: what the killed run had got is used, but for the sample.
        let received = try #require(finished["bytes_received"] as? Int)
        #expect(received < 7_500_000, "\(outcome.output)")
        let isRight = (try? folder.read(file.name)).map(Array.init) == file.bytes
        #expect(isRight)
    }

    /// The reply that runs goes on as if nothing was, and no other need follow (`rsync --inplace`).
    ///
    /// A file that is published is one of the two; otherwise the next run brings the new one.
    @Test(
        arguments: [
            .caddy, .miniHTTPD, .nginx, .pythonHTTP, .rcloneHTTP, .tornado, .twist, .webfs,
        ] as [RealServer.Kind], moments)
    func aFileThatIsWrittenInPlaceIsNoMixture(
        on kind: RealServer.Kind, moment: Int64
    ) throws {
        let trial = try RealServerTrial(kind)
        let folder = try Sandbox()
        let file = try trial.file("large.bin")
        let after = Content(size: 8_000_000, seed: 99)
        let process = try trial.startSlowly(file.name, rate: "4M", until: moment, in: folder)
        try overwrite(trial.servedPath(file.name), with: after)
        let outcome = try process.wait()
        let first = (try? folder.read(file.name)).map(Array.init)
        if outcome.end == .exit(0) {
            let isOne = first == file.bytes || first == after.bytes(0..<8_000_000)
            #expect(isOne, "\(outcome.errorOutput)")
        } else {
            #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
            #expect(first == nil)
            let again = try Segget.run([trial.server.url(file.path)], in: folder.path)
            #expect(again.end == .exit(0), "\(again.errorOutput)")
            #expect(try after.firstDifference(at: folder.path(file.name)) == nil)
        }
    }

    /// Writes over a file without making it shorter first.
    private func overwrite(_ path: String, with content: Content) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.write(contentsOf: Data(content.bytes(0..<content.size)))
        try file.close()
    }
}
