import Assembler
import Crypto
import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that a part is not resumed by dates and ETags that another file of the same size may have.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BlankValidatorEndToEndTests {
    private static let size: Int64 = 3_000_000
    private static let hexSize = String(size, radix: 16)
    private static let modern = httpDate(unixTime: 1_700_000_000)

    private static func content(_ seed: UInt64) -> Content { Content(size: size, seed: seed) }

    private static func digest(_ seed: UInt64) -> String {
        Data(SHA256.hash(data: content(seed).bytes(0..<size))).base64EncodedString()
    }

    private func offer(_ stage: Stage, seed: UInt64, date: Int, tag: String?) {
        stage.origin.change {
            $0.content = Self.content(seed)
            $0.lastModified = httpDate(unixTime: date)
            $0.etag = tag
        }
    }

    // MARK: nginx

    private static func put(_ content: Content, _ path: String, time: Int) throws {
        try content.write(to: path)
        let times = [timeval](repeating: timeval(tv_sec: time, tv_usec: 0), count: 2)
        guard utimes(path, times) == 0 else { throw SystemCallError("utimes") }
    }

    /// A file on nginx is replaced by one of the same size and time after the first run was killed.
    @Test(arguments: [1, 315_532_800, 499_162_500])
    func startsOverIfNginxFileHasPlaceholderDate(time: Int) throws {
        let (root, folder) = (try Sandbox(), try Sandbox())
        let nginx = try Nginx(root: root.path, limitRate: "1m")
        let files = [1, 2].map { Content(size: 20 << 20, seed: $0) }
        try Self.put(files[0], root.path("file"), time: time)
        let child = try Run(["-x", "4", nginx.url("file")], in: folder.path)
        #expect(child.waits(for: 4 << 20))
        child.signal(SIGKILL)
        _ = try child.wait()
        #expect(try #require(Manifest(of: folder.path("file"))).received >= 4 << 20)
        try FileManager.default.removeItem(atPath: root.path("file"))
        try Self.put(files[1], root.path("file"), time: time)
        let outcome = try Run(["--json", nginx.url("file")], in: folder.path).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try files[1].firstDifference(at: folder.path("file")) == nil)
        #expect(try outcome.notices("started_over").map(\.reason) == ["no_validator"])
        #expect(try outcome.events("started").last?.identity == "none")
    }

    // MARK: Each form

    /// The validators that a server states for both files: the one begun and its replacement.
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var date: Int
        var tag: String?

        init(_ name: String, _ date: Int, _ tag: String? = nil) {
            (testDescription, self.date, self.tag) = (name, date, tag)
        }
    }

    static let blank = [
        Form("the epoch", 0), Form("a second later", 1), Form("a day after 1980", 315_619_200),
        Form("npm's date", 499_162_500), Form("nginx", 1, "\"1-\(hexSize)\""),
        Form("Apache", 1, "\"\(hexSize)-f4240\""), Form("Apache 2.2", 1, "\"a1-\(hexSize)-f4240\""),
        Form("the size", 1_700_000_000 + 4_000_000_000, "\"\(size)\""),
        Form("the size in hexadecimal", 1, "\"\(hexSize)\""), Form("zero", 1, "\"0\""),
    ]

    static let usable = [
        Form("a day and a second after 1980", 315_619_201), Form("a date", 1_700_000_000),
        Form("nginx, and a date", 1, "\"6553f100-\(hexSize)\""),
        Form("a tag of the content", 1, "\"5d41402abc4b2a76b9719d911017c592\""),
        Form("a number", 1, "\"7\""),
    ]

    @Test(arguments: blank)
    func placeholderValidatorsStartOver(form: Form) throws {
        let stage = try Stage(size: Self.size)
        offer(stage, seed: 1, date: form.date, tag: form.tag)
        try stage.leavePart(each: 200_000)
        offer(stage, seed: 2, date: form.date, tag: form.tag)
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("started_over").map(\.reason) == ["no_validator"])
        for way in ["`--checksum`", "a checksum from the server", "`--resume-unverified`"] {
            #expect(outcome.errorOutput.contains(way), "\(outcome.errorOutput)")
        }
        #expect(try outcome.events("finished").last?.bytesResumed == 0)
    }

    /// Similar validators that do distinguish versions.
    @Test(arguments: usable)
    func usableValidatorsResume(form: Form) throws {
        let stage = try Stage(size: Self.size)
        offer(stage, seed: 1, date: form.date, tag: form.tag)
        let kept = try stage.leavePart(each: 200_000)
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("started_over").isEmpty)
        #expect(try outcome.events("finished").last?.bytesResumed == kept)
    }

    /// The evidence that lets segget resume such a part.
    enum Proof: CaseIterable { case checksum, stated, sample }

    @Test(arguments: Proof.allCases, [false, true])
    func onlyDigestOrSampleResumesPart(proof: Proof, isSame: Bool) throws {
        let stage = try Stage(size: Self.size)
        let form = Form("nginx", 1, "\"1-\(Self.hexSize)\"")
        let second: UInt64 = isSame ? 1 : 2
        func state(_ seed: UInt64) {
            guard proof == .stated else { return }
            let digest = Self.digest(seed)
            stage.origin.bend { $1.set("Repr-Digest", "sha-256=:\(digest):") }
        }
        offer(stage, seed: 1, date: form.date, tag: form.tag)
        let kept = try stage.leavePart(each: 200_000)
        offer(stage, seed: second, date: form.date, tag: form.tag)
        state(second)
        var options = ["--json"]
        if proof == .sample { options.append("--resume-unverified") }
        if proof == .checksum {
            options += ["--checksum", "sha256:\(Self.content(second).sha256Hex)"]
        }
        var outcome = try stage.run(options)
        if !isSame, proof != .sample {
            // The part and the rest have the wrong digest: nothing is published, and the next run
            // starts over.
            #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
            #expect(try !stage.names().contains("file"))
            outcome = try stage.run(options)
        }
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.events("finished").last?.bytesResumed == (isSame ? kept : 0))
    }

    /// If the server stated a digest from the start, another digest indicates another version.
    @Test func changedServerDigestStartsOver() throws {
        let stage = try Stage(size: Self.size)
        func state(_ seed: UInt64) {
            offer(stage, seed: seed, date: 1, tag: nil)
            let digest = Self.digest(seed)
            stage.origin.bend { $1.set("Repr-Digest", "sha-256=:\(digest):") }
        }
        state(1)
        stage.origin.change { offer in
            let bend = offer.bend
            offer.bend = { request, reply in
                bend(request, &reply)
                if request.method == "GET" { reply.stallAfter = 200_000 }
            }
        }
        let child = try stage.start(["-x", "4"])
        #expect(child.waits(for: 800_000))
        child.signal(SIGKILL)
        _ = try child.wait()
        stage.origin.dropConnections()
        state(2)
        let outcome = try stage.run(["--json"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("started_over").map(\.reason) == ["digest_changed"])
    }

    /// A change of validators that do not distinguish versions still indicates another version.
    @Test func changedPlaceholdersStartOver() throws {
        let stage = try Stage(size: Self.size)
        offer(stage, seed: 1, date: 1, tag: "\"1-\(Self.hexSize)\"")
        try stage.leavePart(each: 200_000)
        offer(stage, seed: 2, date: 2, tag: "\"2-\(Self.hexSize)\"")
        let outcome = try stage.run(["--json", "--resume-unverified"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
        #expect(try outcome.notices("started_over").map(\.reason) == ["etag_changed"])
    }

    // MARK: Existing files

    /// A finished file does not count as the remote file of the same size and placeholder date.
    @Test(arguments: ["--xattr", "--keep-manifest"])
    func refusesFinishedFileWithPlaceholderDate(way: String) throws {
        let stage = try Stage(size: Self.size)
        offer(stage, seed: 1, date: 1, tag: "\"1-\(Self.hexSize)\"")
        #expect(try stage.run([way]).end == .exit(0))
        offer(stage, seed: 2, date: 1, tag: "\"1-\(Self.hexSize)\"")
        let outcome = try stage.run([way, "-o", "file"])
        #expect(outcome.end == .exit(73), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("no validator that shows"), "\(outcome.errorOutput)")
        // A digest that the server states decides.
        for (seed, end) in [(1, 0), (2, 73)] as [(UInt64, Int32)] {
            let digest = Self.digest(seed)
            stage.origin.bend { $1.set("Repr-Digest", "sha-256=:\(digest):") }
            let outcome = try stage.run([way, "-o", "file"])
            #expect(outcome.end == .exit(end), "\(outcome.errorOutput)")
        }
    }

    @Test(arguments: ["--xattr", "--no-xattr"])
    func timestampingIgnoresPlaceholderDate(way: String) throws {
        let stage = try Stage(size: Self.size)
        offer(stage, seed: 1, date: 1, tag: "\"1-\(Self.hexSize)\"")
        #expect(try stage.run(way == "--xattr" ? [way] : []).end == .exit(0))
        offer(stage, seed: 2, date: 1, tag: "\"1-\(Self.hexSize)\"")
        // A server that compares the validators replies 304.
        stage.origin.bend { request, reply in
            let conditions = ["If-None-Match", "If-Modified-Since"].compactMap(request.header)
            guard !conditions.isEmpty else { return }
            reply = OriginReply(status: 304)
        }
        let outcome = try stage.run(["--timestamping"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }
}
