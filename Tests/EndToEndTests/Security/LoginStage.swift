import TestSupport

/// Files behind a login by redirect and cookie over two hosts.
///
/// The files' host redirects requests without a session to the login server, which requires a
/// password. That redirects to `/login` at the files' host, which sets the cookie of the session.
final class LoginStage: Sendable {
    static let password = "Basic bWU6c2VjcmV0"  // me:secret

    let data: Origin
    let login: Origin
    let content: Content
    /// Number of sessions that the files' host has opened.
    private let sessions: Guarded<Int>

    /// Offers files of `size` bytes at every path.
    init(size: Int64) throws {
        let content = Content(size: size, seed: 7)
        let sessions = Guarded(0)
        let places = Guarded((data: "", login: ""))
        login = try Origin(address: "127.0.0.2") { request in
            guard request.header("Authorization") == Self.password else {
                return .text(401, headers: [HeaderField("WWW-Authenticate", "Basic realm=\"r\"")])
            }
            let path = request.target.split(separator: "=").last ?? ""
            let back = places.withLock { $0.data } + "login?to=\(path)"
            return Self.redirect(back, "user=me; Path=/; HttpOnly")
        }
        data = try Origin { request in
            if request.path == "/login" {
                sessions.withLock { $0 += 1 }
                let path = request.target.split(separator: "=").last ?? ""
                return Self.redirect(String(path), "session=ok; Path=/")
            }
            guard request.header("Cookie")?.contains("session=ok") == true else {
                return Self.redirect(places.withLock { $0.login } + "ask?to=\(request.path)")
            }
            return .file(content, for: request, etag: "\"a\"")
        }
        (self.content, self.sessions) = (content, sessions)
        places.withLock { $0 = (data.url("/"), login.url("/")) }
    }

    private static func redirect(_ to: String, _ cookies: String...) -> OriginReply {
        .text(
            302,
            headers: [HeaderField("Location", to)] + cookies.map { HeaderField("Set-Cookie", $0) })
    }

    /// Logins so far.
    var logins: Int { sessions.withLock { $0 } }

    /// Writes a netrc file with the password and returns its path.
    func netrc(in folder: Sandbox) throws -> String {
        try folder.write("netrc", "machine 127.0.0.2 login me password secret\n")
    }
}
