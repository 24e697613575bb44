import Foundation
import Glibc

/// A real nginx on loopback, over HTTP and HTTPS, serving a folder.
public final class Nginx: Sendable {
    /// A completed request in the access log.
    public struct LogEntry: Sendable, Hashable, Decodable {
        /// The request line.
        public let request: String
        /// The status.
        public let status: Int
        /// Body bytes sent.
        public let bytes: Int64
        /// The `Range` field, or empty.
        public let range: String
        /// The number of the connection.
        public let connection: Int
        /// The address of the client.
        public let client: String
        /// Whether the connection's TLS session was resumed.
        public let resumed: Bool
    }

    /// Port of HTTP.
    public let port: UInt16
    /// Port of HTTPS.
    public let securePort: UInt16
    /// PEM file with the certificate of the authority that HTTPS clients must trust.
    public let authority: String
    /// PEM file with the server's certificate.
    public var certificate: String { files.serverCertificate }
    /// Process id of nginx's master.
    public var pid: Int32 { process.pid }

    private let files: TestAuthority
    private let folder: Sandbox
    private let process: Run

    /// Starts nginx and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - root: the folder to serve.
    ///   - limitRate: speed of one connection in nginx's notation (`4m`); `nil` is unlimited.
    ///   - workers: number of worker processes.
    ///   - directives: further directives of the server, such as `etag off;`.
    ///   - shared: further directives of the `http` block, such as `limit_conn_zone …;`.
    ///   - certificate: the kind of the server's certificate.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public init(
        root: String, limitRate: String? = nil, workers: Int = 2, directives: String = "",
        shared: String = "", certificate: TestCertificate = .right
    ) throws {
        let folder = try Sandbox("segget-nginx")
        self.folder = folder
        let files = try TestAuthority(in: folder.path, certificate)
        self.files = files
        authority = files.certificate
        let server = "\(limitRate.map { "limit_rate \($0);" } ?? "") \(directives)"
        var failure = ""
        for _ in 0..<5 {
            let ports = try [Self.freePort(), Self.freePort()]
            let configuration = Self.configuration(
                root: root, ports: ports, files: files, folder: folder.path, workers: workers,
                server: server, shared: shared)
            try folder.write("nginx.conf", configuration)
            let process = try Run(
                "/usr/sbin/nginx",
                [
                    "-p", folder.path, "-e", folder.path("error.log"), "-c",
                    folder.path("nginx.conf"),
                ])
            // nginx writes the pid file after it has bound the ports, so another server on them is
            // not mistaken for it.
            let ready = eventually(timeout: 120) {
                !process.isRunning
                    || (access(folder.path("nginx.pid"), F_OK) == 0
                        && ports.allSatisfy { Self.accepts($0) })
            }
            if ready, process.isRunning {
                (port, securePort) = (ports[0], ports[1])
                self.process = process
                return
            }
            process.signal(SIGTERM)
            failure = try process.wait(timeout: 120).errorOutput
        }
        throw ToolFailure(tool: "nginx", text: failure)
    }

    deinit { stop() }

    /// HTTP URL of `path`.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(Self.absolute(path))" }

    /// HTTPS URL of `path`.
    public func secureURL(_ path: String) -> String {
        "https://127.0.0.1:\(securePort)\(Self.absolute(path))"
    }

    /// Creates a client certificate, signed by this server's authority.
    ///
    /// - Parameter password: encrypts the key.
    /// - Returns: PEM files with the certificate and its key.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public func makeClientCertificate(
        password: String? = nil
    ) throws -> (certificate: String, key: String) {
        try files.makeClientCertificate(password: password)
    }

    /// Returns the completed requests, in order of completion.
    ///
    /// - Throws: an error of Foundation if the log cannot be read.
    public func accessLog() throws -> [LogEntry] {
        // The text after the last line feed is an incomplete line.
        let lines = try folder.read("access.log").split(
            separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        return try lines.dropLast().map { try JSONDecoder().decode(LogEntry.self, from: $0) }
    }

    /// Returns the number of body bytes in completed requests.
    ///
    /// - Throws: an error of Foundation if the log cannot be read.
    public func bytesSent() throws -> Int64 { try accessLog().reduce(0) { $0 + $1.bytes } }

    /// Stops nginx and removes its folder; does nothing if it is stopped already.
    public func stop() {
        process.signal(SIGTERM)
        _ = try? process.wait(timeout: 120)
        folder.close()
    }

    private static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : "/\(path)"
    }
}
