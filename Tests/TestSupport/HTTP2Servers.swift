import Foundation
import Glibc

/// A real server on loopback with HTTP/2 only, and without ranges: nghttpd.
public final class Nghttpd: Sendable {
    /// PEM file with the authority to trust; `nil` without TLS.
    public let authority: String?
    private let port: UInt16
    private let folder: Sandbox
    private let process: Run

    /// Starts it and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - root: the folder to serve.
    ///   - isSecure: whether it uses TLS.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public init(root: String, isSecure: Bool) throws {
        let folder = try Sandbox("segget-nghttpd")
        self.folder = folder
        let files = isSecure ? try TestAuthority(in: folder.path) : nil
        authority = files?.certificate
        (port, process) = try startOnFreePort("nghttpd") { port in
            try Run(
                "/usr/bin/env",
                [
                    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "nghttpd", "-a",
                    "127.0.0.1", "-d", root,
                ] + (isSecure ? [] : ["--no-tls"]) + ["\(port)"]
                    + (files.map { [$0.serverKey, $0.serverCertificate] } ?? []))
        }
    }

    deinit { stop() }

    /// Returns the URL of a file name without a leading slash.
    public func url(_ name: String) -> String {
        "\(authority == nil ? "http" : "https")://127.0.0.1:\(port)/\(name)"
    }

    /// Stops it and removes its folder; does nothing if it is stopped already.
    public func stop() {
        process.signal(SIGTERM)
        _ = try? process.wait(timeout: 120)
        folder.close()
    }
}

/// A real nginx on loopback with HTTP/2 only, ranges and validators.
///
/// One port has no TLS. The other one refuses all other protocols in the TLS handshake.
public final class HTTP2Nginx: Sendable {
    /// PEM file with the authority to trust.
    public let authority: String
    private let ports: [UInt16]
    private let folder: Sandbox
    private let process: Run

    /// Starts it and waits until it accepts connections.
    ///
    /// - Parameters:
    ///   - root: the folder to serve.
    ///   - limitRate: speed of one stream in nginx's notation (`4m`); `nil` is unlimited.
    /// - Throws: ``ToolFailure``, ``SystemCallError``.
    public init(root: String, limitRate: String? = nil) throws {
        let folder = try Sandbox("segget-nginx-http2")
        self.folder = folder
        let files = try TestAuthority(in: folder.path)
        authority = files.certificate
        let plain = Guarded<UInt16>(0)
        let (port, process) = try startOnFreePort("nginx") { port in
            let inner = try Nginx.freePort()
            plain.withLock { $0 = inner }
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(folder.path)/temp-\($0);" }.joined(separator: " ")
            let configuration = """
                load_module modules/ngx_stream_module.so;
                daemon off;
                \(geteuid() == 0 ? "user root;" : "")
                pid \(folder.path)/nginx.pid;
                error_log \(folder.path)/error.log;
                events { worker_connections 1024; }
                http {
                    default_type application/octet-stream;
                    log_format short '$server_protocol $request_method $status $connection';
                    access_log \(folder.path)/access.log short;
                    \(temporary)
                    server {
                        listen 127.0.0.1:\(inner) http2;
                        root \(root);
                        \(limitRate.map { "limit_rate \($0);" } ?? "")
                    }
                }
                stream {
                    server {
                        listen 127.0.0.1:\(port) ssl;
                        ssl_certificate \(files.serverCertificate);
                        ssl_certificate_key \(files.serverKey);
                        ssl_alpn h2;
                        proxy_pass 127.0.0.1:\(inner);
                    }
                }
                """
            let path = try folder.write("nginx.conf", configuration)
            return try Run(
                "/usr/sbin/nginx",
                ["-p", "/usr/lib/nginx", "-e", folder.path("error.log"), "-c", path])
        }
        self.process = process
        ports = [plain.withLock { $0 }, port]
    }

    deinit { stop() }

    /// Returns the URL of a file name without a leading slash.
    public func url(_ name: String, isSecure: Bool) -> String {
        "\(isSecure ? "https" : "http")://127.0.0.1:\(ports[isSecure ? 1 : 0])/\(name)"
    }

    /// Returns the completed requests: version, method, status and number of the connection.
    ///
    /// - Throws: an error of Foundation if the log cannot be read.
    public func accessLog() throws -> [[String]] {
        let text = String(decoding: try folder.read("access.log"), as: UTF8.self)
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map { $0.split(separator: " ").map(String.init) }
    }

    /// Stops it and removes its folder; does nothing if it is stopped already.
    public func stop() {
        process.signal(SIGTERM)
        _ = try? process.wait(timeout: 120)
        folder.close()
    }
}
