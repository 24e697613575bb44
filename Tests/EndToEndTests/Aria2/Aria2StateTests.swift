import Foundation
import TestSupport
import Testing

/// Compares how aria2c and segget handle existing files.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct Aria2StateTests {
    /// The file before the run.
    enum Before: CaseIterable, Sendable {
        case nothing, same, wrong, shorter, shorterWrong, longer

        func bytes(of content: Content) -> [UInt8]? {
            let (size, part) = (content.size, content.size / 3)
            return switch self {
            case .nothing: nil
            case .same: content.bytes(0..<size)
            case .wrong: [UInt8](repeating: 7, count: Int(size))
            case .shorter: content.bytes(0..<part)
            case .shorterWrong: [UInt8](repeating: 7, count: Int(part))
            case .longer: content.bytes(0..<size) + [7]
            }
        }
    }

    /// Options, and the cases in which segget differs from aria2c.
    ///
    /// In these cases aria2c keeps wrong bytes, or discards correct ones.
    struct Row: Sendable, CustomTestStringConvertible {
        var options: String
        /// States in which aria2c leaves a wrong file and exits with 0; segget has the right file.
        var kept: Set<Before> = []
        /// States in which aria2c always fails; segget has the right file and exits with 0.
        var lost: Set<Before> = []

        var testDescription: String { options }
    }

    static let rows = [
        Row(options: ""),
        Row(options: "-c", kept: [.wrong, .shorterWrong]),
        Row(options: "--allow-overwrite=true"),
        Row(options: "-c --allow-overwrite=true", kept: [.wrong, .shorterWrong]),
        Row(options: "--auto-file-renaming=false"),
        Row(options: "-c --auto-file-renaming=false", kept: [.wrong, .shorterWrong]),
        Row(options: "--allow-overwrite=true --auto-file-renaming=false"),
        Row(options: "--checksum=sha-256=$SUM"),
        Row(options: "-c --checksum=sha-256=$SUM", lost: [.shorterWrong]),
        Row(options: "-V --checksum=sha-256=$SUM"),
        Row(options: "--conditional-get=true"),
        Row(options: "-o x/y.bin"),
        Row(options: "-o /abs.bin"),
        Row(options: "-d sub -c"),
    ]

    @Test(arguments: rows, Before.allCases) func existingFileGivesSameResultAsAria2c(
        row: Row, before: Before
    ) throws {
        let pair = try Aria2Pair(size: 600_000)
        let content = pair.content("/f.bin")
        if let bytes = before.bytes(of: content) { try pair.write(bytes, to: "f.bin") }
        let (aria2c, segget) = try pair.both(
            "aria2c --no-conf \(row.options) $B/f.bin", ["SUM": content.sha256Hex])
        let words = "\(segget.text.lines) \(segget.errors)"
        if row.kept.contains(before) || row.lost.contains(before) {
            #expect(aria2c.tree["f.bin"] != "/f.bin")
            #expect(aria2c.code == (row.lost.contains(before) ? 32 : 0))
            #expect(segget.code == 0, "\(words)")
            #expect(segget.tree == ["f.bin": "/f.bin"], "\(words)")
        } else {
            #expect(segget.code == aria2c.code, "\(words)")
            #expect(segget.tree == aria2c.tree, "\(words)")
            // aria2c logs an error although it then downloads the file again; segget logs a
            // warning.
            let mended = "ERROR: Checksum error detected. file=DIR/f.bin"
            #expect(segget.text.told == aria2c.text.told.filter { $0 != mended }, "\(words)")
        }
    }

    /// Both choose the next free number for the file name.
    @Test func usesNextFreeNumber() throws {
        let pair = try Aria2Pair(size: 100_000)
        for name in ["a.gz", "a.1.gz", "noext", "noext.1", "b.c.d", "x"] {
            try pair.write(name.utf8, to: name)
        }
        let (aria2c, segget) = try pair.both(
            "aria2c --no-conf -j1 -Z $B/a.gz $B/noext $B/b.c.d $B/x $B/x")
        #expect(segget.tree == aria2c.tree)
        #expect(segget.tree["a.2.gz"] == "/a.gz", "\(segget.tree)")
        #expect(segget.text.told == aria2c.text.told)
    }

    /// Names differ from aria2c's: `.tar.gz` stays together so that programs recognize the file,
    /// and a server cannot choose a hidden file.
    @Test func namesDifferForTarAndHiddenFiles() throws {
        let pair = try Aria2Pair(size: 100_000)
        try pair.write("a", to: "a.tar.gz")
        let (aria2c, segget) = try pair.both("aria2c --no-conf -Z $B/a.tar.gz $B/.hidden")
        #expect(aria2c.code == 0 && segget.code == 0)
        #expect(aria2c.tree["a.tar.1.gz"] == "/a.tar.gz" && aria2c.tree[".hidden"] == "/.hidden")
        #expect(segget.tree["a.1.tar.gz"] == "/a.tar.gz" && segget.tree["hidden"] == "/.hidden")
    }

    /// An existing file that is not older.
    ///
    /// With `--conditional-get`, segget compares length and date, as with `--timestamping`, and may
    /// ignore the server's reply.
    @Test(arguments: [304, 200]) func conditionalGetSkipsUnchangedFile(status: Int) throws {
        let pair = try Aria2Pair(size: 100_000)
        pair.origin.bendGET { request, reply in
            guard status == 304, request.header("If-Modified-Since") != nil else { return }
            reply = OriginReply(status: 304, headers: reply.headers)
        }
        try pair.write(pair.content("/f.bin").bytes(0..<100_000), to: "f.bin")
        let (aria2c, segget) = try pair.both(
            "aria2c --no-conf --conditional-get=true --allow-overwrite=true $B/f.bin")
        #expect(aria2c.code == 0 && segget.code == 0, "\(segget.text.lines)")
        #expect(segget.tree == ["f.bin": "/f.bin"] && segget.tree == aria2c.tree)
        #expect(segget.bytesAsked("/f.bin", of: pair.size) <= 100_000)
    }
}
