import Foundation
import Glibc

/// A third-party web server on loopback that serves a folder, started as in its manual.
///
/// Only the folder, the address, the port and the options of ``Kind`` are configured.
public final class RealServer: Sendable {
    /// The kind of server.
    public let kind: Kind
    /// Port of HTTP.
    public let port: UInt16
    private let folder: Sandbox
    private let process: Run

    /// Starts it and waits until it serves the folder.
    ///
    /// - Parameters:
    ///   - kind: the kind of server.
    ///   - root: the folder to serve, whose subfolders are the buckets of S3; it is made readable
    ///     for all, because some servers drop root's rights, and receives a folder `alive`.
    ///   - directives: further directives of Apache.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public init(_ kind: Kind, root: Sandbox, directives: String = "") throws {
        self.kind = kind
        let folder = try Sandbox("segget-server")
        self.folder = folder
        // Another server on the same port does not know this token.
        let token = UUID().uuidString
        try? FileManager.default.createDirectory(
            atPath: root.path("alive"), withIntermediateDirectories: false)
        try root.write("alive/\(token)", token)
        for path in [root.path, folder.path] { chmod(path, 0o755) }
        var failure = ""
        for _ in 0..<5 {
            let port = try Nginx.freePort()
            let command = try kind.command(
                root: root.path, port: port, folder: folder, directives: directives)
            guard access(command[0], X_OK) == 0 else {
                throw ToolFailure(
                    tool: kind.rawValue, text: "\(command[0]) is missing: scripts/packages.sh test")
            }
            let process = try Run(
                command[0], Array(command.dropFirst()), in: root.path,
                environment: ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path])
            let url = "http://127.0.0.1:\(port)/alive/\(token)"
            let ready = try eventually(timeout: 120, poll: 0.02) {
                try !process.isRunning
                    || Nginx.accepts(port)
                        && Run("/usr/bin/curl", ["-qsf", "-m", "10", url]).wait().output
                            == token
            }
            if ready, process.isRunning {
                (self.port, self.process) = (port, process)
                return
            }
            process.signal(SIGTERM)
            let outcome = try process.wait(timeout: 120)
            failure = outcome.output + outcome.errorOutput
        }
        throw ToolFailure(tool: kind.rawValue, text: failure)
    }

    deinit { stop() }

    /// Returns the URL of an encoded path without a leading slash.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// Its standard output and standard error until now.
    public var log: String { process.output + process.errorOutput }

    /// Stops it and removes its files; does nothing if it is stopped already.
    public func stop() {
        process.signal(SIGTERM)
        _ = try? process.wait(timeout: 20)
        folder.close()
    }
}
