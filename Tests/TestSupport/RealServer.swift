import Foundation
import Glibc

/// A web server that others wrote, as its manual starts it, on loopback, serving a folder.
///
/// Nothing is configured but the folder, the address and the port, and what ``Kind`` says.
public final class RealServer: Sendable {
    /// What is served.
    public let kind: Kind
    /// Port of HTTP.
    public let port: UInt16
    private let folder: Sandbox
    private let process: ChildProcess

    /// Starts it and waits until it serves.
    ///
    /// - Parameters:
    ///   - kind: which server.
    ///   - root: the folder to serve, whose subfolders are what S3 calls buckets; it is made readable for
    ///     all, since some servers give up root's rights, and a folder `alive` is put there.
    ///   - directives: further directives of Apache's.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public init(_ kind: Kind, root: Sandbox, directives: String = "") throws {
        self.kind = kind
        let folder = try Sandbox("segget-server")
        self.folder = folder
        // Whoever else got the port meanwhile does not know this.
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
            let process = try ChildProcess(
                command[0], Array(command.dropFirst()), in: root.path,
                environment: ["HOME": folder.path, "XDG_CONFIG_HOME": folder.path])
            let url = "http://127.0.0.1:\(port)/alive/\(token)"
            let ready = try eventually(timeout: 120, poll: 0.02) {
                try !process.isRunning
                    || Nginx.accepts(port)
                        && ChildProcess.run("/usr/bin/curl", ["-qsf", "-m", "10", url]).output
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

    /// URL of a path that is encoded already, without a slash before it.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)/\(path)" }

    /// What it has written to its standard output and standard error.
    public var log: String { process.output + process.errorOutput }

    /// Ends it and removes what it wrote; at once when it was stopped before.
    public func stop() {
        process.signal(SIGTERM)
        _ = try? process.wait(timeout: 20)
        folder.close()
    }
}
