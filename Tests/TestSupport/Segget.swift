import Foundation
import Glibc

/// Runs the built `segget`.
public enum Segget {
    /// No built binary was found.
    public struct NotFound: Error, CustomStringConvertible {
        /// Where it was looked for.
        public let folders: [String]

        /// What to do about it.
        public var description: String {
            "no segget in \(folders); build it, or set SEGGET_BINARY"
        }
    }

    /// The most memory that the program may take in a test, in bytes: sanitizers take several times as
    /// much, and then there is no bound.
    public static func mostMemory(_ bytes: Int64) -> Int64 {
        ProcessInfo.processInfo.environment["SEGGET_INSTRUMENTED"] == nil ? bytes : .max
    }

    /// Path of the binary: `$SEGGET_BINARY`, else the `segget` next to the running test bundle.
    ///
    /// - Throws: ``NotFound``.
    public static func binary() throws -> String {
        if let path = ProcessInfo.processInfo.environment["SEGGET_BINARY"] { return path }
        let bundles = ProcessInfo.processInfo.arguments + Bundle.allBundles.map(\.bundlePath)
        var looked: [String] = []
        for bundle in bundles where bundle.hasPrefix("/") {
            var folder = URL(fileURLWithPath: bundle).deletingLastPathComponent()
            for _ in 0..<4 where folder.path != "/" {
                let candidate = folder.appendingPathComponent("segget")
                looked.append(folder.path)
                if isProgram(candidate.path) { return candidate.path }
                folder.deleteLastPathComponent()
            }
        }
        throw NotFound(folders: looked)
    }

    /// Runs segget to its end.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - folder: its working folder.
    ///   - environment: added to that of the tests.
    ///   - timeout: seconds after which it is killed.
    /// - Returns: what it did.
    /// - Throws: ``NotFound``, ``SystemCallError``, ``ChildProcess/TimedOut``.
    public static func run(
        _ arguments: [String], in folder: String, environment: [String: String] = [:],
        timeout: Double = 120
    ) throws -> ChildProcess.Outcome {
        try start(arguments, in: folder, environment: environment).wait(timeout: timeout)
    }

    /// Starts segget with 8 connections, unless `environment` or the arguments say otherwise; it finds no
    /// configuration file unless `environment` leads to one.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - folder: its working folder.
    ///   - environment: added to that of the tests.
    ///   - network: two namespaces, to run in the client's.
    ///   - program: path of another binary than `binary()`.
    /// - Returns: the process; it is killed when the last reference to it goes.
    /// - Throws: ``NotFound``, ``SystemCallError``.
    public static func start(
        _ arguments: [String], in folder: String, environment: [String: String] = [:],
        network: NetworkPair? = nil, program: String? = nil
    ) throws -> ChildProcess {
        // Whoever runs the tests may have options of their own.
        var ours = [
            "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent",
            // Where no folder can be made: what one test learns of a port is not another one's.
            "XDG_STATE_HOME": "/dev/null/state",
        ]
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix("SEGGET_") {
            ours[name] = ""
        }
        // On loopback one connection is soon found to be enough; what the tests try needs several.
        ours["SEGGET_CONNECTIONS"] = "8"
        let environment = ours.merging(environment) { $1 }
        let command = try (network?.entry ?? []) + [program ?? binary()] + arguments
        return try ChildProcess(
            command[0], Array(command[1...]), in: folder, environment: environment)
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && !isFolder.boolValue && access(path, X_OK) == 0
    }
}
