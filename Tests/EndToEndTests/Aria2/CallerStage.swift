import Assembler
import Foundation
import Glibc
import TestSupport

/// A folder in which a script runs that calls `aria2c`, and an origin with a file of its own for each name.
final class CallerStage: Sendable {
    /// What the script finds as `aria2c`.
    enum Program: String, CaseIterable, Sendable {
        case aria2c, dropIn
    }

    /// What an origin does differently from a good one.
    typealias Bend = @Sendable (OriginRequest, inout OriginReply) -> Void

    let origin: FaultOrigin
    private let size: Int64
    private let work: Sandbox
    private let home: Sandbox
    private let dropIn: DropIn
    private let change: Guarded<Bend>

    /// Offers `size` bytes at every path that does not begin with `/none`.
    init(size: Int64 = 300_000) throws {
        let change = Guarded<Bend>({ _, _ in })
        (self.size, self.change) = (size, change)
        work = try Sandbox("segget-work")
        home = try Sandbox("segget-home")
        dropIn = try DropIn()
        origin = try FaultOrigin(sendBuffer: 64 << 10) { request in
            guard !request.path.hasPrefix("/none") else { return .text(404) }
            let name = Self.name(request.path)
            var reply = OriginReply.file(
                Self.content(name, size), for: request, etag: "\"\(name)\"",
                lastModified: "Tue, 03 Nov 2026 10:00:00 GMT")
            change.withLock { $0 }(request, &reply)
            return reply.silentToCanaries(request)
        }
    }

    /// Changes the replies from now on.
    func bend(_ body: @escaping Bend) { change.withLock { $0 = body } }

    /// The last component of a path.
    static func name(_ path: String) -> String {
        String(path.split(separator: "/").last ?? "")
    }

    private static func content(_ name: String, _ size: Int64) -> Content {
        Content(size: size, seed: name.utf8.reduce(5381) { $0 &* 33 &+ UInt64($1) })
    }

    /// What the origin has under a name.
    func content(_ name: String) -> Content { Self.content(name, size) }

    /// Path of a name in the script's folder.
    func path(_ name: String) -> String { work.path(name) }

    /// Starts a script of bash; `$B` is the origin's URL, without a slash at its end.
    func start(
        _ script: String, _ program: Program = .dropIn, _ variables: [String: String] = [:]
    ) throws -> ChildProcess {
        let own = [
            "PATH": program == .dropIn ? dropIn.searchPath : "/usr/bin:/bin",
            "B": String(origin.url("/").dropLast()), "HOME": home.path,
            "XDG_CONFIG_HOME": home.path, "LC_ALL": "C.UTF-8",
        ]
        return try ChildProcess(
            "/bin/bash", ["-u", "-c", script], in: work.path,
            environment: own.merging(variables) { $1 })
    }

    /// Runs a script of bash to its end.
    func run(
        _ script: String, _ program: Program = .dropIn, _ variables: [String: String] = [:]
    ) throws -> ChildProcess.Outcome {
        let outcome = try start(script, program, variables).wait()
        origin.hearOut()
        return outcome
    }

    /// All files in the script's folder, and those in its folders, in order.
    func files() throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: work.path)
        return names.filter { name in
            var status = stat()
            return stat(work.path(name), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }.sorted()
    }

    /// Whether a file is the one that the origin has under this name.
    func isRight(_ file: String, as name: String? = nil) -> Bool {
        let content = content(name ?? Self.name(file))
        return (try? content.firstDifference(at: path(file)) == nil) ?? false
    }

    /// Whether a file has its name, and what only its download needed is gone.
    func isPublished(_ file: String) -> Bool {
        let files = FileManager.default
        return files.fileExists(atPath: path(file))
            && !files.fileExists(atPath: path("\(file).segget"))
    }

    /// Bytes that the manifest of a file says have arrived.
    func recorded(_ file: String) -> Int64 {
        let data = FileManager.default.contents(atPath: path("\(file).segget")) ?? Data()
        return (try? Manifest(reading: Array(data)))?.extents.covered.count ?? 0
    }
}
