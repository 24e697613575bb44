import Foundation
import Glibc
import TestSupport
import Testing

/// Tests data sets: what is complete is not requested again, and what others wrote stays.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SetEndToEndTests {
    /// An origin with the files `/N`, which the test can change, and a folder for the set.
    private final class Files: Sendable {
        let origin: Origin
        let sandbox: Sandbox
        let contents: Guarded<[Int: Content]>
        /// The statuses of files that are refused.
        let refusals = Guarded<[Int: Int]>([:])
        private let versions = Guarded<[Int: Int]>([:])

        init(count: Int = 4, size: Int64 = 20_000, folder: String? = nil) throws {
            let contents = Guarded(
                Dictionary(
                    uniqueKeysWithValues: (0..<count).map {
                        ($0, Content(size: size + Int64($0), seed: UInt64($0)))
                    }))
            self.contents = contents
            let (refusals, versions) = (refusals, versions)
            origin = try Origin { request in
                guard let number = Int(request.path.dropFirst()) else { return .text(404) }
                if let status = refusals.withLock({ $0[number] }) { return .text(status) }
                guard let content = contents.withLock({ $0[number] }) else { return .text(404) }
                let version = versions.withLock { $0[number] ?? 1 }
                return .file(content, for: request, etag: "\"v\(version)\"")
            }
            sandbox = try Sandbox()
        }

        /// Makes a plan of these files, each saved as `d/file-N`.
        func plan(
            _ numbers: [Int], _ arguments: [String] = [], hasDigests: Bool = false
        ) throws {
            let list = numbers.map { number in
                let digest = contents.withLock { $0[number]?.sha256Hex } ?? ""
                return "\(origin.url("/\(number)"))\n out=d/file-\(number)\n"
                    + (hasDigests ? " checksum=sha-256=\(digest)\n" : "")
            }.joined()
            try sandbox.write("list", list)
            let outcome = try run(["plan", "-i", "list", "-o", "plan"] + arguments)
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            // Plans of URLs are of one set only if they have the same files; a later plan of the
            // same source has another list.
            try rename(set: Self.set)
        }

        /// Gives the plan the name of a set, as a source with an address would have.
        private func rename(set: String) throws {
            let script = """
                import json, sys, zlib
                lines = open('plan').read().splitlines()
                seed = zlib.crc32(b'\(set)')
                out = open('plan', 'w')
                for number, line in enumerate(lines):
                    value = json.loads(line)
                    del value['crc']
                    if number == 0: value['set'] = '\(set)'
                    text = json.dumps(value, sort_keys=True, separators=(',', ':'))
                    text = text[:-1] + ',"crc":"'
                    out.write(text + '%08x"}\\n' % zlib.crc32(text.encode(), seed))
                """
            let outcome = try Run("/usr/bin/python3", ["-c", script], in: sandbox.path).wait()
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        }

        static let set = "00000000000000aa"

        func run(_ arguments: [String]) throws -> Run.Outcome {
            let outcome = try Run(arguments, in: sandbox.path).wait()
            origin.hearOut()
            return outcome
        }

        func get(_ arguments: [String] = []) throws -> Run.Outcome {
            try run(["get", "--plan", "plan", "-d", "set"] + arguments)
        }

        func change(_ number: Int, seed: UInt64 = 99) {
            contents.withLock { $0[number] = Content(size: 21_000, seed: seed) }
            versions.withLock { $0[number, default: 1] += 1 }
        }

        func path(_ number: Int) -> String { sandbox.path("set/d/file-\(number)") }

        func isRight(_ number: Int) throws -> Bool {
            guard let content = contents.withLock({ $0[number] }) else { return false }
            return try content.firstDifference(at: path(number)) == nil
        }

        /// The numbers of the files that were requested since the last call.
        func requested() -> [Int] {
            let all = origin.requests.compactMap { Int($0.path.dropFirst()) }
            defer { seen.withLock { $0 = all.count } }
            return Array(Set(all.dropFirst(seen.withLock { $0 }))).sorted()
        }
        private let seen = Guarded(0)

        /// The files of each state, as `segget status --json` says.
        func states() throws -> [String: Int] {
            let outcome = try run(["status", "set", "--json"])
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            let object =
                try JSONSerialization.jsonObject(with: Data(outcome.standardOutput))
                as? [String: Any]
            let states = object?["states"] as? [String: [String: Int]] ?? [:]
            return states.compactMapValues { $0["files"] }
        }
    }

    @Test func completeSetIsNotRequestedAgain() throws {
        let files = try Files()
        try files.plan([0, 1, 2, 3])
        #expect(try files.get().end == .exit(0))
        _ = files.requested()
        let again = try files.get()
        #expect(again.end == .exit(0), "\(again.errorOutput)")
        #expect(files.requested() == [])
        #expect(again.errorOutput.contains("4 of 4 files are complete"), "\(again.errorOutput)")
        #expect(try files.states() == ["complete": 4])
        #expect(unlink(files.path(2)) == 0)
        #expect(try files.states() == ["complete": 3, "missing": 1])
        #expect(try files.get().end == .exit(0))
        #expect(files.requested() == [2])
        for number in 0..<4 { #expect(try files.isRight(number), "\(number)") }
    }

    /// A file that was only touched, or copied, is read, and not requested.
    @Test func touchedFileIsReadOnly() throws {
        let files = try Files()
        try files.plan([0, 1])
        #expect(try files.get().end == .exit(0))
        _ = files.requested()
        let times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, files.path(0), times, 0) == 0)
        #expect(try files.states() == ["complete": 1, "changed": 1])
        #expect(try files.get().end == .exit(0))
        #expect(files.requested() == [])
        #expect(try files.states() == ["complete": 2])
    }

    /// A file that somebody else changed or made stays, is named, and the others are downloaded.
    @Test func foreignFileStays() throws {
        let files = try Files()
        try files.plan([0, 1, 2])
        #expect(try files.get().end == .exit(0))
        try files.sandbox.write("set/d/file-1", "mine")
        #expect(unlink(files.path(2)) == 0)
        files.change(1)
        try files.plan([0, 1, 2])
        let outcome = try files.get()
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("file-1` is not the planned version"))
        #expect(try files.sandbox.read("set/d/file-1") == Data("mine".utf8))
        #expect(try files.isRight(0) && files.isRight(2))
    }

    /// `--recheck` finds bytes that were damaged behind the back of the file system.
    @Test func recheckReadsAllBytes() throws {
        let files = try Files()
        try files.plan([0, 1])
        #expect(try files.get().end == .exit(0))
        var before = stat()
        #expect(stat(files.path(1), &before) == 0)
        let descriptor = open(files.path(1), O_WRONLY)
        #expect(pwrite(descriptor, "x", 1, 700) == 1)
        close(descriptor)
        let times = [before.st_mtim, before.st_mtim]
        #expect(utimensat(AT_FDCWD, files.path(1), times, 0) == 0)
        _ = files.requested()
        #expect(try files.get().end == .exit(0))
        #expect(files.requested() == [])
        #expect(try !files.isRight(1))
        #expect(try files.get(["--recheck"]).end == .exit(0))
        #expect(files.requested() == [1])
        #expect(try files.isRight(0) && files.isRight(1))
    }

    /// A newer plan replaces what changed, after the new version is complete, and adds what is new.
    @Test func newerPlanReplacesChangedFiles() throws {
        let files = try Files()
        try files.plan([0, 1])
        #expect(try files.get().end == .exit(0))
        let old = try files.sandbox.read("set/d/file-0")
        files.change(0)
        try files.plan([0, 1, 2])
        files.refusals.withLock { $0[0] = 404 }
        _ = files.requested()
        #expect(try files.get().end == .exit(69))
        #expect(try files.sandbox.read("set/d/file-0") == old)
        files.refusals.withLock { $0[0] = nil }
        _ = files.requested()
        let outcome = try files.get()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(files.requested() == [0])
        for number in 0..<3 { #expect(try files.isRight(number), "\(number)") }
    }

    @Test func extrasAreRemovedOnRequestOnly() throws {
        let files = try Files()
        try files.plan([0, 1, 2, 3])
        #expect(try files.get().end == .exit(0))
        try files.sandbox.write("set/d/mine", "mine")
        try files.plan([0, 1, 2])
        #expect(try files.get().end == .exit(0))
        #expect(try files.isRight(3))
        let dry = try files.get(["--delete-extra", "--dry-run"])
        #expect(dry.output.contains("would remove `set/d/file-3`"), "\(dry.output)")
        #expect(try files.isRight(3))
        // What is not complete comes first.
        #expect(unlink(files.path(0)) == 0)
        files.refusals.withLock { $0[0] = 404 }
        #expect(try files.get(["--delete-extra"]).end == .exit(69))
        #expect(try files.isRight(3))
        files.refusals.withLock { $0[0] = nil }
        let outcome = try files.get(["--delete-extra"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("removed `set/d/file-3`"), "\(outcome.errorOutput)")
        let names = try FileManager.default.contentsOfDirectory(
            atPath: files.sandbox.path("set/d"))
        #expect(names.sorted() == ["file-0", "file-1", "file-2", "mine"])
    }

    /// A file that the user had there, with the planned content, is complete, and is never removed.
    @Test func foundFileIsNotRemoved() throws {
        let files = try Files()
        try FileManager.default.createDirectory(
            atPath: files.sandbox.path("set/d"), withIntermediateDirectories: true)
        try files.contents.withLock { $0[3] }?.write(to: files.path(3))
        try files.plan([0, 1, 2, 3], hasDigests: true)
        _ = files.requested()
        #expect(try files.get().end == .exit(0))
        #expect(files.requested() == [0, 1, 2])
        try files.plan([0, 1, 2], hasDigests: true)
        #expect(try files.get(["--delete-extra"]).end == .exit(73))
        #expect(try files.isRight(3))
    }

    /// More than half of the files, changed files, and files behind a link are not removed.
    @Test func removalIsCareful() throws {
        let files = try Files()
        try files.plan([0, 1, 2, 3])
        #expect(try files.get().end == .exit(0))
        try files.plan([0])
        let refused = try files.get(["--delete-extra"])
        #expect(refused.end == .exit(73), "\(refused.errorOutput)")
        #expect(refused.errorOutput.contains("3 of 4 files: more than half"))
        for number in 0..<4 { #expect(try files.isRight(number), "\(number)") }
        try files.sandbox.write("set/d/file-1", "mine")
        let outcome = try files.get(["--delete-extra", "--force"])
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(try files.sandbox.read("set/d/file-1") == Data("mine".utf8))
        #expect(access(files.path(2), F_OK) != 0)
        // The folder becomes a link to one with the very same files.
        try files.plan([0, 3])
        #expect(try files.get().end == .exit(0))
        #expect(rename(files.sandbox.path("set/d"), files.sandbox.path("elsewhere")) == 0)
        #expect(symlink(files.sandbox.path("elsewhere"), files.sandbox.path("set/d")) == 0)
        try files.plan([0])
        #expect(try files.get(["--delete-extra", "--force"]).end == .exit(73))
        #expect(access(files.sandbox.path("elsewhere/file-3"), F_OK) == 0)
    }

    /// 75 means that nothing but later is needed; any other failure has its own code.
    @Test func exitCodeTellsWhetherLaterHelps() throws {
        let files = try Files()
        try files.plan([0, 1, 2])
        files.refusals.withLock { $0[1] = 503 }
        let options = ["--retries", "0", "--json"]
        let later = try files.get(options)
        #expect(later.end == .exit(75), "\(later.errorOutput)")
        #expect(later.errorOutput.contains("1 failed (may succeed later)"), "\(later.errorOutput)")
        #expect(try files.states() == ["complete": 2, "failed": 1])
        files.refusals.withLock { $0[2] = 404 }
        #expect(unlink(files.path(2)) == 0)
        let worse = try files.get(options)
        #expect(worse.end == .exit(69), "\(worse.errorOutput)")
        #expect(worse.errorOutput.contains("2 failed (1 may succeed later)"))
        let status = try files.run(["status", "set"]).output
        #expect(status.contains("failed: `d/file-1`") && status.contains("503"), "\(status)")
    }

    /// Only one run works on a set; the other is told which process does.
    @Test func secondRunIsToldWhoWorks() throws {
        let files = try Files(count: 2, size: 3_000_000)
        try files.plan([0, 1])
        let first = try Run(
            ["get", "--plan", "plan", "-d", "set", "--limit-rate", "300K"],
            in: files.sandbox.path)
        #expect(first.waits { access(files.sandbox.path("set/d"), F_OK) == 0 })
        let second = try files.get()
        #expect(second.end == .exit(73), "\(second.errorOutput)")
        #expect(second.errorOutput.contains("process \(first.pid)"), "\(second.errorOutput)")
        first.signal(SIGTERM)
        _ = try first.wait()
        #expect(try files.get().end == .exit(0))
        #expect(try files.isRight(0) && files.isRight(1))
    }

    /// A list makes no ledger.
    @Test func listLeavesNoRecords() throws {
        let files = try Files()
        try files.plan([0, 1])
        #expect(try files.run(["get", "-i", "list", "-d", "set"]).end == .exit(0))
        let names = try FileManager.default.contentsOfDirectory(atPath: files.sandbox.path("set"))
        #expect(names == ["d"])
        _ = files.requested()
        // A set takes over what a list has downloaded, without a request.
        #expect(try files.get().end == .exit(0))
        #expect(files.requested() == [])
        #expect(try files.states() == ["complete": 2])
    }

    /// The ledger of another set, or a damaged one, costs no file.
    @Test func damagedLedgerCostsNoDownload() throws {
        let files = try Files()
        try files.plan([0, 1, 2, 3])
        #expect(try files.get().end == .exit(0))
        let ledger = "set/.segget/\(Files.set).ledger"
        var bytes = try files.sandbox.read(ledger)
        for place in stride(from: 200, to: bytes.count, by: 50) { bytes[place] ^= 1 }
        try Data(bytes).write(to: URL(filePath: files.sandbox.path(ledger)))
        _ = files.requested()
        #expect(try files.get().end == .exit(0))
        #expect(files.requested() == [])
        try files.sandbox.write(ledger, "something else\n")
        let refused = try files.get()
        #expect(refused.end == .exit(73), "\(refused.errorOutput)")
        #expect(try files.sandbox.read(ledger) == Data("something else\n".utf8))
    }
}
