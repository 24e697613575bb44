import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests how segget resumes downloads that aria2c or segget left unfinished, also after SIGKILL.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2UnfinishedTests {
    private static let size: Int64 = 8_000_000
    /// The bytes that each connection receives before the origin stalls.
    private static let each: Int64 = 1_000_000
    /// Bytes that may be requested again: a sample, and bytes that were not recorded yet.
    private static let again: Int64 = 256 << 10

    /// Starts the command line, and kills the program when there are at least this many bytes.
    private func killed(
        _ line: String, _ program: Aria2Program, _ pair: Aria2Pair, at least: Int64,
        variables: [String: String] = [:], _ there: () -> Int64
    ) throws -> Int64 {
        pair.origin.bendGET { $1.stallAfter = Self.each }
        let process = try pair.start("exec \(line)", program, variables)
        let isThere = eventually(timeout: 120) { there() >= least || !process.isRunning }
        process.signal(SIGKILL)
        let outcome = try process.wait()
        try #require(isThere && outcome.end == .signal(SIGKILL), "\(outcome.output)")
        pair.origin.dropConnections()
        pair.origin.hearOut()
        pair.origin.behave()
        return there()
    }

    /// Returns the number of bytes in aria2's control file.
    private func noted(_ name: String, _ pair: Aria2Pair) -> Int64 {
        guard let bytes = try? pair.read("\(name).aria2", .segget) else { return 0 }
        return (try? Aria2ControlFile(reading: bytes))?.done.count ?? 0
    }

    // MARK: Files from aria2c

    /// With a checksum segget resumes; otherwise the bytes cannot be verified, and it starts over
    /// with a warning.
    @Test(arguments: [true, false], ["", "-c ", "--allow-overwrite=true "])
    func resumesAria2cDownloadWithChecksum(isProved: Bool, options: String) throws {
        let pair = try Aria2Pair(size: Self.size)
        let sum = "SUM=\(pair.content("/f.bin").sha256Hex)"
        let line =
            "-x4 -s4 -k1M --auto-save-interval=1 \(options)"
            + (isProved ? "--checksum=sha-256=\(sum.dropFirst(4)) " : "") + "$B/f.bin"
        let there = try killed(
            "/usr/bin/aria2c --no-conf \(line)", .segget, pair, at: 2 * Self.each
        ) { noted("f.bin", pair) }
        let outcome = try pair.run("aria2c --no-conf \(line)", .segget)
        let words = "\(outcome.text.lines) \(outcome.errors)"
        #expect(outcome.code == 0, "\(words)")
        #expect(outcome.tree == ["f.bin": "/f.bin"], "\(words)")
        let asked = outcome.bytesAsked("/f.bin", of: Self.size)
        if isProved {
            #expect(asked <= Self.size - there + Self.again, "\(there) are there: \(words)")
            #expect(outcome.text.lines.contains { $0.contains("Continuing with") }, "\(words)")
        } else {
            #expect(asked == Self.size)
            #expect(outcome.text.lines.contains { $0.contains("[WARN]") }, "\(words)")
        }
    }

    /// A malformed control file does not verify any bytes.
    @Test(arguments: [0, 1, 40, 5000], [true, false])
    func ignoresMalformedControlFile(length: Int, isProved: Bool) throws {
        let pair = try Aria2Pair(size: 600_000)
        let content = pair.content("/f.bin")
        try pair.write(content.bytes(0..<200_000), to: "f.bin", .segget)
        try pair.write([UInt8](repeating: 0x5A, count: length), to: "f.bin.aria2", .segget)
        let sum = isProved ? "--checksum=sha-256=\(content.sha256Hex)" : ""
        let outcome = try pair.run("aria2c --no-conf -c \(sum) $B/f.bin", .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        #expect(outcome.tree["f.bin"] == "/f.bin", "\(outcome.tree) \(outcome.text.lines)")
    }

    // MARK: Files from segget

    /// The same line again downloads only missing bytes.
    @Test(arguments: [
        "$B/f.bin", "-c $B/f.bin", "-x4 -s4 -k1M $B/f.bin",
        "-c -x 16 -s 16 -k 1M -o f.bin $B/f.bin",
        "--allow-overwrite=true -x2 $B/f.bin", "--auto-file-renaming=false $B/f.bin",
    ])
    func sameLineResumesAfterKill(line: String) throws {
        let pair = try Aria2Pair(size: Self.size)
        let line = "aria2c --no-conf \(line)"
        let there = try killed(line, .segget, pair, at: Self.each) { pair.recorded("f.bin") ?? 0 }
        let outcome = try pair.run(line, .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        #expect(outcome.tree == ["f.bin": "/f.bin"])
        let asked = outcome.bytesAsked("/f.bin", of: Self.size)
        #expect(asked <= Self.size - there + Self.again, "\(there) were there")
        #expect(outcome.text.lines.contains { $0.contains("Continuing with") })
    }

    /// After SIGKILL, a list with several simultaneous downloads resumes and skips complete files.
    @Test func listResumesAfterKill() throws {
        let pair = try Aria2Pair(size: 3_000_000)
        let names = ["a", "b", "c", "d"]
        try pair.write(
            names.map { "$B/\($0)\n out=sub/\($0).bin\n" }.joined(), to: "list")
        let line = "aria2c --no-conf -c -j3 -x2 -s2 -k1M -i list --save-session=left"
        let there = try killed(line, .segget, pair, at: 2 * Self.each) {
            names.reduce(0) { $0 + (pair.recorded("sub/\($1).bin") ?? 0) }
        }
        let before = names.map { pair.recorded("sub/\($0).bin") ?? 0 }
        #expect(there == before.reduce(0, +))
        let outcome = try pair.run(line, .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        for (name, there) in zip(names, before) {
            #expect(outcome.tree["sub/\(name).bin"] == "/\(name)", "\(outcome.tree)")
            #expect(outcome.bytesAsked("/\(name)", of: pair.size) <= pair.size - there + Self.again)
        }
        #expect(outcome.tree["left"] == "0 bytes, 0")
        #expect(outcome.tree.count == names.count + 2)
        let again = try pair.run(line, .segget)
        #expect(again.code == 0 && again.tree == outcome.tree)
        for name in names { #expect(again.bytesAsked("/\(name)", of: pair.size) <= Self.again) }
    }

    /// After SIGKILL, aria2's test for a complete file works: the file exists without a control
    /// file.
    @Test func scriptsSeeUnfinishedFileAfterKill() throws {
        let pair = try Aria2Pair(size: Self.size)
        let there = try killed("aria2c --no-conf -x4 $B/f.bin", .segget, pair, at: Self.each) {
            pair.recorded("f.bin") ?? 0
        }
        #expect(there >= Self.each)
        let script = "if [ -f f.bin ] && [ ! -f f.bin.aria2 ]; then exit 1; fi"
        #expect(try pair.run(script, .segget).code == 0)
        #expect(try pair.run("aria2c --no-conf -q -x4 $B/f.bin; [ -f f.bin ]", .segget).code == 0)
    }
}
