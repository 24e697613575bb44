import Foundation
import Glibc

extension RealServer {
    /// The servers, by their commands; scripts/packages.sh and Tests/Servers/requirements.txt
    /// install the packages.
    public enum Kind: String, CaseIterable, Sendable, CustomStringConvertible {
        case aiohttp
        /// With the line of its documentation that gives archives a `Content-Encoding`.
        case apache
        case caddy
        case django
        case flask
        case lighttpd
        case miniHTTPD = "mini_httpd"
        case nginx
        /// The server of Python, with HTTP/1.0 and without ranges.
        case pythonHTTP = "http.server"
        case rangeHTTP = "RangeHTTPServer"
        case rcloneHTTP = "rclone serve http"
        case rcloneS3 = "rclone serve s3"
        /// With its option for range requests.
        case sanic
        case starlette
        case tornado
        case twist
        case webfs
        case webrick
        case wsgidav

        /// Its name, as in the names of tests.
        public var description: String { rawValue }

        /// The command line, beginning with the program's absolute path.
        func command(
            root: String, port: UInt16, folder: Sandbox, directives: String
        ) throws -> [String] {
            let framework = [
                Self.program("python"), Self.tests.appending(path: "Servers/serve.py").path,
                rawValue, root, "\(port)",
            ]
            let address = "127.0.0.1:\(port)"
            return switch self {
            case .aiohttp, .django, .flask, .sanic, .starlette, .tornado: framework
            case .apache:
                [
                    "/usr/sbin/apache2", "-DFOREGROUND", "-f",
                    try folder.write(
                        "conf", Self.apache(root, port, folder.path) + directives),
                ]
            case .caddy:
                [
                    "/usr/bin/caddy", "file-server", "--browse", "--root", root, "--listen",
                    address,
                ]
            case .lighttpd:
                [
                    "/usr/sbin/lighttpd", "-D", "-f",
                    try folder.write("conf", Self.lighttpd(root, port)),
                ]
            case .miniHTTPD:
                ["/usr/sbin/mini_httpd", "-D", "-p", "\(port)", "-h", "127.0.0.1", "-d", root]
            case .nginx:
                [
                    "/usr/sbin/nginx", "-p", folder.path, "-e", folder.path("log"), "-c",
                    try folder.write("conf", Self.nginx(root, port, folder.path)),
                ]
            case .pythonHTTP:
                [
                    Self.program("python"), "-m", "http.server", "--bind", "127.0.0.1",
                    "\(port)",
                ]
            case .rangeHTTP:
                [
                    Self.program("python"), "-m", "RangeHTTPServer", "--bind", "127.0.0.1",
                    "\(port)",
                ]
            case .rcloneHTTP: [Self.program("rclone"), "serve", "http", "--addr", address, root]
            case .rcloneS3: [Self.program("rclone"), "serve", "s3", "--addr", address, root]
            case .twist:
                [
                    Self.program("twist"), "web", "--listen",
                    "tcp:\(port):interface=127.0.0.1", "--path", root,
                ]
            case .webfs: ["/usr/bin/webfsd", "-F", "-p", "\(port)", "-i", "127.0.0.1", "-r", root]
            case .webrick:
                [
                    "/usr/bin/ruby", "-run", "-e", "httpd", "--", "--bind-address=127.0.0.1",
                    "--port=\(port)", root,
                ]
            case .wsgidav:
                [
                    Self.program("wsgidav"), "--host=127.0.0.1",
                    "--port=\(port)", "--root=\(root)", "--auth=anonymous",
                ]
            }
        }

        private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent()

        /// The path of a program that scripts/servers.sh has installed.
        public static func program(_ name: String) -> String {
            tests.deletingLastPathComponent().appending(path: ".build/servers/bin/\(name)").path
        }

        /// The configuration: Debian's modules and the media types.
        private static func apache(_ root: String, _ port: UInt16, _ folder: String) -> String {
            let modules = ["mpm_event", "authz_core", "mime", "autoindex", "dir"].map {
                "LoadModule \($0)_module /usr/lib/apache2/modules/mod_\($0).so"
            }
            return """
                ServerRoot \(folder)
                ServerName localhost
                Listen 127.0.0.1:\(port)
                PidFile \(folder)/pid
                ErrorLog \(folder)/log
                \(modules.joined(separator: "\n"))
                \(geteuid() == 0 ? "User www-data\nGroup www-data" : "")
                TypesConfig /etc/mime.types
                AddEncoding x-compress .Z
                AddEncoding x-gzip .gz .tgz
                DocumentRoot \(root)
                <Directory \(root)>
                    Options Indexes
                    Require all granted
                </Directory>

                """
        }

        private static func lighttpd(_ root: String, _ port: UInt16) -> String {
            """
            server.modules = ("mod_access", "mod_dirlisting", "mod_staticfile")
            server.document-root = "\(root)"
            server.bind = "127.0.0.1"
            server.port = \(port)
            dir-listing.activate = "enable"
            include_shell "/usr/share/lighttpd/create-mime.conf.pl"

            """
        }

        private static func nginx(_ root: String, _ port: UInt16, _ folder: String) -> String {
            let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                .map { "\($0)_temp_path \(folder)/temp-\($0);" }.joined(separator: " ")
            return """
                daemon off;
                pid \(folder)/pid;
                events {}
                http {
                    include /etc/nginx/mime.types;
                    access_log off;
                    gzip on;
                    \(temporary)
                    server { listen 127.0.0.1:\(port); root \(root); autoindex on; }
                }

                """
        }
    }
}
