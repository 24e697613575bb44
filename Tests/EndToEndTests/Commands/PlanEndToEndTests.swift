import Foundation
import TestSupport
import Testing

/// Tests `segget plan` and `segget get --plan`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PlanEndToEndTests {
    private static let sizes: [Int64] = [3_000_000, 20_000, 0]

    /// The files of an origin: `/N/file-N`; the test can change them.
    private final class Files: Sendable {
        let origin: Origin
        let sandbox: Sandbox
        let contents: Guarded<[Content]>
        let etags: Guarded<[String?]>

        init(etag: String? = "\"v1\"") throws {
            let contents = Guarded(
                PlanEndToEndTests.sizes.enumerated().map { Content(size: $1, seed: UInt64($0)) })
            let etags = Guarded([String?](repeating: etag, count: 3))
            (self.contents, self.etags) = (contents, etags)
            origin = try Origin { request in
                guard let number = request.path.dropFirst().first?.wholeNumberValue, number < 3
                else { return .text(404) }
                return .file(
                    contents.withLock { $0[number] }, for: request,
                    etag: etags.withLock { $0[number] })
            }
            sandbox = try Sandbox()
        }

        var urls: [String] { (0..<3).map { origin.url("/\($0)/file-\($0)") } }

        func run(_ arguments: [String]) throws -> Run.Outcome {
            let outcome = try Run(arguments, in: sandbox.path).wait()
            origin.hearOut()
            return outcome
        }

        /// Makes the plan `plan`.
        func plan(_ arguments: [String] = []) throws -> Run.Outcome {
            let outcome = try run(["plan"] + urls + ["-o", "plan"] + arguments)
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
            return outcome
        }

        func isRight(_ number: Int) throws -> Bool {
            try contents.withLock { $0[number] }
                .firstDifference(at: sandbox.path("set/file-\(number)")) == nil
        }
    }

    private static let get = ["get", "--plan", "plan", "-d", "set"]

    @Test(arguments: [false, true])
    func plannedFilesAreDownloaded(isProbed: Bool) throws {
        let files = try Files()
        let made = try files.plan(isProbed ? [] : ["--no-probe"])
        #expect(made.output.isEmpty)
        #expect(made.errorOutput.hasPrefix("3 files"), "\(made.errorOutput)")
        // That a file is empty, only `GET` proves.
        for path in files.urls.prefix(2).compactMap({ URL(string: $0)?.path }) {
            #expect(files.origin.requests.count { $0.path == path } == (isProbed ? 1 : 0))
        }
        let outcome = try files.run(Self.get)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for number in 0..<3 { #expect(try files.isRight(number), "\(number)") }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: files.sandbox.path("set")).sorted()
                == [".segget", "file-0", "file-1", "file-2"])
    }

    /// Without `--output`, the plan goes to standard output.
    @Test func planIsWrittenToStandardOutput() throws {
        let files = try Files()
        let outcome = try files.run(["plan"] + files.urls)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("verified by: ETag"), "\(outcome.errorOutput)")
        try files.sandbox.write("plan", outcome.output)
        #expect(try files.run(Self.get).end == .exit(0))
    }

    /// A file that has changed since is refused by name; the others are downloaded.
    @Test(arguments: [0, 1], [false, true])
    func changedFileIsRefused(number: Int, sizeChanges: Bool) throws {
        let files = try Files()
        _ = try files.plan()
        let size = Self.sizes[number] + (sizeChanges ? 1 : 0)
        files.contents.withLock { $0[number] = Content(size: size, seed: 99) }
        if !sizeChanges { files.etags.withLock { $0[number] = "\"v2\"" } }
        let outcome = try files.run(Self.get + ["--json"])
        #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("file-\(number)` is no longer the file"))
        #expect(try outcome.events("error").map(\.kind) == ["other_version"])
        for other in 0..<3 where other != number { #expect(try files.isRight(other), "\(other)") }
        #expect(!FileManager.default.fileExists(atPath: files.sandbox.path("set/file-\(number)")))
    }

    /// A digest in the plan decides, whatever the validators are.
    @Test func digestOfListIsKept() throws {
        let files = try Files()
        let digest = files.contents.withLock { $0[1].sha256Hex }
        try files.sandbox.write(
            "list", "\(files.urls[1])\n out=deep/er/name\n checksum=sha-256=\(digest)\n")
        let made = try files.run(["plan", "-i", "list", "-o", "plan"])
        #expect(made.errorOutput.contains("verified by: sha-256"), "\(made.errorOutput)")
        files.etags.withLock { $0[1] = "\"v2\"" }
        #expect(try files.run(Self.get).end == .exit(0))
        let path = files.sandbox.path("set/deep/er/name")
        #expect(try files.contents.withLock { $0[1] }.firstDifference(at: path) == nil)
        files.contents.withLock { $0[1] = Content(size: Self.sizes[1], seed: 7) }
        let other = try files.run(["get", "--plan", "plan", "-d", "again"])
        #expect(other.end == .exit(65), "\(other.errorOutput)")
    }

    @Test func patternsChooseFiles() throws {
        let files = try Files()
        _ = try files.plan(["--include", "file-[01]", "--exclude", "*-1"])
        #expect(try files.run(Self.get).end == .exit(0))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: files.sandbox.path("set")).sorted()
                == [".segget", "file-0"])
    }

    /// No password, header or cookie is in a plan, and one with a signed link is private.
    @Test func planHoldsNoSecrets() throws {
        let files = try Files()
        let url = files.urls[1].replacing("http://", with: "http://me:secret1@")
        try files.sandbox.write(
            "list", "\(files.urls[0])?sig=signed4\n header=Authorization: secret2\n")
        let outcome = try files.run([
            "plan", url, "-i", "list", "-b", "k=secret3", "-H", "X-Key: secret5", "-o", "plan",
        ])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let plan = String(decoding: try files.sandbox.read("plan"), as: UTF8.self)
        #expect(!plan.contains("secret"), "\(plan)")
        #expect(plan.contains("\"signed\":true") && plan.contains("sig=signed4"))
        let mode =
            try FileManager.default.attributesOfItem(atPath: files.sandbox.path("plan"))[
                .posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func fileThatIsNotThereMakesNoPlan() throws {
        let files = try Files()
        let outcome = try files.run(["plan"] + files.urls + [files.origin.url("/none"), "-o", "p"])
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("no plan was written"))
        #expect(try files.sandbox.names() == [])
    }

    /// Whatever is wrong with a plan, nothing is requested or written.
    @Test func unusablePlanChangesNothing() throws {
        let files = try Files()
        _ = try files.plan()
        let good = String(decoding: try files.sandbox.read("plan"), as: UTF8.self)
        let lines = good.split(separator: "\n").map { $0 + "\n" }
        let count = files.origin.requests.count
        for (text, words) in [
            (lines.dropLast().joined(), "is cut: it has 2 of 3 files"),
            (good.replacing("file-1", with: "file-9"), "line 3: the line was altered"),
            ("{\"segget_plan\":2}\n", "has version 2"), ("text\n", "is not a plan"),
        ] {
            try files.sandbox.write("plan", text)
            let outcome = try files.run(Self.get)
            #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
            #expect(outcome.errorOutput.contains(words), "\(outcome.errorOutput)")
        }
        #expect(files.origin.requests.count == count)
        #expect(try files.sandbox.names() == ["plan"])
    }
}
