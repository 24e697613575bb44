import TestSupport

/// A server with TLS in front of an origin whose replies a test makes.
final class SecureFront: Sendable {
    let origin: Origin
    let nginx: Nginx
    private let root: Sandbox

    /// Starts both servers; the handler receives each request unchanged except for connection
    /// fields.
    init(
        certificate: TestCertificate = .right, directives: String = "",
        _ handler: @escaping Origin.Handler
    ) throws {
        let (origin, root) = (try Origin(handler), try Sandbox())
        (self.origin, self.root) = (origin, root)
        nginx = try Nginx(
            root: root.path,
            directives: """
                \(directives)
                location / {
                    proxy_pass http://127.0.0.1:\(origin.port); proxy_redirect off;
                    proxy_http_version 1.1; proxy_buffering off; proxy_set_header Host $http_host;
                }
                """, certificate: certificate)
    }

    var authority: String { nginx.authority }

    func url(_ path: String) -> String { nginx.secureURL(path) }
}

extension OriginReply {
    /// Returns a redirect.
    static func redirect(_ to: String, _ status: Int = 302) -> OriginReply {
        .text(status, "moved", headers: [HeaderField("Location", to)])
    }
}
