import Glibc

extension Nginx {
    static func configuration(
        root: String, ports: [UInt16], files: TestAuthority, folder: String, workers: Int,
        server: String, shared: String = ""
    ) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(folder)/temp-\($0);" }.joined(separator: " ")
        return """
            daemon off;
            \(geteuid() == 0 ? "user root;" : "")
            worker_processes \(workers);
            pid \(folder)/nginx.pid;
            error_log \(folder)/error.log;
            events { worker_connections 1024; }
            http {
                default_type application/octet-stream;
                log_format json escape=json '{"request":"$request","status":$status,'
                    '"bytes":$body_bytes_sent,"range":"$http_range","connection":$connection,'
                    '"client":"$remote_addr","resumed":$resumed}';
                map $ssl_session_reused $resumed { default false; r true; }
                access_log \(folder)/access.log json;
                sendfile on;
                keepalive_requests 1000000;
                \(shared)
                \(temporary)
                server {
                    listen 127.0.0.1:\(ports[0]);
                    listen 127.0.0.1:\(ports[1]) ssl;
                    ssl_certificate \(files.serverCertificate);
                    ssl_certificate_key \(files.serverKey);
                    root \(root);
                    \(server)
                }
            }
            """
    }

    /// Returns a port that was free at the time of the call.
    ///
    /// - Throws: ``SystemCallError``.
    public static func freePort() throws -> UInt16 {
        let listener = try OriginListener(address: "127.0.0.1", port: 0)
        close(listener.socket)
        return listener.port
    }

    /// Whether a process accepts connections on a port of 127.0.0.1.
    static func accepts(_ port: UInt16) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &name) { name in
            name.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                connect(descriptor, name, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
