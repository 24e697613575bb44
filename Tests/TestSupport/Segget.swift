import Foundation
import Glibc

/// Runs the built `segget`.
public enum Segget {
    /// There is no built binary.
    public struct NotFound: Error, CustomStringConvertible {
        /// The folders that were searched.
        public let folders: [String]

        /// Instructions for the user.
        public var description: String {
            "no segget in \(folders); build it, or set SEGGET_BINARY"
        }
    }

    /// Returns the largest memory that the program may use in a test, in bytes.
    ///
    /// With sanitizers, which need several times as much, there is no limit.
    public static func mostMemory(_ bytes: Int64) -> Int64 {
        ProcessInfo.processInfo.environment["SEGGET_INSTRUMENTED"] == nil ? bytes : .max
    }

    /// Returns the path of the binary: `$SEGGET_BINARY`, else the `segget` next to the running test
    /// bundle.
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

    /// Runs segget, and waits until it ends.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - folder: its working folder.
    ///   - environment: added to that of the tests.
    ///   - timeout: seconds until it is killed.
    /// - Returns: its result.
    /// - Throws: ``NotFound``, ``SystemCallError``, ``ChildProcess/TimedOut``.
    public static func run(
        _ arguments: [String], in folder: String, environment: [String: String] = [:],
        timeout: Double = 120
    ) throws -> ChildProcess.Outcome {
        try start(arguments, in: folder, environment: environment).wait(timeout: timeout)
    }

    /// Starts segget with 8 connections and without a configuration file.
    ///
    /// `environment` and the arguments may override both.
    ///
    /// - Parameters:
    ///   - arguments: its arguments.
    ///   - folder: its working folder.
    ///   - environment: added to that of the tests.
    ///   - network: a pair of namespaces; it runs in the client's.
    ///   - program: the path of a binary other than `binary()`.
    /// - Returns: the process, which is killed when its last reference is released.
    /// - Throws: ``NotFound``, ``SystemCallError``.
    public static func start(
        _ arguments: [String], in folder: String, environment: [String: String] = [:],
        network: NetworkPair? = nil, program: String? = nil
    ) throws -> ChildProcess {
        // The environment of the tests may contain options of segget.
        var ours = [
            "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent",
            // This folder cannot be created, so tests do not share what they learn about a port.
            "XDG_STATE_HOME": "/dev/null/state",
        ]
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix("SEGGET_") {
            ours[name] = ""
        }
        // On loopback one connection is soon fast enough; the tests need several.
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
