import Foundation
import TestSupport
import Testing

/// Tests that mistyped commands download nothing, create nothing, and suggest what to type.
@Suite(.timeLimit(.minutes(5)))
struct MistypedTests {
    /// A folder, and an origin that is the proxy of all requests.
    private struct Trial {
        let sandbox: Sandbox
        let origin: Origin

        init() throws {
            sandbox = try Sandbox()
            origin = try Origin { _ in .text(200) }
        }

        /// Runs a command line, and expects it to be refused without a request and without new
        /// files.
        ///
        /// - Returns: The error output.
        func refused(
            _ arguments: [String], _ variables: [String: String] = [:],
            at place: SourceLocation = #_sourceLocation
        ) throws -> String {
            let before = try sandbox.names()
            var environment = [
                "http_proxy": origin.url(""), "no_proxy": "", "SEGGET_NO_CONFIG": "1",
                "XDG_DATA_HOME": sandbox.path("data"),
            ]
            environment.merge(variables) { $1 }
            if variables["SEGGET_CONFIG"] != nil { environment["SEGGET_NO_CONFIG"] = "0" }
            let outcome = try Run(arguments, in: sandbox.path, environment: environment)
                .wait()
            #expect(
                outcome.end == .exit(64), "\(arguments): \(outcome.errorOutput)",
                sourceLocation: place)
            #expect(outcome.output.isEmpty, sourceLocation: place)
            #expect(origin.acceptedConnections == 0, "\(arguments)", sourceLocation: place)
            #expect(try sandbox.names() == before, sourceLocation: place)
            return outcome.errorOutput
        }
    }

    @Test(arguments: [
        (["pasue", "60ad"], "`segget pause`"), (["ls"], "`segget list`"),
        (["localhost"], "`http://localhost/`"), (["-q", "ls"], "`segget list`"),
        (["lsit", "--json"], "`segget list`"), (["lsit", "--help"], "`segget list`"),
        (["--", "verfy", "f"], "`segget verify`"), (["Pause", "60ad"], "`segget pause`"),
        (["--enqueue", "ls"], "`segget list`"), (["ls", "http://127.0.0.1:9/f"], "`segget list`"),
    ])
    func mistypedCommandSendsNoRequest(arguments: [String], hint: String) throws {
        let text = try Trial().refused(arguments)
        #expect(text.contains("there is no command `"), "\(text)")
        #expect(text.contains(hint), "\(text)")
    }

    /// After `get`, a word is a host name.
    @Test func hostWithoutDotNeedsGetOrURL() throws {
        let trial = try Trial()
        for (count, arguments) in [["get", "pasue"], ["http://pasue/"]].enumerated() {
            _ = try Run(
                arguments + ["-o", "f\(count)"], in: trial.sandbox.path,
                environment: ["http_proxy": trial.origin.url(""), "no_proxy": ""]
            ).wait()
            #expect(trial.origin.acceptedConnections > count)
        }
    }

    // MARK: Rates and checksums

    @Test(arguments: [
        (["--limit-rate", "3Mb", url], ["`3M` for bytes", "`3Mbit` for bits"]),
        (["--min-rate", "8kb", url], ["`8K` for bytes", "`8Kbit` for bits"]),
        (["settings", "--limit-rate", "3Mb/s"], ["`3M` for bytes", "`3Mbit` for bits"]),
        (["settings", "--limit-schedule", "08:00-18:00=2Mb"], ["`2M`", "`2Mbit`"]),
        (["settings", "--rule", "metered=1Gb"], ["`1G`", "`1Gbit`"]),
        (["set", "60ad", "--limit-rate", "500b"], ["`500`", "`500bit`"]),
        (["add", "--limit-rate", "1mb", url], ["`1M`", "`1Mbit`"]),
    ])
    func refusesRateWithLowercaseB(arguments: [String], words: [String]) throws {
        let text = try Trial().refused(arguments)
        for word in words { #expect(text.contains(word), "\(text)") }
    }

    private static let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d"

    /// The message shows a digest, but no other value in its place, which may be a secret.
    @Test(arguments: [
        (["--checksum", "sha256:\(sha1)", url], ["'sha256:\(sha1)'", "not 40; sha-1 has 40"]),
        (["--checksum", "ABC", url], ["'ABC'", "sha-256 has 64", "md5 has 32", "crc32 has 8"]),
        (["add", "--checksum=md5=\(sha1)", url], ["'md5=\(sha1)'", "32", "sha-1 has 40"]),
        (["repair", "--checksum", "sha3:00", "f", url], ["'sha3:00'", "segget supports sha-256"]),
        (["--checksum", "http://me:hidden@h/", url], ["(not shown)"]),
        (["--checksum", "sha-1:\(sha1)", "-x", "sha-1:\(sha1)", url], ["(not shown)"]),
    ])
    func messageShowsInvalidChecksum(arguments: [String], words: [String]) throws {
        let text = try Trial().refused(arguments)
        for word in words { #expect(text.contains(word), "\(text)") }
        #expect(!text.contains("hidden"))
    }

    // MARK: --queue

    private static let url = "http://127.0.0.1:9/f"

    @Test(arguments: [
        // In scripts for 0.2.0, `--queue` was a flag.
        ["get", "--queue", url], ["--queue", url], ["get", url, "--queue"],
        ["get", "--queue", "-q", url], ["get", "--queue=", url], ["get", "--queue", "", url],
        ["get", "--queue=true", url], ["get", "--queue", "127.0.0.1:9/a", "127.0.0.1:9/b"],
        ["get", "--enqueue", "--queue", url, url],
        ["add", "--queue", url, url], ["add", url, "--queue"], ["add", "--queue=\(url)", url],
        ["list", "--queue"], ["list", "--queue", url], ["serve", "--queue", url],
        ["run", "--queue="], ["pause", "--all", "--queue", url],
    ])
    func queueWithURLSuggestsEnqueue(arguments: [String]) throws {
        let text = try Trial().refused(arguments)
        #expect(text.contains("--queue") && text.contains("`--enqueue`"), "\(text)")
    }

    @Test(arguments: [["get", url], [url], ["get", "--enqueue", url], ["add", url], ["list"]])
    func configuredQueueWithURLSuggestsEnqueue(arguments: [String]) throws {
        let trial = try Trial()
        let text = try trial.refused(arguments, ["SEGGET_QUEUE": Self.url])
        #expect(text.contains("SEGGET_QUEUE") && text.contains("`--enqueue`"), "\(text)")
        for line in ["queue = \(Self.url)", "queue", "queue ="] {
            let path = try trial.sandbox.write("conf", line + "\n")
            let text = try trial.refused(arguments, ["SEGGET_CONFIG": path])
            #expect(text.contains("line 1") && text.contains("`--enqueue`"), "\(line): \(text)")
        }
    }

    // MARK: Other paths

    @Test(arguments: [
        ["get", "-o", url], ["get", "-ohttp://u:hush@h/f"], ["get", "-d", url], ["get", "-i", url],
        ["get", "--netrc-file", url], ["get", "--config", url], ["verify", url],
        ["add", "-d", url], ["rename", "60ad", "-d", url], ["serve", "--log-file", url],
    ])
    func refusesURLAsPath(arguments: [String]) throws {
        let text = try Trial().refused(arguments + (arguments[0] == "get" ? [Self.url] : []))
        #expect(text.contains(", not a URL"), "\(text)")
        #expect(!text.contains("hush"), "\(text)")
    }

    @Test func refusesURLAsPathInList() throws {
        let trial = try Trial()
        for option in [
            "dir", "out", "load-cookies", "certificate", "private-key", "ca-certificate",
        ] {
            let list = try trial.sandbox.write("list", "\(Self.url)\n \(option)=http://h/x\n")
            for command in [["get", "-i", list], ["add", "-i", list]] {
                let text = try trial.refused(command)
                #expect(text.contains("`\(option)` takes"), "\(text)")
            }
        }
    }
}
