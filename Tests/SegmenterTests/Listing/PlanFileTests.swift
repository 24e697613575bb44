import Foundation
import TestSupport
import Testing

@testable import Segmenter

/// Tests the format of plans: what is written is read again, and nothing else is.
struct PlanFileTests {
    private static let files = [
        Listing.File(
            path: "a/one.bin", address: "https://h.test/a/one.bin", size: 12,
            digests: [Digest(crc32: 7)], etag: "\"e\"",
            lastModified: "Tue, 01 Sep 2026 10:00:00 GMT", mirrors: ["http://m.test/one.bin"]),
        Listing.File(path: "ä ö/two", address: "https://h.test/2?x=1", size: 0),
        Listing.File(path: "three", address: "https://h.test/3", size: 5, renewal: .resolved),
        Listing.File(
            path: "four", address: "https://h.test/4?sig=1", size: 1,
            renewal: .signed(until: 1_800_000_000)),
    ]

    private static func lines(_ files: [Listing.File]) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        Listing(Listing.Source(.urls), files: files).forEachPlanLine { lines.append($0) }
        return lines
    }

    private static func read(_ lines: [[UInt8]], foldsCase: Bool = false) throws -> PlanFile {
        let sandbox = try Sandbox()
        try Data(lines.joined()).write(to: URL(filePath: sandbox.path("plan")))
        return try PlanFile(sandbox.path("plan"), foldsCase: foldsCase)
    }

    private static func error(_ lines: [[UInt8]], foldsCase: Bool = false) throws -> PlanError? {
        do {
            _ = try read(lines, foldsCase: foldsCase)
            return nil
        } catch let error as PlanError {
            return error
        }
    }

    @Test func writtenPlanIsReadAgain() throws {
        let plan = try Self.read(Self.lines(Self.files))
        #expect(plan.count == Self.files.count)
        #expect(plan.size == 18 && plan.isSigned && plan.source == Listing.Source(.urls))
        for (index, file) in Self.files.enumerated() {
            #expect(try plan.file(at: index) == file)
        }
    }

    /// A line that another one with a checksum of its own has replaced meanwhile is not used.
    @Test func replacedLineIsRefused() throws {
        func plan(_ etag: String) -> Data {
            var file = Self.files[1]
            file.etag = etag
            return Data(Self.lines([file]).joined())
        }
        let sandbox = try Sandbox()
        let url = URL(filePath: sandbox.path("plan"))
        try plan("\"1\"").write(to: url)
        let file = try PlanFile(sandbox.path("plan"))
        try plan("\"2\"").write(to: url)
        #expect(try PlanFile(sandbox.path("plan")).file(at: 0).etag == "\"2\"")
        #expect(throws: PlanError(.altered, line: 2)) { try file.file(at: 0) }
        try plan("\"1\"").write(to: url)
        #expect(try file.file(at: 0).etag == "\"1\"")
    }

    @Test func unknownSizeLeavesSumOpen() throws {
        let file = Listing.File(path: "f", address: "http://h/f")
        let plan = try Self.read(Self.lines(Self.files + [file]))
        #expect(plan.size == nil && plan.count == 5)
        #expect(try Self.read(Self.lines([])).size == 0)
    }

    /// The same source has the same set, whatever its signatures are now.
    @Test func setDoesNotDependOnQueries() {
        func set(_ address: String, _ path: String = "f") -> String {
            Listing(
                Listing.Source(.urls), files: [Listing.File(path: path, address: address)]
            ).set
        }
        #expect(set("http://h/f?sig=1") == set("http://h/f?sig=2"))
        #expect(set("http://h/f") != set("http://h/g"))
        #expect(set("http://h/f") != set("http://h/f", "g"))
        #expect(set("http://h/f").utf8.count == 16)
    }

    /// Whatever byte of a line is altered, the line is refused.
    @Test func eachAlteredByteIsFound() throws {
        let lines = Self.lines(Self.files).map { Array($0.dropLast()) }
        let seed = PlanFormat.seed(set: try PlanFormat.head(lines[0]).set)
        for (number, line) in lines.enumerated() {
            for place in line.indices {
                var altered = line
                altered[place] ^= 1
                #expect(throws: PlanError.self, "line \(number), byte \(place)") {
                    if number == 0 {
                        _ = try PlanFormat.head(altered)
                    } else {
                        _ = try PlanFormat.file(altered, seed: seed, number: number + 1)
                    }
                }
            }
        }
    }

    @Test func missingAndForeignLinesAreFound() throws {
        let lines = Self.lines(Self.files)
        let without = Array(lines.dropLast())
        #expect(try Self.error(without)?.kind == .cut(expected: 4, got: 3))
        #expect(try Self.error(lines + [lines[1]])?.kind == .cut(expected: 4, got: 5))
        #expect(try Self.error(without + [Array(lines[4].dropLast(9))])?.kind == .altered)
        let other = Self.lines([Listing.File(path: "o", address: "http://o/o", size: 1)])
        #expect(try Self.error(without + [other[1]]) == PlanError(.altered, line: 5))
    }

    @Test func otherFilesAreNoPlans() throws {
        for text in ["", "\n", "http://h/f\n", "{}\n", #"{"segget":1}"# + "\n", "[1]\n", "x"] {
            #expect(
                try Self.error([Array(text.utf8)]) == PlanError(.notAPlan, line: 1), "\(text)")
        }
        let later = #"{"segget_plan":2,"new":true}"# + "\n"
        #expect(try Self.error([Array(later.utf8)]) == PlanError(.laterVersion(2), line: 1))
        #expect(
            throws: PlanError(.unreadable(errno: ENOENT)),
            performing: { try PlanFile("/nonexistent/plan") })
    }

    @Test(arguments: [
        ("", PlanError.PathFault.empty), ("a//b", .empty), ("a/", .empty), ("/a", .absolute),
        ("../a", .leadsElsewhere), ("a/../b", .leadsElsewhere), ("./a", .leadsElsewhere),
        ("a/.", .leadsElsewhere), ("a\0b", .nul), (".segget/a", .reserved),
        (String(repeating: "n", count: 256), .tooLong),
        (String(repeating: "name/", count: 900) + "n", .tooLong),
    ])
    func badPathIsRefused(path: String, fault: PlanError.PathFault) throws {
        let file = Listing.File(path: path, address: "http://h/f", size: 1)
        let expected = PlanError(.badPath(path, fault), line: 2)
        #expect(try Self.error(Self.lines([file])) == expected)
        #expect(
            throws: expected,
            performing: { try Listing(Listing.Source(.urls), files: [file]).check() })
    }

    @Test(arguments: ["a", "..a", "a..", ".seggets/a", "a/.segget", "a\\..\\b", "~", "*"])
    func goodPathIsTaken(path: String) throws {
        let file = Listing.File(path: path, address: "http://h/f", size: 1)
        #expect(try Self.error(Self.lines([file])) == nil)
        #expect(
            try Self.error(
                Self.lines([
                    Listing.File(path: String(repeating: "n", count: 255), address: "http://h/f")
                ])) == nil)
    }

    @Test(arguments: [
        "", "f", "h/f", "file:///etc/passwd", "ftp://h/f", "http://", "http://me:secret@h/f",
        "http://me@h/f",
    ])
    func badAddressIsRefused(address: String) throws {
        var file = Listing.File(path: "f", address: address, size: 1)
        #expect(try Self.error(Self.lines([file])) == PlanError(.badAddress, line: 2))
        (file.address, file.mirrors) = ("http://h/f", [address])
        #expect(try Self.error(Self.lines([file])) == PlanError(.badAddress, line: 2))
    }

    @Test func badSizesAreRefused() throws {
        var files = Self.files
        files[1].size = -1
        #expect(try Self.error(Self.lines(files))?.kind == .badSize)
        let large = [Int64.max, 1].map { (size: Int64) in
            Listing.File(path: "f\(size)", address: "http://h/f", size: size)
        }
        #expect(try Self.read(Self.lines(large)).size == nil)
    }

    // MARK: Paths that cannot exist together

    private static func file(_ path: String, _ crc: UInt32? = nil) -> Listing.File {
        Listing.File(
            path: path, address: "http://h/\(path)", size: 1,
            digests: crc.map { [Digest(crc32: $0)] } ?? [])
    }

    @Test func repeatedPathNeedsSameDigest() throws {
        let files = [Self.file("a", 1), Self.file("b"), Self.file("a", 1), Self.file("c")]
        let plan = try Self.read(Self.lines(files))
        #expect(plan.count == 3)
        #expect(try (0..<3).map { try plan.file(at: $0).path } == ["a", "b", "c"])
        for other in [Self.file("a", 2), Self.file("a")] {
            let lines = Self.lines([Self.file("a", 1), Self.file("b"), other])
            #expect(try Self.error(lines) == PlanError(.duplicate("a", line: 2), line: 4))
        }
    }

    @Test func namesThatDifferInCaseAreOneWhereFolded() throws {
        let lines = Self.lines([Self.file("Dir/A"), Self.file("dir/a")])
        #expect(try Self.error(lines) == nil)
        #expect(
            try Self.error(lines, foldsCase: true)
                == PlanError(.duplicate("dir/a", line: 2), line: 3))
    }

    @Test(arguments: [["a", "a/b"], ["a/b/c", "x", "a"], ["a/b", "a/b/c/d"]])
    func pathOfFolderIsRefused(paths: [String]) throws {
        let error = try Self.error(Self.lines(paths.map { Self.file($0) }))
        guard case .folderIsFile(let path)? = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(paths.contains(path) && paths.contains { $0.hasPrefix(path + "/") })
    }

    /// Random paths are accepted exactly if they can exist together.
    @Test func randomPathsAreCheckedRightly() {
        var random = SplitMix64(seed: 41)
        let names = ["a", "b", "ab", "c"]
        for _ in 0..<300 {
            let paths = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                (0..<Int.random(in: 1...3, using: &random)).map { _ in
                    names.randomElement(using: &random) ?? "a"
                }.joined(separator: "/")
            }
            let canExist =
                Set(paths).count == paths.count
                && !paths.contains { path in paths.contains { $0.hasPrefix(path + "/") } }
            let listing = Listing(Listing.Source(.urls), files: paths.map { Self.file($0) })
            let isAccepted = (try? listing.check()) != nil
            #expect(isAccepted == canExist, "\(paths)")
        }
    }

    // MARK: Files

    @Test func planIsReplacedAndOtherFilesAreNot() throws {
        let sandbox = try Sandbox()
        let path = sandbox.path("plan")
        try Listing(Listing.Source(.urls), files: [Self.file("a")]).writePlan(to: path)
        try Listing(Listing.Source(.urls), files: [Self.file("b")]).writePlan(to: path)
        #expect(try PlanFile(path).file(at: 0).path == "b")
        let other = try sandbox.write("other", "text")
        #expect(
            throws: PlanError(.notReplaced),
            performing: { try Listing(Listing.Source(.urls), files: []).writePlan(to: other) })
        #expect(try sandbox.names() == ["other", "plan"])
    }

    @Test func planWithSignedLinkIsPrivate() throws {
        let sandbox = try Sandbox()
        for (name, files) in [("public", [Self.file("a")]), ("private", Self.files)] {
            try Listing(Listing.Source(.urls), files: files).writePlan(to: sandbox.path(name))
            let mode =
                try FileManager.default.attributesOfItem(atPath: sandbox.path(name))[
                    .posixPermissions] as? Int ?? 0
            #expect((mode & 0o077 == 0) == (name == "private"), "\(name): \(mode)")
        }
    }

    /// A plan whose file is altered after it was opened yields no wrong entry.
    @Test func lineAlteredLaterIsFound() throws {
        let sandbox = try Sandbox()
        let path = sandbox.path("plan")
        try Listing(Listing.Source(.urls), files: Self.files).writePlan(to: path)
        let plan = try PlanFile(path)
        var bytes = try Data(contentsOf: URL(filePath: path))
        let place = try #require(bytes.range(of: Data("three".utf8))?.lowerBound)
        bytes[place] = UInt8(ascii: "T")
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.write(contentsOf: bytes)
        #expect(throws: PlanError(.altered, line: 4), performing: { try plan.file(at: 2) })
        #expect(try plan.file(at: 3) == Self.files[3])
    }

    @Test func pinIsBestProof() {
        func pin(_ etag: String?, _ date: String?, _ digests: [Digest] = []) -> FilePin? {
            Listing.File(
                path: "f", address: "http://h/f", size: 1, digests: digests, etag: etag,
                lastModified: date
            ).pin
        }
        #expect(pin("\"e\"", "D") == FilePin(size: 1, etag: "\"e\""))
        #expect(pin("W/\"e\"", "D") == FilePin(size: 1, lastModified: "D"))
        #expect(pin("W/\"e\"", nil) == FilePin(size: 1, etag: "W/\"e\""))
        #expect(pin("\"e\"", "D", [Digest(crc32: 1)]) == FilePin(size: 1))
        #expect(Listing.File(path: "f", address: "http://h/f", etag: "\"e\"").pin == nil)
    }
}
