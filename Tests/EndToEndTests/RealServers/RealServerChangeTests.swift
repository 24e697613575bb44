import Foundation
import TestSupport
import Testing

/// Files that change on third-party servers while the servers run.
@Suite(.timeLimit(.minutes(5)))
struct RealServerChangeTests {
    /// Received bytes of an 8 MB file when it changes: in the middle, or during the last responses.
    static let moments: [Int64] = [2_000_000, 6_500_000]

    /// Tornado computes a file's strong ETag once and keeps it as long as it runs.
    ///
    /// Only `Last-Modified` and the bytes show the change.
    @Test func startsOverIfFileChangesUnderSameETag() throws {
        let trial = try RealServerTrial(.tornado)
        let folder = try Sandbox()
        let name = "large.bin"
        let killed = try trial.startSlowly(name, rate: "4M", until: 2_000_000, in: folder)
        killed.signal(SIGKILL)
        _ = try killed.wait()
        let after = Content(size: 8_000_000, seed: 99)
        try overwrite(trial.servedPath(name), with: after)
        let outcome = try Run([trial.server.url("files/\(name)")], in: folder.path).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try after.firstDifference(at: folder.path(name)) == nil)
    }

    /// Only the date changes, as it may in a cluster: segget keeps the received bytes.
    @Test func resumesIfOnlyDateChangesUnderSameETag() throws {
        let trial = try RealServerTrial(.tornado)
        let folder = try Sandbox()
        let file = try trial.file("large.bin")
        let killed = try trial.startSlowly(file.name, rate: "4M", until: 2_000_000, in: folder)
        killed.signal(SIGKILL)
        _ = try killed.wait()
        guard utimes(trial.servedPath(file.name), nil) == 0 else {
            throw SystemCallError("utimes")
        }
        let outcome = try Run(
            ["--json", trial.server.url(file.path)], in: folder.path
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.output)")
        let finished = try #require(try jsonEvents(outcome.output).last)
        // Fewer than the file has: segget uses the killed run's bytes and downloads only a sample
        // again.
        let received = try #require(finished["bytes_received"] as? Int)
        #expect(received < 7_500_000, "\(outcome.output)")
        let isRight = (try? folder.read(file.name)).map(Array.init) == file.bytes
        #expect(isRight)
    }

    /// The file is overwritten during a response, as by `rsync --inplace`.
    ///
    /// The response continues, and segget may send no other request. A published file is one of the
    /// two versions; otherwise the next run downloads the new one.
    @Test(
        arguments: [
            .caddy, .miniHTTPD, .nginx, .pythonHTTP, .rcloneHTTP, .tornado, .twist, .webfs,
        ] as [RealServer.Kind], moments)
    func overwrittenFileIsNeverMixed(
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
            let again = try Run([trial.server.url(file.path)], in: folder.path).wait()
            #expect(again.end == .exit(0), "\(again.errorOutput)")
            #expect(try after.firstDifference(at: folder.path(file.name)) == nil)
        }
    }

    /// Overwrites a file without truncating it first.
    private func overwrite(_ path: String, with content: Content) throws {
        let file = try FileHandle(forUpdating: URL(filePath: path))
        try file.write(contentsOf: Data(content.bytes(0..<content.size)))
        try file.close()
    }
}
