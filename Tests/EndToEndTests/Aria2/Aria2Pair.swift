import Assembler
import Foundation
import Glibc
import TestSupport

/// The programs that accept aria2c's command line.
enum Aria2Program: String, CaseIterable, Sendable {
    case aria2c, segget
}

/// An origin with a different file at every path, and two equal folders for aria2c and segget.
///
/// Both run the same command lines, written as callers write them for a shell. `aria2c` is either
/// program, `$B` is the origin's URL without a slash at its end, and the home folder is empty. The
/// origin replies 404 to a path that begins with `/none`.
final class Aria2Pair: Sendable {
    let origin: Origin
    let size: Int64
    let sandbox: Sandbox

    init(size: Int64 = 3_000_000, address: String? = nil, under folder: String? = nil) throws {
        self.size = size
        sandbox = try Sandbox("segget-aria2", under: folder)
        var offer = Origin.Offer(size: size) { $0.path }
        offer.lastModified = "Wed, 21 Oct 2015 07:28:00 GMT"
        origin = try Origin(offer, address: address)
        let files = FileManager.default
        for program in Aria2Program.allCases {
            for name in ["bin", "work", "home"] {
                try files.createDirectory(
                    atPath: sandbox.path("\(program)/\(name)"), withIntermediateDirectories: true)
            }
            let binary = program == .segget ? try Segget.binary() : "/usr/bin/aria2c"
            for name in ["aria2c", "segget-aria2c"] {
                try files.createSymbolicLink(
                    atPath: sandbox.path("\(program)/bin/\(name)"), withDestinationPath: binary)
            }
        }
    }

    /// The origin's URL without a slash at its end.
    var base: String { String(origin.url("").dropLast()) }

    /// Returns the content of the file at a path.
    func content(_ path: String) -> Content { .named(path, size: size) }

    // MARK: Paths

    /// Returns the folder in which a program runs.
    func folder(_ program: Aria2Program) -> String { sandbox.path("\(program)/work") }

    /// Returns a path in the folder in which a program runs.
    func path(_ name: String, _ program: Aria2Program) -> String { "\(folder(program))/\(name)" }

    /// Writes a small file into both folders.
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        for program in Aria2Program.allCases { try write(bytes, to: name, program) }
    }

    /// Writes a small file into one folder.
    func write(_ bytes: some Sequence<UInt8>, to name: String, _ program: Aria2Program) throws {
        let url = URL(fileURLWithPath: path(name, program))
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
    }

    /// Writes a text into both folders, and replaces `$B` with the origin's URL.
    func write(_ text: String, to name: String) throws {
        try write(text.replacingOccurrences(of: "$B", with: base).utf8, to: name)
    }

    /// Returns the bytes of a small file in a program's folder.
    func read(_ name: String, _ program: Aria2Program) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(name, program))))
    }

    /// Returns the number of received bytes in segget's manifest of `name`; `nil` without a
    /// manifest.
    func recorded(_ name: String) -> Int64? { Manifest(of: path(name, .segget))?.received }

    /// Returns the files in a program's folder by path.
    ///
    /// A file's value is the origin path with the same content, or else its length and checksum.
    func tree(_ program: Aria2Program) throws -> [String: String] {
        let paths = Set(origin.requests.map(\.path))
        return try FileManager.default.subpathsOfDirectory(atPath: folder(program))
            .reduce(into: [:]) { tree, name in
                let path = path(name, program)
                var isFolder: ObjCBool = false
                guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder),
                    !isFolder.boolValue
                else { return }
                let source = try paths.sorted().first {
                    try content($0).firstDifference(at: path) == nil
                }
                let bytes = try source == nil ? read(name, program) : []
                tree[name] = source ?? "\(bytes.count) bytes, \(CRC32.of(bytes))"
            }
    }

    // MARK: Runs

    /// Starts a command line; `exec` before its program lets signals reach that program.
    func start(
        _ line: String, _ program: Aria2Program, _ variables: [String: String] = [:]
    ) throws -> Run {
        var environment = [
            "HOME": sandbox.path("\(program)/home"), "XDG_CONFIG_HOME": "", "XDG_CACHE_HOME": "",
            "XDG_STATE_HOME": "/dev/null/state", "B": base,
            "PATH": "\(sandbox.path("\(program)/bin")):/usr/bin:/bin",
        ]
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix("SEGGET_") {
            if name != "SEGGET_BINARY" { environment[name] = "" }
        }
        return try Run(
            "/bin/sh", ["-c", line], in: folder(program),
            environment: environment.merging(variables) { $1 })
    }

    /// Runs a command line to its end.
    func run(
        _ line: String, _ program: Aria2Program, _ variables: [String: String] = [:]
    ) throws -> Aria2Outcome {
        let count = origin.requests.count
        let outcome = try start(line, program, variables).wait()
        return try self.outcome(of: outcome, program, after: count)
    }

    /// Returns the result of a program that has ended, with the requests after the first `count`.
    func outcome(
        of outcome: Run.Outcome, _ program: Aria2Program, after count: Int
    ) throws -> Aria2Outcome {
        origin.hearOut()
        return Aria2Outcome(
            code: outcome.exitCode, tree: try tree(program),
            text: Aria2Printout(outcome.output, folder: folder(program), base: origin.url("")),
            errors: outcome.errorOutput, requests: Array(origin.requests.dropFirst(count)))
    }

    /// Runs a command line with both programs.
    func both(
        _ line: String, _ variables: [String: String] = [:]
    ) throws -> (aria2c: Aria2Outcome, segget: Aria2Outcome) {
        (try run(line, .aria2c, variables), try run(line, .segget, variables))
    }
}

/// The result of a run of either program.
struct Aria2Outcome: Sendable {
    var code: Int32?
    var tree: [String: String]
    var text: Aria2Printout
    var errors: String
    var requests: [OriginRequest]

    /// Returns the number of bytes that `GET` requested of a file of `size` bytes, each counted
    /// once.
    func bytesAsked(_ path: String, of size: Int64) -> Int64 {
        requests.filter { $0.method == "GET" && $0.path == path }
            .reduce(into: RangeSet()) { asked, request in
                let range = request.range?.bytes(of: size) ?? 0..<size
                asked.insert(ByteRange(range.lowerBound, range.upperBound))
            }.count
    }
}
