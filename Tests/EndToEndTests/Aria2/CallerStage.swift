import Assembler
import Foundation
import Glibc
import TestSupport

/// A folder for a script that calls `aria2c`, and an origin with a different file for each name.
final class CallerStage: Sendable {
    /// The program that the script finds as `aria2c`.
    enum Program: String, CaseIterable, Sendable {
        case aria2c, dropIn
    }

    let origin: Origin
    private let size: Int64
    private let work: Sandbox
    private let home: Sandbox
    private let dropIn: DropIn

    /// Creates an origin with `size` bytes at every path that does not begin with `/none`.
    init(size: Int64 = 300_000) throws {
        self.size = size
        work = try Sandbox("segget-work")
        home = try Sandbox("segget-home")
        dropIn = try DropIn()
        var offer = Origin.Offer(size: size) { Self.name($0.path) }
        offer.lastModified = "Tue, 03 Nov 2026 10:00:00 GMT"
        origin = try Origin(offer)
    }

    /// Returns the last component of a path.
    static func name(_ path: String) -> String {
        String(path.split(separator: "/").last ?? "")
    }

    /// Returns the origin's content for a name.
    func content(_ name: String) -> Content { .named(name, size: size) }

    /// Returns the path of a name in the script's folder.
    func path(_ name: String) -> String { work.path(name) }

    /// Starts a bash script; `$B` is the origin's URL without a slash at its end.
    func start(
        _ script: String, _ program: Program = .dropIn, _ variables: [String: String] = [:]
    ) throws -> Run {
        let own = [
            "PATH": program == .dropIn ? dropIn.searchPath : "/usr/bin:/bin",
            "B": String(origin.url("/").dropLast()), "HOME": home.path,
            "XDG_CONFIG_HOME": home.path, "LC_ALL": "C.UTF-8",
        ]
        return try Run(
            "/bin/bash", ["-u", "-c", script], in: work.path,
            environment: own.merging(variables) { $1 })
    }

    /// Runs a bash script to its end.
    func run(
        _ script: String, _ program: Program = .dropIn, _ variables: [String: String] = [:]
    ) throws -> Run.Outcome {
        let outcome = try start(script, program, variables).wait()
        origin.hearOut()
        return outcome
    }

    /// Returns the relative paths of all files in the script's folder, sorted.
    func files() throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: work.path)
        return names.filter { name in
            var status = stat()
            return stat(work.path(name), &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }.sorted()
    }

    /// Returns whether a file has the origin's content for its name, or for `name`.
    func isRight(_ file: String, as name: String? = nil) -> Bool {
        let content = content(name ?? Self.name(file))
        return (try? content.firstDifference(at: path(file)) == nil) ?? false
    }

    /// Returns whether a file has its final name, and the download's other files are removed.
    func isPublished(_ file: String) -> Bool {
        let files = FileManager.default
        return files.fileExists(atPath: path(file))
            && !files.fileExists(atPath: path("\(file).segget"))
    }

    /// Returns the number of received bytes in a file's manifest.
    func recorded(_ file: String) -> Int64 { Manifest(of: path(file))?.received ?? 0 }
}
