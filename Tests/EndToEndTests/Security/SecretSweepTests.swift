import Foundation
import Glibc
import TestSupport
import Testing

/// Secrets in every option that takes one, with every kind of failure: nothing reveals them.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SecretSweepTests {
    /// Each is used in one place only, and `me` and `p` are not secret.
    private static let secrets = [
        "URLUSR", "URLPWD", "QUERY7", "FRAGM7", "HEADR7", "COOKI7", "REFER7", "PROXY7", "SIGNED",
        "HOPUSR", "HOPPWD", "FIRST7", "OPTPWD", "AGNT77", "MIRR77", "bWU6T1BUUFdE",
        "VVJMVVNSOlVSTFBXRA",
    ]

    private let content = Content(size: 300_000, seed: 9)
    private let origin: Origin

    init() throws {
        let content = content
        origin = try Origin { request in
            let parts = request.path.split(separator: "/").map(String.init)
            let kind = parts.count > 1 ? parts[1] : ""
            let host = request.header("Host") ?? ""
            if parts.first == "first" {
                return .redirect(
                    "http://HOPUSR:HOPPWD@\(host)/then/\(kind)/file.bin?sig=SIGNED#FRAGM7")
            }
            return Self.reply(kind, request, content)
        }
    }

    private static func reply(
        _ kind: String, _ request: OriginRequest, _ content: Content
    ) -> OriginReply {
        var reply = OriginReply.file(content, for: request, etag: "\"a\"")
        switch kind {
        case "loop": return .redirect("/first/loop/file.bin?sig=SIGNED")
        case "ftp": return .redirect("ftp://HOPUSR:HOPPWD@h/SIGNED?sig=SIGNED")
        case "changed":
            reply.set("ETag", "\"\(request.number)\"")
            reply.cutAfter = 50_000
        case "coding": reply.set("Content-Encoding", "br")
        case "short": reply.cutAfter = 0
        case "range":
            if request.method == "GET" { reply.set("Content-Range", "bytes 7-9/12") }
        case "silent": reply.stallAfter = 0
        case "reset": return .resetWithoutReply
        case "garbage": return .raw("\u{1}\u{2}garbage\r\n\r\n")
        case "later":
            reply = .text(503)
            reply.set("Retry-After", "86400")
        default: if let status = Int(kind) { return .text(status) }
        }
        return reply
    }

    private func url(_ kind: String) -> String {
        "http://URLUSR:URLPWD@127.0.0.1:\(origin.port)/first/\(kind)/file.bin?key=QUERY7#FRAGM7"
    }

    private static let own = [
        "-H", "X-Key: HEADR7", "-b", "k=COOKI7", "--referer", "http://r.example/?REFER7",
        "--retries", "1", "--connect-timeout", "3", "--stall-timeout", "3",
    ]
    private static let hook = "/bin/sh -c 'env; cat'"

    /// Expects no secret in a text.
    private func expectNone(
        _ text: some StringProtocol, _ what: String, _ location: SourceLocation = #_sourceLocation
    ) {
        for secret in Self.secrets where text.contains(secret) {
            Issue.record("\(what): \(secret) in \(text)", sourceLocation: location)
        }
    }

    /// Expects no secret in the output, nor in the names, contents and attributes of the files.
    private func expectNone(
        _ outcome: Run.Outcome, _ sandbox: Sandbox, _ what: String
    ) throws {
        expectNone(outcome.output + outcome.errorOutput, what)
        for name in try sandbox.names() {
            let path = sandbox.path(name)
            let bytes = try sandbox.read(name)
            let text = String(decoding: bytes, as: UTF8.self)
            // The download and the test's own input end in .bin. Their content is not searched.
            expectNone(name.hasSuffix(".bin") ? "" : text, "\(what): \(name)")
            expectNone(name, what)
            expectNone(try attributes(path), "\(what): attributes of \(name)")
        }
    }

    private func attributes(_ path: String) throws -> String {
        let script =
            "import os, sys; p = sys.argv[1]; print([os.getxattr(p, n) for n in os.listxattr(p)])"
        return try Run("/usr/bin/python3", ["-c", script, path]).wait().output
    }

    /// Every kind of reply, for one URL with hooks and all options, and for a list.
    @Test(arguments: [
        ("right", 0), ("404", 69), ("401", 77), ("403", 77), ("407", 77), ("500", 69), ("429", 69),
        ("302", 69), ("loop", 69), ("ftp", 77), ("changed", 69), ("coding", 76), ("short", 69),
        ("range", 76), ("silent", 69), ("reset", 69), ("garbage", 69), ("later", 69),
    ])
    func noReplyRevealsSecrets(kind: String, code: Int32) async throws {
        let sandbox = try Sandbox()
        let options = Self.own + ["--on-error", Self.hook, "--on-complete", Self.hook]
        let outcome = try await Run(
            [url(kind), "--json", "-v", "--xattr", "--keep-manifest"] + options, in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == code, "\(kind): \(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("SEGGET_TASK_URL=http://127.0.0.1:"))
        try expectNone(outcome, sandbox, kind)
        // The same URL in a list, with the default output.
        let other = try Sandbox()
        let list = try other.write(
            "list.bin", "\(url(kind))\n  http-user=me\n  http-passwd=OPTPWD\n")
        let listed = try await Run(["-i", list] + Self.own, in: other.path).ended()
        #expect(listed.exitCode == code, "\(kind): \(listed.errorOutput)")
        try expectNone(listed, other, "\(kind) in a list")
    }

    /// Failures of DNS, TLS and proxies, and mistakes on the command line.
    @Test func otherFailuresRevealNoSecrets() async throws {
        let right = url("right")
        let host = "127.0.0.1:\(origin.port)"
        let cases: [(String, [String], Int32)] = [
            ("probe", ["probe", right, "--json"], 0), ("probe in words", ["probe", right], 0),
            ("dry run", [right, "--dry-run"], 0), ("probe of 404", ["probe", url("404")], 69),
            ("DNS", ["http://URLUSR:URLPWD@no.invalid/f?QUERY7#FRAGM7", "-v"], 69),
            ("refused", ["http://URLUSR:URLPWD@127.0.0.1:1/f?QUERY7", "-v", "--json"], 69),
            ("TLS", ["https://URLUSR:URLPWD@\(host)/f?QUERY7", "-v", "--json"], 69),
            ("proxy", [right, "--proxy", "http://p:PROXY7@127.0.0.1:1", "-v"], 69),
            ("proxy's name", [right, "--proxy", "http://p:PROXY7@no.invalid:1", "-v"], 69),
            ("socks", [right, "--proxy", "socks5h://p:PROXY7@127.0.0.1:1", "-v"], 69),
            ("bad proxy", [right, "--proxy", "gopher://p:PROXY7@h"], 64),
            ("checksum", [right, "-o", "a.txt", "--checksum", "crc32:00000000", "--json"], 65),
            ("too large", [right, "--max-size", "1000", "--json", "-v"], 78),
            ("mirror", [right, "--mirror", "http://u:MIRR77@127.0.0.1:1/x?MIRR77", "-v"], 0),
            ("bad mirror", [right, "--mirror", "ftp://u:MIRR77@h/x?MIRR77"], 64),
            ("bad URL", ["http://URLUSR:URLPWD@[::1/f?QUERY7#FRAGM7"], 64),
            ("bad URL without @", ["http://[::1/f?QUERY7#FRAGM7"], 64),
            ("scheme", ["ftp://URLUSR:URLPWD@h/f?QUERY7#FRAGM7"], 64),
            ("bad option", [right, "-x", "0", "-u", "me:OPTPWD"], 64),
            ("unknown option", [right, "--no-such-option"], 64),
            ("no file name", [right, "-o", "a/"], 64),
            ("bad header", [right, "-H", "HEADR7"], 64),
            ("bad header's value", [right, "-H", "X: HEADR7\nY: HEADR7"], 64),
            ("bad agent", [right, "-A", "AGNT77\u{1}"], 64),
            ("no folder", [right, "-o", "/dev/null/a"], 73),
            ("two files", [right, url("404"), "--json"], 69),
            ("digest", [url("401"), "-u", "me:OPTPWD", "--auth", "digest", "-v"], 77),
        ]
        for (name, arguments, code) in cases {
            let sandbox = try Sandbox()
            let outcome = try await Run(arguments + Self.own, in: sandbox.path).ended()
            let isExpected =
                outcome.exitCode == code || (code == 78 && (outcome.exitCode ?? 0) > 0)
            #expect(isExpected, "\(name): \(outcome.errorOutput)")
            try expectNone(outcome, sandbox, name)
        }
    }

    /// Mistakes in lists, configuration files and variables, and a file that grows too large.
    @Test func mistakesInFilesRevealNoSecrets() async throws {
        let right = url("right")
        let texts = [
            "  header=X: HEADR7\n", "\(right)\n  HEADR7\n", "\(right)\n  http://u:MIRR77@h/\n",
            "\(right)\n  split=HEADR7\n", "\(right)\n  header=HEADR7\n",
            "\(right)\n  all-proxy=gopher://u:PROXY7@h\n", "\(right)\n  nosuch=HEADR7\n",
            "\(right)\u{1}\n", "http://URLUSR:URLPWD@[::1/f?QUERY7\n",
        ]
        for text in texts {
            let sandbox = try Sandbox()
            let list = try sandbox.write("list.bin", text)
            let outcome = try await Run(["-i", list], in: sandbox.path).ended()
            #expect(outcome.exitCode == 64, "\(text): \(outcome.errorOutput)")
            try expectNone(outcome, sandbox, text)
        }
        for text in [
            "header = HEADR7\n", "proxy = gopher://u:PROXY7@h\n", "HEADR7: x\n",
            "cookie-text = COOKI7\n", "retries = COOKI7!\n", "user = \"OPTPWD\n",
        ] {
            let sandbox = try Sandbox()
            let file = try sandbox.write("config.bin", text)
            let outcome = try await Run([right, "--config", file], in: sandbox.path).ended()
            #expect(outcome.exitCode == 64, "\(text): \(outcome.errorOutput)")
            try expectNone(outcome, sandbox, text)
        }
        let sandbox = try Sandbox()
        let variables = try await Run(
            [right], in: sandbox.path, environment: ["SEGGET_HEADER": "HEADR7"]
        ).ended()
        #expect(variables.exitCode == 64)
        try expectNone(variables, sandbox, "variables")
        // `ulimit -f` counts units of 512 bytes, so the file exceeds the limit.
        let full = try await Run(
            "/bin/sh",
            ["-c", "ulimit -f 100; exec \"$0\" \"$@\"", try Segget.binary(), right, "-v"]
                + ["--file-allocation", "none", "--json"], in: sandbox.path
        ).ended()
        #expect(full.exitCode == 74, "\(full.errorOutput)")
        try expectNone(full, sandbox, "full")
    }

    /// No other process sees secrets on segget's command line or in its threads' names.
    @Test func runningProcessesShowNoSecrets() async throws {
        let sandbox = try Sandbox()
        for arguments in [
            [
                "http://URLUSR:URLPWD@PLACE/f#FRAGM7", "-u", "me:OPTPWD", "-HX-Key:HEADR7",
                "-b", "k=COOKI7", "--referer", "http://r.example/?REFER7", "--mirror",
                "http://u:MIRR77@PLACE/g?MIRR77", "--no-proxy=*", "--proxy=http://p:PROXY7@h:1",
            ],
            ["probe", "http://PLACE/f?QUERY7", "--user=me:OPTPWD", "--header", "A: HEADR7"],
            [
                "http://URLUSR:URLPWD@PLACE/f?a=QUERY7#FRAGM7", "http://PLACE/g?a=QUERY7",
                "--referer=http://u:REFER7@h/",
            ],
            // Repeated options, of which the last one counts, and combined short options.
            [
                "http://PLACE/f", "-u", "a:FIRST7", "-u", "FIRST7:", "-vu", "b:OPTPWD", "-b",
                "a=COOKI7",
                "--cookie-text", "b=COOKI7", "--proxy", "http://p:PROXY7@h:1", "--no-proxy=*",
                "--proxy=http://p:PROXY7@h:2", "--referer", "http://h/?REFER7", "--referer",
                "http://h/",
            ],
        ] {
            // Each process has its own origin: the last one's requests may arrive late.
            let origin = try Origin { _ in
                OriginReply.text(200).with { $0.delayBeforeHeaders = .infinity }
            }
            let place = "127.0.0.1:\(origin.port)"
            let child = try Run(
                arguments.map { $0.replacing("PLACE", with: place) }, in: sandbox.path)
            #expect(eventually(timeout: 120) { !origin.requests.isEmpty })
            try expectHidden(child)
            child.signal(SIGKILL)
            _ = try await child.ended()
        }
        // segget refuses an argument that is not UTF-8, because it could not find and hide it.
        let odd = try Run(
            "/bin/sh",
            [
                "-c", #"exec "$0" http://127.0.0.1:1/ -u "$(printf 'me:P\351')""#,
                try Segget.binary(),
            ], in: sandbox.path
        ).wait(timeout: 60)
        #expect(odd.end == .exit(64))
        #expect(odd.errorOutput.contains("argument 3 is not UTF-8"), "\(odd.errorOutput)")
        // segget hides its arguments while it waits for a list on standard input.
        let waiting = try Run(
            "/bin/sh",
            ["-c", "sleep 300 | exec \"$0\" \"$@\"", try Segget.binary(), "-i", "-"]
                + ["-u", "me:OPTPWD", "-H", "X: HEADR7"], in: sandbox.path)
        defer { waiting.signal(SIGKILL) }
        let isHidden = eventually(timeout: 60) {
            let lines = children(of: waiting.pid).map(commandLine)
            return lines.contains { $0.contains("-u *********") && !$0.contains("HEADR7") }
        }
        #expect(isHidden, "\(children(of: waiting.pid).map(commandLine))")
        for pid in children(of: waiting.pid) { kill(pid, SIGKILL) }
        _ = try await waiting.ended()
    }

    private func expectHidden(_ child: Run) throws {
        expectNone(commandLine(child.pid), "command line")
        let tasks = "/proc/\(child.pid)/task"
        for task in try FileManager.default.contentsOfDirectory(atPath: tasks) {
            for name in ["comm", "cmdline"] {
                let text = try? String(contentsOfFile: "\(tasks)/\(task)/\(name)", encoding: .utf8)
                expectNone(text ?? "", name)
            }
        }
    }

    private func commandLine(_ pid: pid_t) -> String {
        (try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8))?
            .replacing("\0", with: " ") ?? ""
    }

    private func children(of pid: pid_t) -> [pid_t] {
        let path = "/proc/\(pid)/task/\(pid)/children"
        let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
        return text.split(separator: " ").compactMap { pid_t($0) }
    }
}
