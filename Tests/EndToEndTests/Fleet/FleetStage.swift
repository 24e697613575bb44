import Foundation
import TestSupport
import Testing

/// An origin with a large file and small ones, and a folder with their plan.
final class FleetStage: Sendable {
    let origin: Origin
    let sandbox: Sandbox
    /// How the origin deviates.
    let bend = Guarded<@Sendable (OriginRequest, inout OriginReply) -> Void>({ _, _ in })

    static let large = Content(size: (132 << 20) + 7, seed: 1)
    static let small = (0..<5).map { Content(size: 20_000 + Int64($0), seed: 2 + UInt64($0)) }

    init(
        hasDigests: Bool = false, isLarge: Bool = true, host: String = "127.0.0.1"
    ) throws {
        let bend = bend
        origin = try Origin { request in
            guard let content = Self.content(request.path) else { return .text(404) }
            var reply = OriginReply.file(content, for: request, etag: "\"v1\"")
            bend.withLock { $0 }(request, &reply)
            return reply
        }
        sandbox = try Sandbox()
        let names = (isLarge ? ["large"] : []) + Self.small.indices.map { "small-\($0)" }
        let root = origin.url("/").replacing("127.0.0.1", with: host)
        let list = names.map { name in
            let digest = Self.content("/\(name)")?.sha256Hex ?? ""
            return "\(root)\(name)\n out=d/\(name)\n"
                + (hasDigests ? " checksum=sha-256=\(digest)\n" : "")
        }.joined()
        try sandbox.write("list", list)
        let outcome = try run(["plan", "-i", "list", "-o", "plan"])
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    }

    static func content(_ path: String) -> Content? {
        if path == "/large" { return large }
        guard path.hasPrefix("/small-"), let number = Int(path.dropFirst(7)) else { return nil }
        return small[number]
    }

    func start(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Run {
        try Run(arguments, in: sandbox.path, environment: variables)
    }

    func run(_ arguments: [String], _ variables: [String: String] = [:]) throws -> Run.Outcome {
        try start(arguments, variables).wait()
    }

    func create(_ shards: Int, _ arguments: [String] = []) throws {
        let outcome = try run(
            ["fleet", "create", "plan", "fleet", "--shards", "\(shards)"] + arguments)
        #expect(outcome.end == .exit(0), "\(outcome.errorOutput)")
    }

    func work(_ index: Int, of count: Int) throws -> Run.Outcome {
        try run(["fleet", "work", "fleet", "--index", "\(index)", "--of", "\(count)"])
    }

    func finish() throws -> Run.Outcome { try run(["fleet", "finish", "fleet", "-d", "out"]) }

    func has(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: sandbox.path(path))
    }

    var marks: [String] {
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: sandbox.path("fleet/marks")))
            ?? []
        return names.filter { !$0.hasPrefix(".") }.sorted()
    }

    /// Whether all files are in their place, and right.
    func isRight(isLarge: Bool = true) throws -> Bool {
        let names = (isLarge ? ["large"] : []) + Self.small.indices.map { "small-\($0)" }
        return try names.allSatisfy { name in
            try Self.content("/\(name)")?.firstDifference(at: sandbox.path("out/d/\(name)"))
                == nil
        }
    }

    /// Holds each response for the large file from an offset in it on.
    func hold(from offset: Int64) -> Guarded<Bool> {
        let release = Guarded(false)
        bend.withLock {
            $0 = { request, reply in
                guard request.path == "/large", request.method == "GET" else { return }
                let start = request.range?.first ?? 0
                reply.stallAfter = max(0, offset - start)
                reply.release = release
            }
        }
        return release
    }
}
