import Foundation
import Glibc
import TestSupport
import Testing

/// Tests that no command line for aria2c overwrites other files, accepts wrong data or shows
/// secrets.
@Suite(.timeLimit(.minutes(5)))
struct Aria2CareTests {
    /// Returns aria2's control file for a file of this size, of which no bytes exist.
    private static func controlFile(size: Int64) -> [UInt8] {
        let piece: Int64 = 1 << 20
        let pieces = Int((size + piece - 1) / piece)
        var bytes: [UInt8] = [0, 1] + [UInt8](repeating: 0, count: 8)
        func add(_ number: Int64, bytes count: Int) {
            bytes += (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * (count - 1 - $0))) }
        }
        add(piece, bytes: 4)
        add(size, bytes: 8)
        add(0, bytes: 8)
        let length = (pieces + 7) / 8
        add(Int64(length), bytes: 4)
        return bytes + [UInt8](repeating: 0, count: length + 4)
    }

    // MARK: Files

    /// A control file counts only if aria2 wrote it for this file.
    @Test(arguments: ["", "--allow-overwrite=false --remove-control-file=true "])
    func foreignControlFileIsIgnored(options: String) throws {
        let pair = try Aria2Pair(size: 600_000)
        for (name, control) in [
            ("note", Array("my notes".utf8)), ("other", Self.controlFile(size: 8_000_000)),
        ] {
            try pair.write("my thesis".utf8, to: name, .segget)
            try pair.write(control, to: "\(name).aria2", .segget)
            let outcome = try pair.run("aria2c --no-conf \(options)-o \(name) $B/f.bin", .segget)
            #expect(outcome.code == 0, "\(outcome.text.lines)")
            #expect(try pair.read(name, .segget) == Array("my thesis".utf8))
            #expect(try pair.read("\(name).aria2", .segget) == control)
            #expect(outcome.tree["\(name).1"] == "/f.bin", "\(outcome.tree)")
        }
    }

    /// segget does not touch a file that another program has open for writing.
    @Test func fileOpenForWritingIsKept() throws {
        let pair = try Aria2Pair(size: 600_000)
        try pair.write([UInt8](repeating: 1, count: 600_000), to: "f.bin", .segget)
        try pair.write(Self.controlFile(size: 600_000), to: "f.bin.aria2", .segget)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: pair.path("f.bin", .segget)))
        let outcome = try pair.run("aria2c --no-conf $B/f.bin", .segget)
        try file.close()
        #expect(outcome.code == 11, "\(outcome.text.lines)")
        #expect(try pair.read("f.bin", .segget) == [UInt8](repeating: 1, count: 600_000))
    }

    /// Two files of a list have one name: the second gets the next free number.
    @Test func secondFileGetsFreeNumber() throws {
        let pair = try Aria2Pair(size: 600_000)
        try pair.write("my own data".utf8, to: "f.1.bin", .segget)
        try pair.write("$B/a\n out=f.bin\n$B/b\n out=f.bin\n", to: "list")
        let outcome = try pair.run("aria2c --no-conf -c -j1 -i list", .segget)
        #expect(outcome.code == 0, "\(outcome.text.lines)")
        #expect(try pair.read("f.1.bin", .segget) == Array("my own data".utf8))
        #expect(
            [outcome.tree["f.bin"], outcome.tree["f.2.bin"]] == ["/a", "/b"], "\(outcome.tree)")
    }

    /// An advertised digest decides whether a complete file is kept; no sample is compared.
    @Test(arguments: [true, false])
    func advertisedDigestDecidesOnExistingFile(isRight: Bool) throws {
        let pair = try Aria2Pair(size: 8_000_000)
        let content = pair.content("/f.bin")
        var bytes = content.bytes(0..<8_000_000)
        let hex = Array(content.sha256Hex)
        let digest = Data(
            stride(from: 0, to: hex.count, by: 2).compactMap {
                UInt8(String(hex[$0...$0 + 1]), radix: 16)
            })
        pair.origin.bend { $1.set("Repr-Digest", "sha-256=:\(digest.base64EncodedString()):") }
        if !isRight { bytes[5_000_001] ^= 1 }
        try pair.write(bytes, to: "f.bin", .segget)
        let outcome = try pair.run("aria2c --no-conf -c $B/f.bin", .segget)
        #expect(outcome.code == 0 && outcome.tree == ["f.bin": "/f.bin"], "\(outcome.text.lines)")
        #expect(outcome.text.lines.contains { $0.contains("[WARN]") } == !isRight)
    }

    /// A name that is not UTF-8 would change, and the session would replace the list.
    @Test func refusesListThatIsNotUTF8() throws {
        let pair = try Aria2Pair(size: 60_000)
        let list = Array("\(pair.base)/f.bin\n out=caf".utf8) + [0xe9, 0x0a]
        try pair.write(list, to: "list", .segget)
        let outcome = try pair.run("aria2c --no-conf -i list --save-session=list", .segget)
        #expect(outcome.code == 1 && outcome.errors.contains("line 2"), "\(outcome.errors)")
        #expect(try pair.read("list", .segget) == list)
        #expect(outcome.requests.isEmpty)
    }

    /// An item's options apply to that item only.
    @Test func optionsOfItemApplyToThatItem() throws {
        let pair = try Aria2Pair(size: 60_000)
        try pair.write(
            "$B/a\n dry-run=true\n$B/b\n force-save=true\n$B/none\n save-not-found=false\n",
            to: "list")
        let outcome = try pair.run("aria2c --no-conf -i list --save-session=left", .segget)
        #expect(outcome.code == 3)
        #expect(Set(outcome.tree.keys) == ["b", "list", "left"], "\(outcome.tree)")
        let left = String(decoding: try pair.read("left", .segget), as: UTF8.self)
        #expect(
            left.contains("/b\t") && !left.contains("/a\t") && !left.contains("/none"), "\(left)")
    }

    // MARK: Limits and signals

    @Test(arguments: [
        "--max-overall-download-limit=9223372036854775807",
        "--max-download-limit=500000000000000003", "--max-download-limit=4611686018427387904",
    ])
    func acceptsVeryLargeRateLimits(limit: String) throws {
        let pair = try Aria2Pair(size: 20_000_000)
        let outcome = try pair.run("aria2c --no-conf -x16 -k1M \(limit) $B/f.bin", .segget)
        #expect(outcome.code == 0 && outcome.tree == ["f.bin": "/f.bin"], "\(outcome.text.lines)")
    }

    /// A signal ends the run although no process reads its output.
    @Test func signalEndsRunWithBlockedOutput() throws {
        let pair = try Aria2Pair(size: 600_000)
        var ends: [Int32] = [0, 0]
        try #require(pipe(&ends) == 0 && fcntl(ends[1], F_SETFL, O_NONBLOCK) == 0)
        defer { ends.forEach { close($0) } }
        // The pipe is full before the program starts.
        let page = [UInt8](repeating: 0, count: 4096)
        while write(ends[1], page, page.count) > 0 {}
        let out = "/proc/\(getpid())/fd/\(ends[1])"
        let process = try pair.start("exec aria2c --no-conf --log=log $B/f.bin >\(out)", .segget)
        // The program handles signals first, logs a line, and then prints it.
        #expect(eventually { (try? pair.read("log", .segget).isEmpty) == false })
        process.signal(SIGINT)
        #expect(try process.wait().exitCode == 7)
    }

    // MARK: Secrets

    /// Other users of the machine can read the command line.
    @Test func processListShowsNoSecrets() throws {
        let pair = try Aria2Pair(size: 600_000)
        let release = Guarded(false)
        pair.origin.bend { $1.release = release }
        let process = try pair.start(
            "exec aria2c --no-conf --header='X-Key: s3cret' --http-pass=s3cret --http-pass=s3cret2 "
                + "--http-user=me --all-proxy-passwd=s3cret --no-proxy=127.0.0.1 "
                + "--all-proxy=u:s3cret@127.0.0.1:9 --rpc-secret s3cret '--ref=http://h/?s3cret' "
                + "\"$B/f.bin?s3cret\"", .segget)
        let path = "/proc/\(process.pid)/cmdline"
        let isHidden = eventually {
            guard let text = FileManager.default.contents(atPath: path) else { return false }
            return !String(decoding: text, as: UTF8.self).contains("s3cret")
                && !pair.origin.requests.isEmpty
        }
        #expect(isHidden)
        release.withLock { $0 = true }
        #expect(try process.wait().exitCode == 0)
    }

    /// A session contains URLs and passwords: only its owner can read it, even if its temporary
    /// name exists.
    @Test func sessionFileIsReadableByOwnerOnly() throws {
        let pair = try Aria2Pair(size: 600_000)
        try pair.write([], to: "s__temp", .segget)
        chmod(pair.path("s__temp", .segget), 0o666)
        _ = try pair.run(
            "umask 0; aria2c --no-conf --http-user=me --http-passwd=s3cret --save-session=s $B/none",
            .segget)
        var status = stat()
        #expect(stat(pair.path("s", .segget), &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try pair.read("s__temp", .segget).isEmpty)
    }

    /// Malformed URLs may contain a password too.
    @Test func outputHidesSecretsInMalformedURLs() throws {
        let pair = try Aria2Pair(size: 600_000)
        try pair.write("http://u:s3cret@127.0.0.1 x/f\nfoo?s3cret\n", to: "list")
        for line in ["'http://u:s3cret@127.0.0.1 x/f'", "'foo?s3cret'", "-i list --log=log"] {
            let outcome = try pair.run("aria2c --no-conf \(line); cat log", .segget)
            let words = "\(outcome.text.lines) \(outcome.errors)"
            #expect(!words.contains("s3cret"), "\(words)")
        }
    }

    /// The user and password in the URL replace those of the options.
    @Test func credentialsInURLReplaceOptions() throws {
        let pair = try Aria2Pair(size: 600_000)
        pair.origin.bend { request, reply in
            guard request.header("Authorization") == nil else { return }
            reply = .text(401, headers: [HeaderField("WWW-Authenticate", "Basic realm=\"x\"")])
        }
        let host = pair.base.dropFirst("http://".count)
        let outcomes = try pair.both(
            "aria2c --no-conf --http-user=hu --http-passwd=hp http://ua:pa@\(host)/f.bin")
        let wanted = "Basic \(Data("ua:pa".utf8).base64EncodedString())"
        for outcome in [outcomes.aria2c, outcomes.segget] {
            let shown = Set(outcome.requests.compactMap { $0.header("Authorization") })
            #expect(outcome.code == 0 && shown == [wanted], "\(shown)")
        }
    }
}
