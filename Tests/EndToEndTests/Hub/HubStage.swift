import Crypto
import Foundation
import TestSupport

/// A stub of the Hugging Face Hub: the Hub itself, the server of its large files, and a folder.
///
/// The repository `org/model` exists as a model and as a data set.
final class HubStage: Sendable {
    /// A file of the repository.
    struct File: Sendable {
        var path: String
        var size: Int64
        /// Whether the file is not in git itself.
        var isLarge = false

        var content: Content { Content.named(path, size: size) }

        /// git's name of the content.
        var gitSHA1: String {
            var hash = Insecure.SHA1()
            hash.update(data: Array("blob \(size)\0".utf8))
            hash.update(data: content.bytes(0..<size))
            return hash.finalize().map { String(format: "%02x", $0) }.joined()
        }

        /// What the Hub's API states of the file.
        var entry: String {
            let large =
                isLarge
                ? #","lfs":{"oid":"\#(content.sha256Hex)","size":\#(size),"pointerSize":134}"# : ""
            return
                #"{"type":"file","oid":"\#(gitSHA1)","size":\#(size),"path":"\#(path)"\#(large)}"#
        }
    }

    /// How the stub deviates from the Hub.
    struct Faults: Sendable {
        /// The entries on a page of a tree.
        var page = 1000
        /// Whether the last page names the first one as the next.
        var loops = false
        /// Entries in place of those of the files.
        var entries: [String]?
        /// The commit of the branch.
        var commit = HubStage.commit
        /// Changes the reply of the Hub.
        var bend: @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
        /// Changes the reply of the server of large files.
        var bendLarge: @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    }

    static let commit = "0123456789abcdef0123456789abcdef01234567"
    static let token = "hf_SecretOfTheTests"

    let hub: Origin
    let large: Origin
    let sandbox: Sandbox
    let files: [File]
    let faults: Guarded<Faults>

    init(_ files: [File]) throws {
        let faults = Guarded(Faults())
        let entries = files.map(\.entry)
        (self.files, self.faults, sandbox) = (files, faults, try Sandbox())
        let large = try Origin(address: "127.0.0.2") { request in
            guard let file = files.first(where: { "/\($0.path)" == request.path }) else {
                return .text(404)
            }
            var reply = OriginReply.file(file.content, for: request, etag: "\"large\"")
            faults.withLock { $0.bendLarge }(request, &reply)
            return reply
        }
        self.large = large
        hub = try Origin { request in
            var reply = Self.answer(
                request, files, faults.withLock { $0.entries } ?? entries, large,
                faults.withLock { $0 })
            faults.withLock { $0.bend }(request, &reply)
            return reply
        }
    }

    /// The files of a small model.
    static let model = [
        File(path: "config.json", size: 700), File(path: "onnx/a b.json", size: 40_000),
        File(path: "model.safetensors", size: 3_000_000, isLarge: true),
        File(path: "empty.txt", size: 0),
    ]

    var environment: [String: String] {
        ["HF_ENDPOINT": String(hub.url("/").dropLast()), "HF_HOME": sandbox.path("home")]
    }

    /// Runs segget.
    func run(_ arguments: String..., variables: [String: String] = [:]) throws -> Run.Outcome {
        try Run(
            arguments, in: sandbox.path, environment: environment.merging(variables) { $1 }
        ).wait()
    }

    /// Whether a file in a folder has the content of the repository's.
    func isRight(_ path: String, in folder: String = "m") throws -> Bool {
        guard let file = files.first(where: { $0.path == path }) else { return false }
        return try file.content.firstDifference(at: sandbox.path("\(folder)/\(path)")) == nil
    }

    /// Whether a folder has a file.
    func has(_ path: String, in folder: String = "m") -> Bool {
        FileManager.default.fileExists(atPath: sandbox.path("\(folder)/\(path)"))
    }

    /// The requests for bytes of files, at both servers.
    var requestsForBytes: Int {
        hub.requests.count { $0.path.contains("/resolve/") } + large.requests.count
    }

    /// The bytes that the server of large files has sent.
    var bytesOfLarge: Int64 { large.requests.reduce(0) { $0 + $1.bytesServed } }

    // MARK: The Hub

    private static func answer(
        _ request: OriginRequest, _ files: [File], _ entries: [String], _ large: Origin,
        _ faults: Faults
    ) -> OriginReply {
        var parts = request.path.split(separator: "/").map(String.init)
        let isAPI = parts.first == "api"
        if isAPI { parts.removeFirst() }
        if ["models", "datasets"].contains(parts.first) { parts.removeFirst() }
        guard parts.count >= 4, parts[0] == "org", parts[1] == "model" else {
            return refusal(parts[1...].first == "gated" ? "GatedRepo" : "RepoNotFound")
        }
        let rest = parts[4...].joined(separator: "/").removingPercentEncoding ?? ""
        guard ["main", "v1", "refs%2Fpr%2F1", faults.commit].contains(parts[3]) else {
            return refusal("RevisionNotFound")
        }
        switch parts[2] {
        case "revision":
            let names = files.map { #"{"rfilename":"\#($0.path)"}"# }.joined(separator: ",")
            return json(#"{"id":"org/model","sha":"\#(faults.commit)","siblings":[\#(names)]}"#)
        case "tree": return tree(request, entries, below: rest, faults)
        case "resolve":
            guard let file = files.first(where: { $0.path == rest }) else {
                return refusal("EntryNotFound")
            }
            guard file.isLarge else {
                var reply = OriginReply.file(
                    file.content, for: request, etag: "\"\(file.gitSHA1)\"")
                reply.set("X-Repo-Commit", faults.commit)
                return reply
            }
            let place = large.url("/\(file.path)?Signature=\(request.number)")
            return .text(
                302,
                headers: [
                    HeaderField("Location", place), HeaderField("X-Repo-Commit", faults.commit),
                    HeaderField("X-Linked-Size", "\(file.size)"),
                    HeaderField("X-Linked-Etag", "\"\(file.content.sha256Hex)\""),
                ])
        default: return .text(404)
        }
    }

    private static func tree(
        _ request: OriginRequest, _ entries: [String], below folder: String, _ faults: Faults
    ) -> OriginReply {
        struct Entry: Decodable { var path: String }
        let isRecursive = request.target.contains("recursive=true")
        var found: [String] = []
        var folders: Set<String> = []
        for entry in entries {
            let path =
                (try? JSONDecoder().decode(Entry.self, from: Data(entry.utf8)))?.path ?? ""
            guard folder.isEmpty || path.hasPrefix(folder + "/") else { continue }
            let inside = folder.isEmpty ? path : String(path.dropFirst(folder.count + 1))
            if isRecursive || !inside.contains("/") {
                found.append(entry)
            } else if let first = inside.split(separator: "/").first {
                folders.insert((folder.isEmpty ? "" : folder + "/") + first)
            }
        }
        found += folders.sorted().map { #"{"type":"directory","oid":"","size":0,"path":"\#($0)"}"# }
        guard folder.isEmpty || !found.isEmpty else { return refusal("EntryNotFound") }
        let cursor = request.target.components(separatedBy: "cursor=").dropFirst().first
        let start = cursor.flatMap { Int($0) } ?? 0
        let page = found.dropFirst(start).prefix(faults.page)
        var reply = json("[\(page.joined(separator: ","))]")
        let end = start + page.count
        if end < found.count || faults.loops {
            // The Hub names itself, also behind a mirror.
            let next = end < found.count ? "&cursor=\(end)" : ""
            let query = "?recursive=\(isRecursive)&expand=false\(next)"
            reply.set("Link", "<https://huggingface.co\(request.path)\(query)>; rel=\"next\"")
        }
        return reply
    }

    private static func json(_ text: String) -> OriginReply {
        .text(200, text, headers: [HeaderField("Content-Type", "application/json")])
    }

    /// A refusal of the Hub, by its code.
    private static func refusal(_ code: String) -> OriginReply {
        .text(
            code == "GatedRepo" ? 403 : code == "RepoNotFound" ? 401 : 404,
            headers: [HeaderField("X-Error-Code", code)])
    }
}
