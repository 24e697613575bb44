import Assembler
import Foundation
import Glibc
import TestSupport
import Testing

/// What aria2c has left unfinished, and what segget goes on with: its own after SIGKILL too.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2UnfinishedTests {
    private static let size: Int64 = 8_000_000
    /// Bytes that each connection gets before the origin falls silent.
    private static let each: Int64 = 1_000_000
    /// Bytes that may be asked for though they are there: a sample, and what has not yet been recorded.
    private static let again: Int64 = 256 << 10

    /// Starts the command line and kills the program when at least so many bytes are there.
    private func killed(
        _ line: String, _ program: Aria2Program, _ pair: Aria2Pair, at least: Int64,
        variables: [String: String] = [:], _ there: () -> Int64
    ) throws -> Int64 {
        pair.bendGET { $1.stallAfter = Self.each }
        let process = try pair.start("exec \(line)", program, variables)
        let isThere = eventually(timeout: 120) { there() >= least || !process.isRunning }
        process.signal(SIGKILL)
        let outcome = try process.wait()
        try #require(isThere && outcome.end == .signal(SIGKILL), "\(outcome.output)")
        pair.origin.dropConnections()
        pair.origin.hearOut()
        pair.behave()
        return there()
    }

    /// Bytes that aria2c has noted.
    private func noted(_ name: String, _ pair: Aria2Pair) -> Int64 {
        guard let bytes = try? pair.read("\(name).aria2", .segget) else { return 0 }
        return (try? Aria2ControlFile(reading: bytes))?.done.count ?? 0
    }

    // MARK: aria2c's

    /// With a checksum it goes on; without one nothing proves these bytes, and it starts over and says so.
    @Test(arguments: [true, false], ["", "-c ", "--allow-overwrite=true "])
    func whatAria2cHasLeft(isProved: Bool, options: String) throws {
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

    /// A control file that is none proves nothing.
    @Test(arguments: [0, 1, 40, 5000], [true, false])
    func aControlFileOfGarbage(length: Int, isProved: Bool) throws {
        let pair = try Aria2Pair(size: 600_000)
        let content = pair.content("/f.bin")
        try pair.write(content.bytes(0..<200_000), to: "f.bin", .segget)
        try pair.write([UInt8](repeating: 0x5A, count: length), to: "f.bin.aria2", .segget)
        let sum = isProved ? "--checksum=sha-256=\(content.sha256Hex)" : ""
        let outcome = try pair.run("aria2c --no-conf -c \(sum) $B/f.bin", .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        #expect(outcome.tree["f.bin"] == "/f.bin", "\(outcome.tree) \(outcome.text.lines)")
    }

    // MARK: Its own

    /// The same line again fetches what is missing, and nothing that is there.
    @Test(arguments: [
        "$B/f.bin", "-c $B/f.bin", "-x4 -s4 -k1M $B/f.bin",
        "-c -x 16 -s 16 -k 1M -o f.bin $B/f.bin",
        "--allow-overwrite=true -x2 $B/f.bin", "--auto-file-renaming=false $B/f.bin",
    ])
    func sameLineAfterKill(line: String) throws {
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

    /// A list with several at a time; what was finished before is asked for no more.
    @Test func aListAfterKill() throws {
        let pair = try Aria2Pair(size: 3_000_000)
        let names = ["a", "b", "c", "d"]
        try pair.write(
            names.map { "$B/\($0)\n out=sub/\($0).bin\n" }.joined(), to: "list")
        let line = "aria2c --no-conf -c -j3 -x2 -s2 -k1M -i list --save-session=left"
        // The first of them comes whole.
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

    /// Whatever stands there when a kill came, aria2's test for an unfinished file holds: where the file
    /// is and no control file, it is whole.
    @Test func whatScriptsLookForAfterKill() throws {
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
