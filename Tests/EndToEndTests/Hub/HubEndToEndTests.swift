import Foundation
import Glibc
import TestSupport
import Testing

/// Repositories of the Hugging Face Hub, from a stub of it.
@Suite(.timeLimit(.minutes(5)))
struct HubEndToEndTests {
    private typealias File = HubStage.File

    private func stage(_ files: [HubStage.File] = HubStage.model) throws -> HubStage {
        try HubStage(files)
    }

    // MARK: Downloads

    /// A small file costs one request, a large one another for its link.
    @Test(arguments: ["hf://org/model", "hf://datasets/org/model@v1", "hf://org/model@refs/pr/1"])
    func downloadsRepository(address: String) throws {
        let stage = try stage()
        let outcome = try stage.run("get", address, "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in stage.files { #expect(try stage.isRight(file.path)) }
        let hub = stage.hub.requests
        #expect(hub.allSatisfy { $0.method == "GET" })
        #expect(hub.count { $0.path.hasPrefix("/api/") } == 2)
        #expect(hub.count { $0.path.contains("/resolve/") } == stage.files.count)
        #expect(
            hub.allSatisfy { !$0.path.contains("/resolve/") || $0.path.contains(HubStage.commit) })
        #expect(stage.large.requests.allSatisfy { $0.target.contains("?Signature=") })
    }

    /// The ledger shows what is complete; only the commit and the files are listed again.
    @Test func secondRunRequestsNoBytes() throws {
        let stage = try stage()
        #expect(try stage.run("get", "hf://org/model", "-d", "m", "-q").end == .exit(0))
        let count = stage.requestsForBytes
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.requestsForBytes == count)
    }

    /// What `hf download --local-dir` left is read, and not requested.
    @Test func foreignFilesAreReadOnce() throws {
        let stage = try stage()
        for file in stage.files {
            let path = URL(filePath: stage.sandbox.path("m/\(file.path)"))
            try FileManager.default.createDirectory(
                at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
            try file.content.write(to: path.path)
        }
        // One byte is wrong, as after `hf` has published a corrupted file.
        try Data([1]).write(to: URL(filePath: stage.sandbox.path("m/config.json")))
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q", "--overwrite")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in stage.files { #expect(try stage.isRight(file.path)) }
        #expect(stage.requestsForBytes <= 2)
        #expect(stage.hub.requests.allSatisfy { $0.method == "GET" })
    }

    /// Beside each file are the commit and the digest, as `hf` expects them.
    @Test func recordsOfHubLibraryAreThere() throws {
        let stage = try stage()
        #expect(try stage.run("get", "hf://org/model", "-d", "m", "-q").end == .exit(0))
        for file in stage.files {
            let text = try String(
                decoding: stage.sandbox.read(
                    "m/.cache/huggingface/download/\(file.path).metadata"), as: UTF8.self)
            let lines = text.components(separatedBy: "\n")
            try #require(lines.count == 4, "\(text)")
            #expect(lines[0] == HubStage.commit)
            #expect(lines[1] == (file.isLarge ? file.content.sha256Hex : file.gitSHA1))
            var status = stat()
            stat(stage.sandbox.path("m/\(file.path)"), &status)
            #expect(Double(lines[2]) ?? 0 >= Double(status.st_mtim.tv_sec) - 1)
        }
        #expect(try stage.sandbox.read("m/.cache/huggingface/.gitignore") == Data("*".utf8))
    }

    /// The list of all files of the commit is where `hf` looks for it, and is not replaced.
    @Test func listForHubLibraryIsThere() throws {
        let stage = try stage()
        let path = "m/.cache/huggingface/trees/\(HubStage.commit).json"
        func get(_ address: String) throws {
            let outcome = try stage.run("get", address, "--include", "*.json", "-d", "m", "-q")
            #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        }
        try get("hf://org/model/config.json")
        #expect(!stage.has(String(path.dropFirst(2))))
        try get("hf://org/model")
        struct Tree: Decodable {
            struct File: Decodable {
                var size: Int64
                var blob_id: String
                var lfs_sha256: String?
                var lfs_size: Int64?
            }
            var format_version: Int
            var files: [String: File]
        }
        let tree = try JSONDecoder().decode(Tree.self, from: stage.sandbox.read(path))
        #expect(tree.format_version == 1)
        #expect(Set(tree.files.keys) == Set(stage.files.map(\.path)))
        for file in stage.files {
            let entry = try #require(tree.files[file.path])
            #expect(entry.size == file.size && entry.blob_id == file.gitSHA1)
            #expect(entry.lfs_sha256 == (file.isLarge ? file.content.sha256Hex : nil))
            #expect(entry.lfs_size == (file.isLarge ? file.size : nil))
        }
        try Data("{}".utf8).write(to: URL(filePath: stage.sandbox.path(path)))
        try get("hf://org/model")
        #expect(try stage.sandbox.read(path) == Data("{}".utf8))
    }

    // MARK: The terminal

    /// The line with the number of files disappears when the list is complete, and on Ctrl-C.
    @Test(arguments: [false, true]) func listingIsShown(isStopped: Bool) throws {
        let stage = try stage()
        let isSeen = Guarded(false)
        stage.faults.withLock { faults in
            faults.page = 2
            faults.bend = { request, reply in
                guard request.target.contains("cursor=") else { return }
                reply.stallAfter = 0
                reply.release = isSeen
            }
        }
        let variables = stage.environment.map { "\($0)='\($1)'" }.joined(separator: " ")
        let screen = try Screen(
            [try Segget.binary(), "get", "hf://org/model", "-d", "m"], in: stage.sandbox.path,
            width: 80, environment: "LC_ALL=C.UTF-8 \(variables)")
        let isShown = try eventually { try screen.lines() == ["listing org/model: 2 files"] }
        #expect(isShown, "\(screen.shown)")
        if isStopped { try screen.press("C-c") } else { isSeen.withLock { $0 = true } }
        #expect(try eventually { try screen.text().contains("code ") }, "\(screen.shown)")
        let text = try screen.text()
        #expect(text.contains("code \(isStopped ? 130 : 0)"), "\(text)")
        #expect(!text.contains("listing"), "\(text)")
    }

    // MARK: What is downloaded

    @Test(arguments: [
        ("hf://org/model/config.json", ["config.json"]),
        ("hf://org/model/onnx/", ["onnx/a b.json"]), ("hf://org/model/onnx", ["onnx/a b.json"]),
        ("hf://org/model@v1/onnx/a b.json", ["onnx/a b.json"]),
    ])
    func addressChoosesFiles(address: String, chosen: [String]) throws {
        let stage = try stage()
        let outcome = try stage.run("get", address, "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in stage.files {
            #expect(stage.has(file.path) == chosen.contains(file.path), "\(file.path)")
        }
    }

    @Test func patternsChooseFiles() throws {
        let stage = try stage()
        let outcome = try stage.run(
            "get", "hf://org/model", "-d", "m", "-q", "--include", "*.json", "--exclude", "onnx/")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.has("config.json") && !stage.has("onnx/a b.json"))
        #expect(!stage.has("model.safetensors"))
    }

    @Test func quantizationChoosesParts() throws {
        let names = [
            "x-Q4_K_M-00001-of-00002.gguf", "x-Q4_K_M-00002-of-00002.gguf", "x-Q8_0.gguf",
            "mmproj-Q4_K_M.gguf",
        ]
        let stage = try stage(names.map { File(path: $0, size: 1000, isLarge: true) })
        let outcome = try stage.run("get", "hf://org/model:q4_k_m", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(names.map { stage.has($0) } == [true, true, false, false])
        let other = try stage.run("get", "hf://org/model:Q2_K", "-d", "m", "-q")
        #expect(other.end == .exit(69))
        #expect(other.errorOutput.contains("it has `Q4_K_M`, `Q8_0`"), "\(other.errorOutput)")
    }

    /// The plan names the commit, and brings the same bytes without another list.
    @Test func planNamesCommit() throws {
        let stage = try stage()
        let outcome = try stage.run("plan", "hf://org/model", "-o", "p")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let plan = try String(decoding: stage.sandbox.read("p"), as: UTF8.self)
        #expect(plan.contains(#""pin":"\#(HubStage.commit)""#))
        #expect(plan.contains(#""kind":"hf""#) && !plan.contains(HubStage.token))
        let count = stage.hub.requests.count
        let download = try stage.run("get", "--plan", "p", "-d", "m", "-q")
        #expect(download.end == .exit(0), "\(download.errorOutput)")
        for file in stage.files { #expect(try stage.isRight(file.path)) }
        #expect(!stage.hub.requests.dropFirst(count).contains { $0.path.hasPrefix("/api/") })
    }

    /// Without the network, complete files are enough; others are named.
    @Test func offlineRunSendsNoRequest() throws {
        let stage = try stage()
        let offline = ["HF_HUB_OFFLINE": "1"]
        let nothing = try stage.run("get", "hf://org/model", "-d", "m", variables: offline)
        #expect(nothing.end == .exit(69), "\(nothing.errorOutput)")
        #expect(stage.hub.requests.isEmpty)
        #expect(try stage.run("get", "hf://org/model", "-d", "m", "-q").end == .exit(0))
        let count = stage.hub.requests.count
        let complete = try stage.run("get", "hf://org/model", "-d", "m", variables: offline)
        #expect(complete.end == .exit(0), "\(complete.errorOutput)")
        #expect(
            complete.errorOutput.contains("4 of 4 files are complete"), "\(complete.errorOutput)")
        try FileManager.default.removeItem(atPath: stage.sandbox.path("m/config.json"))
        let missing = try stage.run("get", "hf://org/model", "-d", "m", variables: offline)
        #expect(missing.end == .exit(69), "\(missing.errorOutput)")
        #expect(missing.errorOutput.contains("`config.json`"), "\(missing.errorOutput)")
        #expect(
            stage.hub.requests.count == count && stage.large.requests.allSatisfy { $0.number <= 9 })
    }

    /// Without the network, too, the last line and `--json` give the path.
    @Test func offlineRunNamesSnapshot() throws {
        let stage = try stage()
        #expect(try stage.run("get", "hf://org/model", "-q").end == .exit(0))
        let count = stage.hub.requests.count
        let outcome = try stage.run(
            "get", "hf://org/model", "--json", variables: ["HF_HUB_OFFLINE": "1"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let path = stage.sandbox.path(
            "home/hub/models--org--model/snapshots/\(HubStage.commit)")
        #expect(outcome.errorOutput.hasSuffix("in `\(path)`\n"), "\(outcome.errorOutput)")
        let summary = try #require(outcome.output.split(separator: "\n").last)
        let object = try JSONSerialization.jsonObject(with: Data(summary.utf8)) as? [String: Any]
        #expect(object?["path"] as? String == path, "\(outcome.output)")
        #expect(stage.hub.requests.count == count)
    }

    @Test func probeShowsCommitAndFigures() throws {
        let stage = try stage()
        let outcome = try stage.run("probe", "hf://org/model")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(outcome.output.contains(HubStage.commit), "\(outcome.output)")
        #expect(outcome.output.contains("4 files"), "\(outcome.output)")
        #expect(stage.requestsForBytes == 0)
    }

    // MARK: The token

    /// Only the Hub gets the token, from the environment or a file.
    @Test(arguments: ["HF_TOKEN", "HF_TOKEN_PATH", "HF_HOME", "option"])
    func onlyHubGetsToken(source: String) throws {
        let stage = try stage()
        _ = try stage.sandbox.write("home-token", " \(HubStage.token)\r\n")
        try FileManager.default.createDirectory(
            atPath: stage.sandbox.path("home"), withIntermediateDirectories: true)
        if source == "HF_HOME" { _ = try stage.sandbox.write("home/token", HubStage.token) }
        let variables: [String: String] =
            switch source {
            case "HF_TOKEN": ["HF_TOKEN": HubStage.token]
            case "HF_TOKEN_PATH": ["HF_TOKEN_PATH": stage.sandbox.path("home-token")]
            default: [:]
            }
        let arguments =
            ["get", "hf://org/model", "-d", "m", "--header-cross-origin"]
            + (source == "option" ? ["--hf-token-file", "home-token"] : [])
        let outcome = try Run(
            arguments, in: stage.sandbox.path,
            environment: stage.environment.merging(variables) { $1 }
        ).wait()
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        let asked = stage.hub.requests
        #expect(asked.allSatisfy { $0.header("Authorization") == "Bearer \(HubStage.token)" })
        #expect(!stage.large.requests.isEmpty)
        #expect(stage.large.requests.allSatisfy { $0.header("Authorization") == nil })
        // Another server than the Hub itself is named on each run.
        #expect(outcome.errorOutput.contains("the token for the Hub goes to"))
        #expect(!(outcome.errorOutput + outcome.output).contains(HubStage.token))
    }

    /// A plan of given URLs gets no token, whatever its addresses are.
    @Test func otherPlanGetsNoToken() throws {
        let stage = try stage()
        let url = stage.hub.url("/org/model/resolve/\(HubStage.commit)/config.json")
        #expect(try stage.run("plan", url, "-o", "p").end == .exit(0))
        let outcome = try stage.run(
            "get", "--plan", "p", "-d", "m", "-q", variables: ["HF_TOKEN": HubStage.token])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(stage.hub.requests.allSatisfy { $0.header("Authorization") == nil })
    }

    // MARK: Faults

    /// A file with the right size and another content is not published.
    @Test(arguments: ["config.json", "model.safetensors"])
    func corruptedFileIsRefused(path: String) throws {
        let stage = try stage()
        stage.faults.withLock { faults in
            let corrupt: @Sendable (OriginRequest, inout OriginReply) -> Void = { request, reply in
                if request.path.hasSuffix(path) { reply.corruptAt = [100] }
            }
            (faults.bend, faults.bendLarge) = (corrupt, corrupt)
        }
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(path))
        for file in stage.files {
            #expect(stage.has(file.path) == (file.path != path), "\(file.path)")
        }
    }

    /// Each of 120 files has one wrong byte: none is published.
    @Test func eachCorruptedFileIsRefused() throws {
        let files = (0..<120).map {
            File(path: "f\($0)", size: Int64(1 + $0 * 331), isLarge: $0.isMultiple(of: 2))
        }
        let stage = try stage(files)
        stage.faults.withLock { faults in
            let corrupt: @Sendable (OriginRequest, inout OriginReply) -> Void = { request, reply in
                guard let file = files.first(where: { request.path.hasSuffix("/\($0.path)") })
                else { return }
                reply.corruptAt = [file.size * 37 % 101 % file.size]
            }
            (faults.bend, faults.bendLarge) = (corrupt, corrupt)
        }
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(65), "\(outcome.errorOutput)")
        for file in files { #expect(!stage.has(file.path), "\(file.path)") }
    }

    /// Whatever the moment of a kill, what is complete is not requested again.
    @Test func killedDownloadRequestsNothingTwice() throws {
        let files =
            (0..<200).map { File(path: "d\($0 % 7)/f\($0)", size: Int64($0 * 41 % 5000)) }
            + (0..<2).map { File(path: "large\($0)", size: 2_000_000, isLarge: true) }
        let stage = try stage(files)
        var (kills, random) = (0, SystemRandomNumberGenerator())
        while kills < 10 {
            // A kill comes after some requests, not after some time.
            let complete = Set(files.map(\.path).filter { stage.has($0) })
            let before = stage.hub.requests.count
            let more = Int.random(in: 1...60, using: &random)
            let run = try Run(
                ["get", "hf://org/model", "-d", "m", "-q"], in: stage.sandbox.path,
                environment: stage.environment)
            _ = run.waits { stage.hub.requests.count >= before + more }
            run.signal(SIGKILL)
            let end = try run.wait().end
            let again = stage.hub.requests.dropFirst(before).filter { request in
                complete.contains { request.path.hasSuffix("\(HubStage.commit)/\($0)") }
            }
            #expect(!again.contains { $0.path.contains("/resolve/") })
            if end == .exit(0) { break }
            kills += 1
        }
        #expect(kills > 0)
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in files { #expect(try stage.isRight(file.path)) }
    }

    @Test func pagesAreFollowed() throws {
        let files = (1...25).map { File(path: "f\($0).txt", size: 100) }
        let stage = try stage(files)
        let failed = Tally()
        stage.faults.withLock { faults in
            faults.page = 10
            faults.bend = { request, reply in
                // The second page fails once.
                if request.target.contains("cursor=10"), failed.add() == 1 { reply = .text(503) }
            }
        }
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in files { #expect(try stage.isRight(file.path)) }
    }

    @Test func pageThatWasReadIsRefused() throws {
        let stage = try stage()
        stage.faults.withLock { $0.loops = true }
        let outcome = try stage.run("plan", "hf://org/model", "-o", "p")
        #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("its next page was read before"))
        #expect(!FileManager.default.fileExists(atPath: stage.sandbox.path("p")))
    }

    @Test(arguments: [
        (
            #"{"type":"file","oid":"\#(String(repeating: "1", count: 40))","size":5,"path":"../x"}"#,
            "`../x` cannot be a path"
        ),
        (
            #"{"type":"file","oid":"\#(String(repeating: "1", count: 40))","size":5,"path":"a\\..\\x"}"#,
            "cannot be a path"
        ),
        (
            #"{"type":"file","oid":"\#(String(repeating: "1", count: 40))","size":5,"path":"C:/x"}"#,
            "`C:/x` cannot be a path"
        ),
        (#"{"type":"file","size":5,"path":"x"}"#, "`x` has no size or no digest"),
        (#"{"type":"file","oid":"12","size":5,"path":"x"}"#, "`x` has no size or no digest"),
        (
            #"{"type":"file","oid":"\#(String(repeating: "1", count: 40))","path":"x"}"#,
            "`x` has no size or no digest"
        ),
        ("nonsense", "not the JSON"),
    ])
    func badEntryIsRefused(entry: String, message: String) throws {
        let stage = try stage()
        stage.faults.withLock { $0.entries = [entry] }
        let outcome = try stage.run("plan", "hf://org/model", "-o", "p")
        #expect(outcome.end == .exit(76), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(message), "\(outcome.errorOutput)")
    }

    @Test(arguments: [
        ("hf://org/none", 77, "the Hub has no repository `org/none`"),
        ("hf://org/gated", 77, "access to `org/gated` must be requested"),
        ("hf://org/model@v9", 69, "`org/model` has no revision `v9`"),
        ("hf://org/model/confg.json", 69, "similar: `config.json`"),
        ("hf://org/model/none/", 69, "the repository has no file or folder `none`"),
        ("hf://gpt2", 64, "needs an organization and a name"),
        ("hf://kernels/org/model", 64, "downloads no kernels"),
        ("hf://org/model:", 64, "a quantization"),
        ("hf://org/model/../x", 64, "is not a path in a repository"),
        ("https://huggingface.co/org/model/blob/main/a.json", 64, "hf://org/model@main/a.json"),
        ("https://hf.co/datasets/org/d/tree/main/sub", 64, "hf://datasets/org/d@main/sub/"),
    ])
    func refusalNamesCause(address: String, code: Int32, message: String) throws {
        let stage = try stage()
        let outcome = try stage.run("get", address, "-d", "m", "-q")
        #expect(outcome.end == .exit(code), "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains(message), "\(outcome.errorOutput)")
        #expect(!stage.has(""))
    }

    /// The link of a large file expires: the same range is requested with a new one.
    @Test func expiredLinkIsResolvedAgain() throws {
        let stage = try stage()
        let count = Tally()
        stage.faults.withLock { faults in
            faults.bendLarge = { _, reply in
                // The bytes of the first link end in the middle, and then it is refused.
                switch count.add() {
                case 1: reply.cutAfter = 1_000_000
                case 2, 3: reply = .text(403, "Request has expired")
                default: break
                }
            }
        }
        let outcome = try stage.run("get", "hf://org/model/model.safetensors", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        #expect(try stage.isRight("model.safetensors"))
    }

    /// The repository has another name now: the Hub redirects, and gets the token there, too.
    @Test func movedRepositoryIsFollowed() throws {
        let stage = try stage()
        stage.faults.withLock { faults in
            faults.bend = { request, reply in
                guard request.path.contains("/org/old/") else { return }
                let place = request.target.replacingOccurrences(
                    of: "/org/old/", with: "/org/model/")
                reply = .text(307, headers: [HeaderField("Location", place)])
            }
        }
        let outcome = try stage.run(
            "get", "hf://org/old", "-d", "m", "-q", variables: ["HF_TOKEN": HubStage.token])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in stage.files { #expect(try stage.isRight(file.path)) }
        #expect(
            stage.hub.requests.allSatisfy {
                $0.header("authorization") == "Bearer \(HubStage.token)"
            })
    }

    @Test(arguments: [("hf_a\n", 0), ("  hf_a\r\n", 0), ("hf_a\nhf_b", 64), ("hf_a hf_b", 64)])
    func tokenWithLineBreak(token: String, code: Int32) throws {
        let stage = try stage()
        let file = try stage.sandbox.write("token", token)
        let outcome = try stage.run(
            "get", "hf://org/model", "-d", "m", "-q", "--hf-token-file", file)
        #expect(outcome.end == .exit(code), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("hf_"))
        #expect(stage.hub.requests.allSatisfy { $0.header("authorization") == "Bearer hf_a" })
    }

    /// A small file arrives in a content coding: the digest is that of the decoded bytes.
    @Test func codedSmallFileIsDecoded() throws {
        let stage = try stage()
        let plain = stage.sandbox.path("plain")
        try stage.files[1].content.write(to: plain)
        #expect(try Run("/usr/bin/gzip", [plain]).wait().end == .exit(0))
        let coded = [UInt8](try stage.sandbox.read("plain.gz"))
        stage.faults.withLock { faults in
            faults.bend = { request, reply in
                guard request.path.contains("/resolve/"), request.path.hasSuffix("b.json") else {
                    return
                }
                reply = OriginReply(
                    status: 200, headers: [HeaderField("Content-Encoding", "gzip")],
                    body: .bytes(coded))
                reply.framing = .chunked
            }
        }
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in stage.files { #expect(try stage.isRight(file.path)) }
    }

    /// The server of large files ignores ranges, or refuses one that is right.
    @Test(arguments: [200, 403])
    func badReplyToRangeIsSurvived(status: Int) throws {
        let stage = try stage()
        let count = Tally()
        stage.faults.withLock { faults in
            faults.bendLarge = { request, reply in
                if status == 403 {
                    if count.add() == 1 { reply = .text(403, "invalid range") }
                } else {
                    let content = HubStage.model[2].content
                    reply = OriginReply(
                        status: 200, headers: [HeaderField("ETag", "\"large\"")],
                        body: .content(content, 0..<content.size))
                }
            }
        }
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
        for file in stage.files { #expect(try stage.isRight(file.path)) }
        #expect(
            stage.hub.requests.count { $0.path.hasSuffix("model.safetensors") }
                == (status == 403 ? 2 : 1))
    }

    /// The commit is removed after it was listed: each file fails, and nothing is published.
    @Test func vanishedCommitFails() throws {
        let stage = try stage()
        stage.faults.withLock { faults in
            faults.bend = { request, reply in
                guard request.path.contains("/resolve/") else { return }
                reply = .text(404, headers: [HeaderField("X-Error-Code", "RevisionNotFound")])
            }
        }
        let outcome = try stage.run("get", "hf://org/model", "-d", "m", "-q")
        #expect(outcome.end == .exit(69), "\(outcome.errorOutput)")
        for file in stage.files { #expect(!stage.has(file.path)) }
    }

    // MARK: Plain URLs

    /// A `/resolve/` URL is a plain one: no token, and the current folder; the Hub's digest counts.
    @Test(arguments: [false, true])
    func plainURLIsVerified(isWrong: Bool) throws {
        let stage = try stage()
        if isWrong {
            stage.faults.withLock { $0.bendLarge = { _, reply in reply.corruptAt = [7] } }
        }
        let url = stage.hub.url("/org/model/resolve/main/model.safetensors")
        let outcome = try stage.run("get", url, variables: ["HF_TOKEN": HubStage.token])
        #expect(outcome.end == .exit(isWrong ? 65 : 0), "\(outcome.errorOutput)")
        #expect(stage.has("model.safetensors", in: ".") == !isWrong)
        #expect(outcome.errorOutput.contains("sha-256:\(stage.files[2].content.sha256Hex)"))
        #expect(stage.hub.requests.allSatisfy { $0.header("Authorization") == nil })
    }

    // MARK: The queue

    /// The queue takes files of the Hub as one task, and remembers where the token is, not the token.
    @Test(arguments: [true, false])
    func queueDownloadsRepository(hasVariable: Bool) throws {
        let stage = try stage()
        let queue = stage.sandbox.path("q/queue.sqlite")
        let file = try stage.sandbox.write("token", HubStage.token)
        let variables = hasVariable ? ["HF_TOKEN": HubStage.token] : ["HF_TOKEN_PATH": file]
        let added = try stage.run(
            "add", "--queue", queue, "hf://org/model", "-d", "m", "--exclude", "empty.txt",
            variables: variables)
        #expect(added.end == .exit(0), "\(added.errorOutput)")
        #expect(stage.requestsForBytes == 0)
        // The endpoint is that of the time at which the task was added.
        let worker = try stage.run(
            "run", "--queue", queue,
            variables: (hasVariable ? variables : [:]).merging(["HF_ENDPOINT": "http://127.0.0.1:1"]
            ) {
                $1
            })
        #expect(worker.end == .exit(0), "\(worker.errorOutput)")
        for file in stage.files where file.size > 0 { #expect(try stage.isRight(file.path)) }
        #expect(!stage.has("empty.txt"))
        #expect(
            stage.hub.requests.allSatisfy {
                $0.header("Authorization") == "Bearer \(HubStage.token)"
            })
        #expect(stage.large.requests.allSatisfy { $0.header("Authorization") == nil })
        let folder = stage.sandbox.path("q")
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let bytes = FileManager.default.contents(atPath: "\(folder)/\(name)") ?? Data()
            #expect(bytes.range(of: Data(HubStage.token.utf8)) == nil, "\(name)")
        }
    }
}
