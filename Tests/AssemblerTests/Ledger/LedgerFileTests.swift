import Foundation
import Glibc
import TestSupport
import Testing

@testable import Assembler

/// Tests the ledger of a set: no record is lost or invented, whatever happens to the file.
struct LedgerFileTests {
    private static let set = "0123456789abcdef"

    /// A folder with a ledger.
    private struct Stage {
        let sandbox: Sandbox
        let folder: Folder

        init() throws {
            sandbox = try Sandbox()
            folder = try Folder(sandbox.path)
        }

        var path: String { sandbox.path("\(LedgerFileTests.set).ledger") }

        func open(_ set: String = LedgerFileTests.set) throws(LedgerFile.Failure) -> LedgerFile {
            try LedgerFile(writing: set, in: folder, now: 5)
        }

        var bytes: [UInt8] {
            get throws { Array(try Data(contentsOf: URL(filePath: path))) }
        }

        func write(_ bytes: some Sequence<UInt8>) throws {
            try Data(bytes).write(to: URL(filePath: path))
        }

        /// The paths that the ledger records.
        func paths() throws -> [String] {
            guard let ledger = try LedgerFile(reading: LedgerFileTests.set, in: folder) else {
                return []
            }
            var paths: [String] = []
            try ledger.forEachMark { mark, _ in paths.append(mark.path) }
            return paths
        }
    }

    private static func record(_ path: String) -> LedgerRecord {
        var record = LedgerRecord(path: path, event: .complete, at: 7)
        (record.size, record.modified, record.inode) = (3, 4, 5)
        (record.version, record.proof) = ("00", "size")
        record.digests = [Digest(crc32: 9)]
        return record
    }

    @Test func writtenRecordsAreReadAgain() throws {
        let stage = try Stage()
        let ledger = try stage.open()
        var failed = LedgerRecord(path: "b", event: .failed, at: 8)
        (failed.kind, failed.code, failed.message, failed.hint) = ("status", 69, "words", "again")
        let records = (0..<70).map { Self.record("ä \"\($0)") } + [failed]
        try ledger.append(records)
        try ledger.synchronize()
        var found: [LedgerRecord] = []
        try ledger.forEachMark { mark, place in
            if let record = ledger.record(at: place) { found.append(record) }
            #expect(found.last?.path == mark.path)
        }
        #expect(found == records)
        #expect(ledger.lastRun?.pid == getpid())
    }

    /// A second run is told which process has the set.
    @Test func secondRunIsRefused() throws {
        let stage = try Stage()
        let first = try stage.open()
        do {
            _ = try stage.open()
            Issue.record("two runs have the ledger")
        } catch {
            guard case .inUse(let run?) = error else { throw error }
            #expect(run.pid == getpid())
        }
        #expect(try LedgerFile(reading: Self.set, in: stage.folder)?.isLocked == true)
        try first.rewrite(now: 6) { _ in true }
        #expect(throws: LedgerFile.Failure.self) { try stage.open() }
        first.release()
        #expect(try LedgerFile(reading: Self.set, in: stage.folder)?.isLocked == false)
        _ = try stage.open()
    }

    /// A crash may cut the file behind its first line: whole lines count, and later records are
    /// added behind.
    @Test func cutLedgerKeepsWholeLines() throws {
        let stage = try Stage()
        let ledger = try stage.open()
        for name in ["a", "b", "c"] { try ledger.append([Self.record(name)]) }
        ledger.release()
        let bytes = try stage.bytes
        let ends = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }
        for length in ends[0] + 1...bytes.count {
            try stage.write(bytes[..<length])
            // A line that lacks only its line feed is whole.
            let whole = ends.count { $0 <= length }
            let expected = ["a", "b", "c"].prefix(max(0, whole - 2))
            #expect(try stage.paths() == Array(expected), "cut after \(length) bytes")
            let again = try stage.open()
            try again.append([Self.record("d")])
            again.release()
            #expect(try stage.paths() == expected + ["d"], "cut after \(length) bytes")
        }
    }

    /// Whatever byte is altered, no record is invented, and those of other lines remain.
    @Test func alteredLineCountsAsAbsent() throws {
        let stage = try Stage()
        let ledger = try stage.open()
        // A name with one altered bit is not that of another line.
        for name in ["aa", "bb", "cc"] { try ledger.append([Self.record(name)]) }
        ledger.release()
        let bytes = try stage.bytes
        let head = (bytes.firstIndex(of: UInt8(ascii: "\n")) ?? 0) + 1
        for place in head..<bytes.count {
            var altered = bytes
            altered[place] ^= 1
            try stage.write(altered)
            let paths = try stage.paths()
            #expect(Set(paths).isSubset(of: ["aa", "bb", "cc"]), "byte \(place): \(paths)")
            // An altered line feed joins two lines.
            #expect(paths.count >= 1, "byte \(place): \(paths)")
        }
    }

    /// A power cut may leave zeros at the end.
    @Test func zerosAtTheEndAreIgnored() throws {
        let stage = try Stage()
        let ledger = try stage.open()
        try ledger.append([Self.record("a")])
        ledger.release()
        try stage.write(try stage.bytes + [UInt8](repeating: 0, count: 5000))
        let again = try stage.open()
        try again.append([Self.record("b")])
        #expect(try stage.paths() == ["a", "b"])
    }

    @Test func rewriteKeepsWhatIsNeeded() throws {
        let stage = try Stage()
        let ledger = try stage.open()
        for round in 0..<200 { try ledger.append([Self.record("a"), Self.record("\(round)")]) }
        let before = try stage.bytes.count
        var last: LedgerFile.Place?
        try ledger.forEachMark { mark, place in if mark.path == "a" { last = place } }
        try ledger.rewrite(now: 9) { $0 == last }
        #expect(try stage.paths() == ["a"])
        #expect(try stage.bytes.count < before / 20)
        try ledger.append([Self.record("b")])
        #expect(try stage.paths() == ["a", "b"])
        #expect(try stage.sandbox.names() == ["\(Self.set).ledger"])
    }

    /// The file of another set, or of a later version, is not touched.
    @Test func foreignFilesAreRefused() throws {
        let stage = try Stage()
        let other = try stage.open("ffffffffffffffff")
        try other.append([Self.record("a")])
        other.release()
        let foreign = Array(
            try Data(contentsOf: URL(filePath: stage.sandbox.path("ffffffffffffffff.ledger"))))
        let later = Array("{\"segget_ledger\":2}\n".utf8)
        for bytes in [foreign, later, Array("text\n".utf8), Array("text".utf8)] {
            try stage.write(bytes)
            #expect(throws: LedgerFile.Failure.self) { try stage.open() }
            #expect(throws: LedgerFile.Failure.self) { try stage.paths() }
            #expect(try stage.bytes == bytes)
        }
    }

    /// A full disk loses only the records that do not fit.
    @Test func fullDiskKeepsEarlierRecords() throws {
        let disk = try Tmpfs(size: 64 << 10)
        let folder = try Folder(disk.path)
        let ledger = try LedgerFile(writing: Self.set, in: folder, now: 5)
        try ledger.append([Self.record("a")])
        let large = (0..<2000).map { Self.record(String(repeating: "x", count: 200) + "\($0)") }
        #expect(throws: AssemblyError.self) { try ledger.append(large) }
        try ledger.append([Self.record("b")])
        var paths: [String] = []
        try ledger.forEachMark { mark, _ in paths.append(mark.path) }
        #expect(paths == ["a", "b"])
    }

    // MARK: Shared ledgers

    /// Several runs write one ledger, and a torn line of one costs no line of another.
    @Test func sharedLedgerKeepsRecordsOfAllRuns() throws {
        let stage = try Stage()
        let first = try LedgerFile(sharing: Self.set, in: stage.folder, now: 5)
        let second = try LedgerFile(sharing: Self.set, in: stage.folder, now: 6)
        try first.append([Self.record("a")])
        try second.append([Self.record("b")])
        let file = try FileHandle(forWritingTo: URL(filePath: stage.path))
        try file.seekToEnd()
        try file.write(contentsOf: Data(#"{"files":[{"path":"torn"#.utf8))
        try file.close()
        try first.append([Self.record("c")])
        #expect(try stage.paths() == ["a", "b", "c"])
        #expect(try stage.sandbox.names() == ["\(Self.set).ledger"])
        #expect(throws: LedgerFile.Failure.foreign(path: stage.path)) {
            try stage.write(Array("other".utf8))
            _ = try LedgerFile(sharing: Self.set, in: stage.folder, now: 7)
        }
    }
}
