import TestSupport
import Testing

/// Tests variants of typed or pasted text.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct GivenTextTests {
    @Test(arguments: ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"])
    func standardOutputHasSeveralNames(name: String) throws {
        let stage = try Stage(size: 300_000)
        let outcome = try stage.run(["-q", "-o", name])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.standardOutput == stage.content.bytes(0..<300_000))
        #expect(try stage.names() == [])
        let queued = try QueueStage(size: 10)
        let add = try queued.start(["add", "http://127.0.0.1:1/f", "-o", name]).wait()
        #expect(add.end == .exit(64), "\(add.errorOutput)")
    }

    @Test func quotedTildeIsRefused() throws {
        let stage = try Stage(size: 10)
        for option in ["--directory=~/x", "--output=~/x"] {
            let outcome = try stage.run([option])
            #expect(
                outcome.end == .exit(64) && outcome.errorOutput.contains("`~`"),
                "\(outcome.errorOutput)")
        }
        #expect(try stage.run(["-d", "./~/x"]).end == .exit(0))
        #expect(try stage.names() == ["~"])
    }

    @Test func ignoresBlanksAroundURL() throws {
        let stage = try QueueStage(size: 1000)
        let url = stage.origin.url("/f.bin")
        let get = try Run([" \(url)\n"], in: stage.folder).wait()
        #expect(get.end == .exit(0), "\(get.errorOutput)")
        try stage.done("add", " \(url) ", "--again")
        #expect(try stage.tasks().first?["url"] as? String == url)
    }

    @Test func lastAtSignSeparatesUserFromHost() throws {
        let stage = try QueueStage(size: 1000)
        stage.origin.bend { request, reply in
            // `me@corp:hush`.
            if request.header("Authorization") != "Basic bWVAY29ycDpodXNo" { reply = .text(401) }
        }
        let url = stage.origin.url("/f.bin").replacing("://", with: "://me@corp:hush@")
        let get = try Run([url], in: stage.folder).wait()
        #expect(get.end == .exit(0), "\(get.errorOutput)")
        let id = try stage.done("add", url, "--again").split(separator: "\n").joined()
        #expect(try stage.run("run").end == .exit(0))
        #expect(try stage.state(id) == "completed")
        #expect(!(try stage.done("show", id).contains("hush")))
    }

    @Test func listReportsWhyHeaderIsRefused() throws {
        let stage = try Stage(size: 10)
        let sandbox = try Sandbox()
        let list = try sandbox.write(
            "list", "\(stage.origin.url("/f"))\n header=Accept-Encoding: gzip\n")
        let outcome = try Run(["-i", list], in: stage.folder).wait()
        #expect(outcome.end == .exit(64), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("the file's own bytes"), "\(outcome.errorOutput)")
        #expect(stage.origin.requests.isEmpty)
    }

    /// This machine's clock is years behind that of the server, which requests a delay of one
    /// second.
    @Test func retryAfterIsRelativeToDateOfReply() throws {
        let stage = try Stage(size: 300_000)
        let refused = Guarded(0)
        stage.origin.bend { _, reply in
            let isFirst = refused.withLock { count in
                defer { count += 1 }
                return count == 0
            }
            guard isFirst else { return }
            reply = .text(503).with {
                $0.set("Date", "Sun, 06 Nov 2094 08:49:37 GMT")
                $0.set("Retry-After", "Sun, 06 Nov 2094 08:49:38 GMT")
            }
        }
        let outcome = try stage.run(["-v"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight())
    }
}
