import Foundation
import Glibc
import TestSupport

/// System calls that fail on the files of one folder.
///
/// The library `Tests/Shims/faults.c` documents its rules. It is built once and loaded into segget.
enum DiskFaults {
    private static let sandbox = Result { try Sandbox("segget-faults") }
    private static let library = Result { try build() }

    /// Returns the environment variables that load the faults into a program.
    ///
    /// - Parameters:
    ///   - rules: Rules of the form `CALL:ROLE:NTH:COUNT:WHAT`.
    ///   - folder: The folder whose files the rules apply to.
    ///   - log: A file that lists the calls.
    ///   - when: A path. The rules apply once it exists.
    /// - Returns: Names and values of the variables.
    /// - Throws: An error if the library cannot be built.
    static func environment(
        _ rules: [String], in folder: String, log: String? = nil, when: String? = nil
    ) throws -> [String: String] {
        var variables = [
            "LD_PRELOAD": try library.get(), "FAULTS_FOLDER": folder,
            "FAULTS": rules.joined(separator: " "),
        ]
        variables["FAULTS_LOG"] = log
        variables["FAULTS_WHEN"] = when
        return variables
    }

    private static func build() throws -> String {
        let library = try sandbox.get().path("faults.so")
        // All tests share this folder, so it is removed at the end of the process.
        atexit { try? DiskFaults.sandbox.get().close() }
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Shims/faults.c").standardizedFileURL.path
        let outcome = try Run(
            "/bin/sh",
            [
                "-c",
                "exec \"$(command -v clang || command -v cc)\" -Wall -Werror -O1 -shared -fPIC -o \"$0\" \"$1\"",
                library, source,
            ]
        ).wait()
        guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        return library
    }
}

extension Stage {
    /// Runs `segget ARGUMENTS` in the folder with calls that fail.
    func run(
        _ arguments: [String], faults: [String], log: String? = nil
    ) throws -> Run.Outcome {
        try Run(
            arguments, in: folder,
            environment: try DiskFaults.environment(faults, in: folder, log: log)
        ).wait()
    }
}

/// A download that is repeated from the same initial state, each time with another fault.
final class FaultTrial {
    /// The initial state and the command.
    enum Scene: String, CaseIterable, Sendable {
        /// No files.
        case fresh
        /// The part of a killed run.
        case resumed
        /// An older file, which the run replaces.
        case replaced
        /// A complete part, about to be renamed.
        case unpublished
        /// A damaged file with its manifest.
        case repaired
    }

    static let size: Int64 = 200_000
    let stage: Stage
    private let scene: Scene
    private let start: Sandbox
    private static let old = Array("an older file".utf8)

    /// Creates the initial state.
    init(_ scene: Scene) throws {
        self.scene = scene
        stage = try Stage(size: Self.size, seed: 5)
        stage.origin.change { $0.lastModified = httpDate(unixTime: 1_234_567_890) }
        start = try Sandbox()
        switch scene {
        case .fresh, .unpublished: break
        case .replaced: try stage.write(Self.old, to: "file")
        case .resumed: try stage.leavePart(each: 20_000)
        case .repaired:
            let outcome = try stage.run(["-q", "--keep-manifest"])
            guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
            try stage.damage("file", at: 5)
        }
        for name in try stage.names() {
            try FileManager.default.copyItem(
                atPath: stage.path(name), toPath: start.path(name))
        }
    }

    /// Restores the initial state.
    func reset() throws {
        for name in try stage.names() { try stage.remove(name) }
        for name in try start.names() {
            try FileManager.default.copyItem(
                atPath: start.path(name), toPath: stage.path(name))
        }
        if scene == .unpublished { try stage.leaveFinishedPart() }
    }

    /// The arguments of the command.
    var arguments: [String] {
        let url = stage.origin.url("/file")
        switch scene {
        case .fresh:
            return ["-x", "3", url, "--checksum", "sha-256:\(stage.content.sha256Hex)"]
        case .resumed: return ["-x", "3", url]
        case .replaced: return ["--overwrite", "--keep-manifest", "--xattr", url]
        case .unpublished: return ["-o", "file", url]
        case .repaired: return ["repair", "file", url]
        }
    }

    /// The names of the files after success.
    var names: [String] {
        scene == .replaced || scene == .repaired ? ["file", "file.segget"] : ["file"]
    }

    /// Returns whether the destination is free, or has the complete old or new file.
    func destinationIsWhole() throws -> Bool {
        guard try stage.names().contains("file") else { return true }
        switch scene {
        case .replaced: return try stage.isRight() || stage.read("file") == Self.old
        case .repaired:
            return try stage.isRight() || stage.read("file") == Array(start.read("file"))
        default: return try stage.isRight()
        }
    }

    /// Returns the calls that the command makes without faults, and how often it makes each.
    func calls() throws -> [(call: String, count: Int)] {
        try reset()
        let log = try Sandbox()
        let outcome = try stage.run(arguments, faults: [], log: log.path("log"))
        guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        let lines = String(decoding: try log.read("log"), as: UTF8.self).split(separator: "\n")
        return Dictionary(grouping: lines) { $0 }
            .map { ($0.key.replacingOccurrences(of: " ", with: ":"), $0.value.count) }
            .sorted { $0.0 < $1.0 }
    }
}
