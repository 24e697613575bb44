import Foundation
import Glibc
import TestSupport

/// Calls on the files of a folder that fail: `Tests/Shims/faults.c`, which says how its rules are
/// written, built once and loaded into segget.
enum DiskFaults {
    private static let sandbox = Result { try Sandbox("segget-faults") }
    private static let library = Result { try build() }

    /// What loads the faults into a program.
    ///
    /// - Parameters:
    ///   - rules: `CALL:ROLE:NTH:COUNT:WHAT`, each.
    ///   - folder: Where they apply.
    ///   - log: A file for the calls that are made.
    ///   - when: A path; the rules apply once something stands there.
    /// - Returns: Variables for its environment.
    /// - Throws: What kept the library from being built.
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
        // No test can own what all of them use.
        atexit { try? DiskFaults.sandbox.get().close() }
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Shims/faults.c").standardizedFileURL.path
        let outcome = try ChildProcess.run(
            "/bin/sh",
            [
                "-c",
                "exec \"$(command -v clang || command -v cc)\" -Wall -Werror -O1 -shared -fPIC -o \"$0\" \"$1\"",
                library, source,
            ])
        guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        return library
    }
}

extension Stage {
    /// Runs `segget ARGUMENTS` in the folder with calls that fail.
    func run(
        _ arguments: [String], faults: [String], log: String? = nil
    ) throws -> ChildProcess.Outcome {
        try Segget.run(
            arguments, in: folder,
            environment: try DiskFaults.environment(faults, in: folder, log: log))
    }
}

/// One file that is downloaded again and again, each time from the same beginning and with another
/// fault.
final class FaultTrial {
    /// What is there at the beginning, and what is run.
    enum Scene: String, CaseIterable, Sendable {
        /// Nothing.
        case fresh
        /// The part of a run that was killed.
        case resumed
        /// An older file, which is replaced.
        case replaced
        /// A whole part, about to be renamed.
        case unpublished
        /// A damaged file with its manifest.
        case repaired
    }

    static let size: Int64 = 200_000
    let stage: Stage
    private let scene: Scene
    private let start: Sandbox
    private static let old = Array("an older file".utf8)

    /// Makes the beginning once.
    init(_ scene: Scene) throws {
        self.scene = scene
        stage = try Stage(size: Self.size, seed: 5)
        stage.change { $0.lastModified = httpDate(unixTime: 1_234_567_890) }
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

    /// Puts everything back to the beginning.
    func reset() throws {
        for name in try stage.names() { try stage.remove(name) }
        for name in try start.names() {
            try FileManager.default.copyItem(
                atPath: start.path(name), toPath: stage.path(name))
        }
        if scene == .unpublished { try stage.leaveFinishedPart() }
    }

    /// The command.
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

    /// What is there in the end.
    var names: [String] {
        scene == .replaced || scene == .repaired ? ["file", "file.segget"] : ["file"]
    }

    /// What stands at the destination must be whole: the old file or the new one.
    func destinationIsWhole() throws -> Bool {
        guard try stage.names().contains("file") else { return true }
        switch scene {
        case .replaced: return try stage.isRight() || stage.read("file") == Self.old
        case .repaired:
            return try stage.isRight() || stage.read("file") == Array(start.read("file"))
        default: return try stage.isRight()
        }
    }

    /// The calls that the command makes when nothing fails, and how often.
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
