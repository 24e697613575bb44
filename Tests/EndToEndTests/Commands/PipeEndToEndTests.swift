import Assembler
import Foundation
import Glibc
import Segmenter
import TestSupport
import Testing

/// Tests `--output -` with pipes and their readers.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PipeEndToEndTests {
    private func start(_ stage: Stage, _ options: [String]) throws -> PipedSegget {
        try PipedSegget(options + ["-o", "-", stage.origin.url("/file")], in: stage.folder)
    }

    /// The reader pauses for longer than the stall timeout: segget uses no retry, and the received
    /// bytes are limited.
    @Test(arguments: [true, false]) func slowReaderIsNotStall(servesRanges: Bool) throws {
        let stage = try Stage(size: 40_000_000)
        stage.origin.change { $0.servesRanges = servesRanges }
        let piped = try start(
            stage, ["--window", "1M", "--stall-timeout", "3", "--retries", "0", "-x", "4"])
        #expect(stage.content.matches(try piped.read(100_000), in: 0..<100_000))
        // segget neither exits nor continues to download.
        #expect(!eventually(timeout: 5) { !piped.process.isRunning })
        // The window, the pipe, and the socket buffers.
        let served = stage.origin.bytesServed
        #expect(served < 20_000_000)
        let rest = try piped.readToEnd()
        #expect(stage.content.matches(rest, in: 100_000..<40_000_000))
        let outcome = try piped.process.wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.origin.bytesServed < 40_000_000 + (4 << 20))
        #expect(try stage.names() == [])
    }

    /// A slow reader does not make the server count as slow.
    @Test(arguments: [true, false]) func slowReaderIsNotSlowServer(servesRanges: Bool) throws {
        let stage = try Stage(size: 8_000_000)
        stage.origin.change { $0.servesRanges = servesRanges }
        let piped = try start(
            stage, ["--window", "1M", "--min-rate", "100K", "--min-rate-time", "0.5", "-x", "4"])
        #expect(stage.content.matches(try piped.read(100_000), in: 0..<100_000))
        #expect(!eventually(timeout: 3) { !piped.process.isRunning })
        #expect(stage.content.matches(try piped.readToEnd(), in: 100_000..<8_000_000))
        let outcome = try piped.process.wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("new connections"))
    }

    @Test(arguments: [true, false]) func windowLimitsMemory(servesRanges: Bool) throws {
        let root = try Sandbox()
        let size: Int64 = 160_000_000
        let file = open(root.path("sparse"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        _ = ftruncate(file, off_t(size))
        close(file)
        let nginx = try Nginx(root: root.path, directives: servesRanges ? "" : "max_ranges 0;")
        let sandbox = try Sandbox()
        let piped = try PipedSegget(
            ["--window", "8M", "-o", "-", nginx.url("/sparse")], in: sandbox.path)
        var count: Int64 = 0
        while case let step = try piped.read(1 << 20), !step.isEmpty { count += Int64(step.count) }
        #expect(count == size)
        let outcome = try piped.process.wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.peakMemory < 100 << 20)
    }

    /// Runs a line of bash, in which `$0` is segget and `$1` the URL.
    private func bash(_ line: String, _ url: String, in folder: String) throws
        -> Run.Outcome
    {
        try Run("/bin/bash", ["-c", line, Segget.binary(), url], in: folder).wait()
    }

    @Test func closedReaderEndsQuietly() throws {
        let stage = try Stage(size: 30_000_000)
        let outcome = try bash(
            "\"$0\" -o - \"$1\" --progress none | head -c 1000; exit ${PIPESTATUS[0]}",
            stage.origin.url("/file"), in: stage.folder)
        #expect(outcome.end == .exit(141), "\(outcome.errorOutput)")
        #expect(stage.content.matches(outcome.standardOutput, in: 0..<1000))
        #expect(outcome.standardError.isEmpty, "\(outcome.errorOutput)")
        #expect(try stage.names() == [])
    }

    /// The reader does not read, and the pipe and the window are full.
    @Test(arguments: [(SIGTERM, 143), (SIGINT, 130)] as [(Int32, Int32)], [true, false])
    func signalEndsBlockedWriter(
        signal: (number: Int32, code: Int32), servesRanges: Bool
    ) throws {
        let stage = try Stage(size: 30_000_000)
        stage.origin.change { $0.servesRanges = servesRanges }
        let piped = try start(stage, ["--window", "256K"])
        #expect(stage.content.matches(try piped.read(1000), in: 0..<1000))
        piped.process.signal(signal.number)
        let outcome = try piped.process.wait(timeout: 120)
        #expect(outcome.end == .exit(signal.code), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("written: the first "), "\(outcome.errorOutput)")
        #expect(try stage.names() == [])
    }

    /// The signal arrives after the whole file was received, but before it was read.
    @Test func signalEndsAfterLastReceivedByte() throws {
        let stage = try Stage(size: 1_000_000)
        let piped = try start(stage, ["--progress", "plain"])
        #expect(stage.content.matches(try piped.read(1000), in: 0..<1000))
        #expect(eventually(timeout: 120) { stage.origin.bytesServed >= 1_000_000 })
        piped.process.signal(SIGTERM)
        let outcome = try piped.process.wait()
        #expect(outcome.end == .exit(143), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("written: the first "), "\(outcome.errorOutput)")
    }

    @Test func reportsFullDisk() throws {
        let disk = try Tmpfs(size: 1 << 20)
        let stage = try Stage(size: 5_000_000)
        let outcome = try bash(
            "\"$0\" -o - \"$1\" >\(disk.path("out"))", stage.origin.url("/file"), in: stage.folder)
        #expect(outcome.end == .exit(74), "\(outcome.errorOutput)")
        #expect(
            outcome.errorOutput.contains("`write` failed on `/dev/stdout`: No space left"),
            "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("written: the first 1048576 bytes"))
        #expect(try stage.content.firstDifference(at: disk.path("out"), in: 0..<1_048_576) == nil)
    }

    @Test func writesFromPositionOfFile() throws {
        let stage = try Stage(size: 5_000_000)
        let outcome = try bash(
            "exec >out; echo before; \"$0\" -o - \"$1\"; echo after", stage.origin.url("/file"),
            in: stage.folder)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let bytes = try Array(Data(contentsOf: URL(filePath: stage.path("out"))))
        #expect(bytes.prefix(7) == Array("before\n".utf8)[...])
        #expect(bytes.suffix(6) == Array("after\n".utf8)[...])
        #expect(stage.content.matches(Array(bytes.dropFirst(7).dropLast(6)), in: 0..<5_000_000))
    }

    @Test func refusesClosedStandardOutput() throws {
        let stage = try Stage(size: 1000)
        let outcome = try bash(
            "exec \"$0\" -o - \"$1\" >&-", stage.origin.url("/file"), in: stage.folder)
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("which is closed"))
        #expect(stage.origin.requests.isEmpty)
    }

    /// script(1) runs segget with a terminal.
    @Test func refusesTerminal() throws {
        let stage = try Stage(size: 1000)
        let outcome = try bash(
            "script -qec \"'$0' -o - '$1'\" /dev/null", stage.origin.url("/file"),
            in: stage.folder)
        #expect(outcome.end == .exit(64), "\(outcome.output)")
        #expect(outcome.output.contains("to a terminal"), "\(outcome.output)")
        #expect(stage.origin.requests.isEmpty)
    }

    @Test func pipesIntoRealPrograms() throws {
        let root = try Sandbox()
        for seed: UInt64 in 1...3 {
            try Content(size: 3_000_000, seed: seed).write(to: root.path("f\(seed)"))
        }
        let tar = try Run(
            "/bin/tar", ["-czf", "a.tgz", "f1", "f2", "f3"], in: root.path
        ).wait()
        #expect(tar.end == .exit(0))
        let nginx = try Nginx(root: root.path)
        let sandbox = try Sandbox()
        let unpacked = try bash(
            "set -o pipefail; \"$0\" -q -o - --window 512K --ca-certificate '\(nginx.authority)' "
                + "\"$1\" | tar -xz", nginx.secureURL("/a.tgz"), in: sandbox.path)
        #expect(unpacked.end == .exit(0), "\(unpacked.errorOutput)")
        #expect(try sandbox.names() == ["f1", "f2", "f3"])
        for seed: UInt64 in 1...3 {
            let content = Content(size: 3_000_000, seed: seed)
            #expect(try content.firstDifference(at: sandbox.path("f\(seed)")) == nil)
        }
        let summed = try bash(
            "set -o pipefail; \"$0\" -q -o - \"$1\" | sha256sum", nginx.url("/f2"),
            in: sandbox.path)
        #expect(summed.end == .exit(0))
        #expect(summed.output.hasPrefix(Content(size: 3_000_000, seed: 2).sha256Hex))
    }

    /// Uses the public API.
    @Test func libraryWritesToDescriptor() async throws {
        let stage = try Stage(size: 5_000_000)
        let path = stage.path("out")
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
        defer { close(descriptor) }
        let session = DownloadSession()
        var options = DownloadOptions()
        options.stream.window = 512 << 10
        let download = session.start(
            stage.origin.url("/file"), to: .descriptor(descriptor), options: options)
        let file = try await download.result.get()
        await session.shutdown()
        #expect(file.path == "/dev/fd/\(descriptor)")
        #expect(file.size == 5_000_000)
        #expect(file.bytesReceived >= 5_000_000)
        #expect(file.bytesResumed == 0)
        #expect(try stage.content.firstDifference(at: path) == nil)
    }
}
