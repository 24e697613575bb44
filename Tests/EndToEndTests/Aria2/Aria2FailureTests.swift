import Foundation
import Glibc
import TestSupport
import Testing

/// Compares exit codes of aria2c and segget after failures.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2FailureTests {
    /// A failing command line and its result; the origin replies to `/status/N` with that status.
    struct Row: Sendable, CustomTestStringConvertible {
        var line: String
        var code: Int32
        /// Whether both leave the same files.
        var sameFiles = true
        /// Whether both print the same lines in output that programs read.
        var sameLines = true

        var testDescription: String { line }
    }

    private static let zeros = String(repeating: "0", count: 64)

    @Test(arguments: [
        Row(line: "$B/none", code: 3),
        Row(line: "$B/status/401", code: 24),
        Row(line: "$B/status/403", code: 22),
        Row(line: "$B/status/410", code: 22),
        Row(line: "--max-tries=1 $B/status/500", code: 22),
        Row(line: "--max-tries=1 $B/status/503", code: 29),
        Row(line: "--max-tries=2 --retry-wait=1 $B/status/503", code: 29),
        Row(line: "--max-file-not-found=2 $B/none", code: 4),
        Row(line: "--max-tries=1 http://127.0.0.1:1/a", code: 1),
        Row(line: "--max-tries=1 --async-dns=false http://nowhere.invalid/a", code: 19),
        Row(line: "$B/loop", code: 23, sameLines: false),
        Row(line: "--checksum=sha-256=\(zeros) $B/a.bin", code: 32, sameFiles: false),
        Row(line: "-d file/sub $B/a.bin", code: 18, sameLines: false),
        Row(line: "-d /proc/none $B/a.bin", code: 18, sameLines: false),
        Row(line: "-j1 -Z $B/none $B/a.bin $B/status/403", code: 22, sameLines: false),
        Row(line: "-j1 -Z $B/status/403 $B/a.bin $B/none", code: 3),
        Row(line: "-j1 -Z $B/none $B/a.bin", code: 3),
        Row(line: "--auto-file-renaming=false -o file $B/a.bin", code: 13),
        Row(line: "foo://127.0.0.1/a", code: 1, sameLines: false),
        Row(line: "127.0.0.1/a", code: 1),
        Row(line: "''", code: 1),
        Row(line: "", code: 1),
        Row(line: "--bogus $B/a.bin", code: 28),
        Row(line: "-x17 $B/a.bin", code: 28),
        Row(line: "-x0 $B/a.bin", code: 28),
        Row(line: "-k1 $B/a.bin", code: 28),
        Row(line: "--split=x $B/a.bin", code: 28),
        Row(line: "--checksum=sha-256=12 $B/a.bin", code: 28),
        Row(line: "--checksum=foo=12 $B/a.bin", code: 28),
        Row(line: "--file-allocation=foo $B/a.bin", code: 28),
        Row(line: "--allow-overwrite=maybe $B/a.bin", code: 28),
        Row(line: "-i missing", code: 1),
        Row(line: "--stop=x $B/a.bin", code: 28),
        Row(line: "--conf-path=missing $B/a.bin", code: 1),
    ])
    func exitCodesMatchAria2c(row: Row) throws {
        let pair = try Aria2Pair(size: 300_000)
        pair.origin.bend { request, reply in
            let parts = request.path.split(separator: "/")
            if parts.first == "status", let status = parts.last.flatMap({ Int($0) }) {
                reply = .text(status, "no")
            } else if parts.first == "loop" {
                reply = .text(302, headers: [HeaderField("Location", "/loop/\(request.number)")])
            }
        }
        try pair.write("x", to: "file")
        let (aria2c, segget) = try pair.both("aria2c \(row.line)")
        let words = "\(segget.text.lines) \(segget.errors)"
        #expect(aria2c.code == row.code, "\(aria2c.text.lines) \(aria2c.errors)")
        #expect(segget.code == row.code, "\(words)")
        if row.sameFiles { #expect(segget.tree == aria2c.tree, "\(words)") }
        if row.sameLines { #expect(segget.text.told == aria2c.text.told, "\(words)") }
        // Errors before the start are printed on standard error, not on standard output.
        #expect(segget.errors.isEmpty == aria2c.errors.isEmpty, "\(words) \(aria2c.errors)")
    }

    /// Unsupported features: segget prints one line that refers to aria2c or a reverse proxy.
    @Test(arguments: [
        "magnet:?xt=urn:btih:0123456789012345678901234567890123456789", "ftp://127.0.0.1/a",
        "sftp://127.0.0.1/a", "--enable-rpc --rpc-secure", "-S file.torrent", "file.torrent",
        "-T file.torrent", "-M file.meta4",
    ])
    func refusesUnsupportedFeatures(line: String) throws {
        let pair = try Aria2Pair()
        try pair.write("d", to: "file.torrent")
        try pair.write("<metalink/>", to: "file.meta4")
        let outcome = try pair.run(
            "aria2c --no-conf '\(line.replacing(" ", with: "' '"))'", .segget)
        // The code of an aria2c that was built without the feature, or cannot read the file.
        #expect([1, 20, 21, 26].contains(outcome.code), "\(outcome.text.lines) \(outcome.errors)")
        let words = outcome.text.lines.joined() + outcome.errors
        #expect(words.contains(line.contains("rpc") ? "reverse proxy" : "use aria2c"), "\(words)")
        #expect(outcome.requests.isEmpty)
    }

    @Test func fullDiskEndsWith9() throws {
        let memory = try Tmpfs(size: 1 << 20)
        let pair = try Aria2Pair(size: 4 << 20, under: memory.path)
        for program in Aria2Program.allCases {
            let outcome = try pair.run("aria2c --no-conf $B/a.bin", program)
            #expect(outcome.code == 9, "\(program): \(outcome.text.lines) \(outcome.errors)")
            try FileManager.default.removeItem(atPath: pair.folder(program))
        }
    }

    /// After a signal, received bytes remain, and the exit code is 7.
    @Test(arguments: [SIGINT, SIGTERM]) func signalEndsRunWith7(signal: Int32) throws {
        let pair = try Aria2Pair(size: 4 << 20)
        pair.origin.bendGET { $1.stallAfter = 1 << 20 }
        let outcomes = try Aria2Program.allCases.map { program in
            let count = pair.origin.requests.count
            let process = try pair.start(
                "exec aria2c --no-conf -x1 --file-allocation=none $B/a.bin", program)
            let has = eventually(timeout: 120) {
                (pair.origin.requests.dropFirst(count).last?.bytesServed ?? 0) >= 1 << 20
                    && (pair.recorded("a.bin") ?? 0) + (program == .aria2c ? 1 : 0) > 0
            }
            #expect(has)
            process.signal(signal)
            return try pair.outcome(of: process.wait(), program, after: count)
        }
        #expect(outcomes.map(\.code) == [7, 7], "\(outcomes.map(\.text.lines))")
        #expect(outcomes[0].text.told == outcomes[1].text.told, "\(outcomes[1].text.lines)")
    }

    @Test func stopOptionEndsRunWith7() throws {
        let pair = try Aria2Pair(size: 4 << 20)
        pair.origin.bendGET { $1.stallAfter = 1 << 20 }
        let (aria2c, segget) = try pair.both("aria2c --no-conf --stop=1 -x1 $B/a.bin")
        #expect(aria2c.code == 7 && segget.code == 7, "\(segget.text.lines)")
        #expect(segget.text.told == aria2c.text.told)
    }

    /// The process has already ended.
    @Test func stopWithProcessEndsRunWith7() throws {
        let pair = try Aria2Pair(size: 4 << 20)
        pair.origin.bendGET { $1.stallAfter = 1 << 20 }
        let (aria2c, segget) = try pair.both(
            "sh -c : & aria2c --no-conf --stop-with-process=$! -x1 $B/a.bin")
        #expect(aria2c.code == 7 && segget.code == 7, "\(segget.text.lines)")
    }
}
