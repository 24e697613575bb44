import Glibc
import TestSupport
import Testing

/// Logins by redirect and cookie: how many segget needs, and the file of `--cookie-jar`.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct LoginEndToEndTests {
    private let files: Sandbox
    private let sandbox: Sandbox

    init() throws { (files, sandbox) = (try Sandbox(), try Sandbox()) }

    /// Thirty files of a list need one login, with any number of jobs.
    @Test(arguments: [Int64(20_000), 600_000], [["-j", "30"], []])
    func filesOfAListShareOneLogin(size: Int64, jobs: [String]) async throws {
        let stage = try LoginStage(size: size)
        let list = (1...30).map { stage.data.url("/f\($0)") + "\n" }.joined()
        let outcome = try await Run(
            ["-i", try files.write("list", list), "-q", "--netrc-file", try stage.netrc(in: files)]
                + jobs, in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 0, "\(outcome.errorOutput)")
        for number in 1...30 {
            #expect(try stage.content.firstDifference(at: sandbox.path("f\(number)")) == nil)
        }
        #expect(stage.logins == 1)
    }

    /// The login server refuses, and no file waits for a login by another.
    @Test func failedLoginFailsEveryFile() async throws {
        let stage = try LoginStage(size: 1000)
        let urls = (1...8).map { stage.data.url("/f\($0)") }
        let outcome = try await Run(urls + ["-j", "8"], in: sandbox.path).ended()
        let text = outcome.errorOutput
        #expect(outcome.exitCode == 77, "\(text)")
        for url in urls {
            let message = "the server refused access to `\(url)`: 401 (Unauthorized)"
            #expect(text.contains("error: \(message)\nhint: give the right credentials"), "\(text)")
        }
        #expect(text.contains("0 of 8 files done, 8 failed"), "\(text)")
        #expect(try sandbox.names().isEmpty)
        #expect(stage.logins == 0)
    }

    /// Tasks of a queue share no cookies.
    @Test func eachTaskOfAQueueLogsIn() throws {
        let queue = try QueueStage(size: 1000)
        let stage = try LoginStage(size: 1000)
        let netrc = try stage.netrc(in: files)
        for number in 1...3 {
            try queue.done("add", stage.data.url("/f\(number)"), "--netrc-file", netrc)
        }
        #expect(try queue.run("run").end == .exit(0))
        #expect(stage.logins == 3)
    }

    // MARK: --cookie-jar

    private func run(_ stage: LoginStage, _ arguments: [String]) async throws
        -> Run.Outcome
    {
        try await Run(
            ["-q", "--netrc-file", try stage.netrc(in: files), "--overwrite"] + arguments,
            in: sandbox.path
        ).ended()
    }

    /// Returns the cookies of a file in Netscape's format, as `name=value`.
    private func cookies(_ name: String) throws -> Set<String> {
        let text = String(decoding: try files.read(name), as: UTF8.self)
        #expect(text.hasPrefix("# Netscape HTTP Cookie File\n"))
        let lines = text.split(separator: "\n").filter {
            !$0.hasPrefix("# ") && $0.contains("\t")
        }
        return Set(lines.map { $0.split(separator: "\t").suffix(2).joined(separator: "=") })
    }

    /// One run saves its cookies, and the next needs no login.
    @Test(arguments: [["/f1"], ["/f1", "/f2"]]) func cookieJarSavesLogin(paths: [String])
        async throws
    {
        let stage = try LoginStage(size: 20_000)
        let given = try files.write("given", "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\tfile\n")
        let jar = try files.write("jar", "old\n")
        chmod(jar, 0o644)
        let urls = paths.map { stage.data.url($0) }
        let first = try await run(stage, urls + ["--cookie", given, "--cookie-jar", jar])
        #expect(first.exitCode == 0, "\(first.errorOutput)")
        #expect(stage.logins == 1)
        #expect(try cookies("jar") == ["session=ok", "user=me", "a=file"])
        var status = stat()
        #expect(stat(jar, &status) == 0 && status.st_mode & 0o7777 == 0o600)
        #expect(try files.names() == ["given", "jar", "netrc"])
        let second = try await run(stage, urls + ["--cookie", jar, "--cookie-jar", jar])
        #expect(second.exitCode == 0, "\(second.errorOutput)")
        #expect(stage.logins == 1)
        #expect(try cookies("jar") == ["session=ok", "user=me", "a=file"])
        // curl reads the file too.
        let curl = try Run(
            "/usr/bin/curl",
            ["-q", "-sS", "-b", jar, "-o", "/dev/null", "-w", "%{http_code}", urls[0]]
        ).wait()
        #expect(curl.output == "200", "\(curl.errorOutput)")
    }

    /// A failed run saves its cookies too, except those of files with other header fields.
    @Test func cookieJarOmitsFilesWithOtherHeaders() async throws {
        let origin = try Origin { request in
            request.path == "/f3"
                ? .text(404)
                : .file(Content(size: 1000, seed: 1), for: request, etag: "\"a\"").with {
                    $0.headers.append(HeaderField("Set-Cookie", "\(request.path.dropFirst())=1"))
                }
        }
        let items = ["/f1", "/f2", "/f3"].map { origin.url($0) }
        let list = "\(items[0])\n\(items[1])\n header=X-Key: 1\n\(items[2])\n"
        let outcome = try await Run(
            ["-i", try files.write("list", list), "-q", "--cookie-jar", files.path("jar")],
            in: sandbox.path
        ).ended()
        #expect(outcome.exitCode == 69, "\(outcome.errorOutput)")
        #expect(try cookies("jar") == ["f1=1"])
    }

    /// segget refuses the path before the first request.
    @Test(arguments: ["missing/jar", "folder", "/dev/null"])
    func refusesCookieJarThatCannotBeWritten(name: String) async throws {
        let stage = try LoginStage(size: 1000)
        mkdir(sandbox.path("folder"), 0o700)
        let outcome = try await run(stage, [stage.data.url("/f1"), "--cookie-jar", name])
        #expect(outcome.exitCode == 73, "\(outcome.errorOutput)")
        #expect(stage.data.requests.isEmpty)
    }

    /// Lists, configuration files and `add` refuse the option.
    ///
    /// segget ignores the variable.
    @Test func cookieJarIsOnlyForTheCommandLine() throws {
        let url = "http://127.0.0.1:9/f"
        let list = try files.write("list", "\(url)\n cookie-jar=jar\n")
        #expect(try Run(["-i", list], in: sandbox.path).wait().exitCode == 64)
        let configuration = try files.write("config", "cookie-jar = jar\n")
        #expect(
            try Run([url, "--config", configuration], in: sandbox.path).wait().exitCode == 64)
        let added = try Run(["add", url, "--cookie-jar", "jar"], in: sandbox.path).wait()
        #expect(added.exitCode == 64)
        #expect(
            try Run([url, "--cookie-jar", "jar", "--no-cookies"], in: sandbox.path).wait().exitCode
                == 64)
        let variable = try Run(
            [url, "--dry-run"], in: sandbox.path, environment: ["SEGGET_COOKIE_JAR": "jar"]
        ).wait()
        #expect(variable.exitCode == 69, "\(variable.errorOutput)")
        #expect(try sandbox.names().isEmpty)
    }
}
