import Glibc

/// A real HTTP proxy on loopback: tinyproxy, with tunnels to every port.
public final class Tinyproxy: Sendable {
    /// The port that it listens on.
    public let port: UInt16
    private let folder: Sandbox
    private let process: Run

    /// Starts it and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - user: the only user, by Basic authentication; `nil` for no authentication.
    ///   - password: the user's password.
    ///   - directives: further lines of its configuration.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public init(user: String? = nil, password: String = "", directives: String = "") throws {
        let folder = try Sandbox("segget-tinyproxy")
        self.folder = folder
        let log = folder.path("log")
        (port, process) = try startOnFreePort("tinyproxy") { port in
            let configuration = """
                Port \(port)
                Listen 127.0.0.1
                Timeout 60
                MaxClients 100
                LogLevel Connect
                LogFile "\(log)"
                \(user.map { "BasicAuth \($0) \(password)" } ?? "")
                \(directives)

                """
            return try Run(
                "/usr/bin/tinyproxy", ["-d", "-c", folder.write("conf", configuration)])
        }
    }

    deinit { stop() }

    /// Returns its URL, with credentials such as `user:password@`.
    public func url(_ credentials: String = "", scheme: String = "http") -> String {
        "\(scheme)://\(credentials)127.0.0.1:\(port)"
    }

    /// Returns the received requests, such as `GET http://127.0.0.1:80/ HTTP/1.1`.
    ///
    /// - Throws: when the log cannot be read.
    public func requests() throws -> [String] {
        let lines = String(decoding: try folder.read("log"), as: UTF8.self).split(separator: "\n")
        return lines.compactMap { line in
            line.firstRange(of: "Request (file descriptor ").map { range in
                String(line[range.upperBound...].drop { $0 != ":" }.dropFirst(2))
            }
        }
    }

    /// Stops it and removes its folder; does nothing if it is stopped already.
    public func stop() {
        process.signal(SIGTERM)
        _ = try? process.wait(timeout: 120)
        folder.close()
    }
}

/// A real SOCKS5 proxy on loopback: microsocks.
public final class Microsocks: Sendable {
    /// The port that it listens on.
    public let port: UInt16
    private let process: Run

    /// Starts it and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - user: the only user; `nil` for no authentication.
    ///   - password: the user's password.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public init(user: String? = nil, password: String = "") throws {
        (port, process) = try startOnFreePort("microsocks") { port in
            try Run(
                "/usr/bin/microsocks",
                ["-i", "127.0.0.1", "-p", "\(port)"]
                    + (user.map { ["-u", $0, "-P", password] } ?? []))
        }
    }

    deinit { stop() }

    /// Returns its URL, with a scheme such as `socks5h`, and credentials such as `user:password@`.
    public func url(_ scheme: String, _ credentials: String = "") -> String {
        "\(scheme)://\(credentials)127.0.0.1:\(port)"
    }

    /// The requested targets, such as `localhost:80`.
    public var targets: [String] {
        process.errorOutput.split(separator: "\n").compactMap { line in
            line.firstRange(of: "connected to ").map { String(line[$0.upperBound...]) }
        }
    }

    /// Stops it; does nothing if it is stopped already.
    public func stop() {
        process.signal(SIGTERM)
        _ = try? process.wait(timeout: 120)
    }
}

/// Starts a server on a free port, and waits until it accepts connections there.
///
/// - Throws: ``ToolFailure``, ``SystemCallError``.
func startOnFreePort(
    _ tool: String, _ start: (UInt16) throws -> Run
) throws -> (UInt16, Run) {
    var failure = ""
    for _ in 0..<5 {
        let port = try Nginx.freePort()
        let process = try start(port)
        let isReady = eventually(timeout: 120) { !process.isRunning || Nginx.accepts(port) }
        if isReady, process.isRunning { return (port, process) }
        process.signal(SIGTERM)
        failure = try process.wait(timeout: 120).errorOutput
    }
    throw ToolFailure(tool: tool, text: failure)
}
