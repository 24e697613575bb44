import Foundation
import Glibc

/// The built `segget`, which ``Run`` starts.
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

    /// The environment variables with which tests start segget.
    static var environment: [String: String] {
        // The environment of the tests may contain options of segget.
        var variables = [
            "HOME": "/nonexistent", "XDG_CONFIG_HOME": "/nonexistent",
            // This folder cannot be created, so tests do not share what they learn about a port.
            "XDG_STATE_HOME": "/dev/null/state",
        ]
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix("SEGGET_") {
            variables[name] = ""
        }
        // On loopback one connection is soon fast enough; the tests need several.
        variables["SEGGET_CONNECTIONS"] = "8"
        return variables
    }

    private static func isProgram(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
            && !isFolder.boolValue && access(path, X_OK) == 0
    }
}
