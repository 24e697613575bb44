import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5)))
struct NginxTests {
    static let content = Content(size: 2_000_000, seed: 21)

    @Test func servesOverBothSchemes() throws {
        let root = try Sandbox()
        try Self.content.write(to: root.path("file"))
        let nginx = try Nginx(root: root.path)
        let plain = try Curl.get(nginx.url("/file"))
        #expect(Self.content.matches(plain.body, in: 0..<2_000_000))
        let secure = try Curl.get(
            "-r", "100-199", "--cacert", nginx.authority, nginx.secureURL("/file"))
        #expect(secure.status == 206)
        #expect(Self.content.matches(secure.body, in: 100..<200))
        #expect(try Curl.get(nginx.secureURL("/file")).exitCode == 60)
        let byName = "https://localhost:\(nginx.securePort)/file"
        #expect(try Curl.get("--cacert", nginx.authority, "-I", byName).exitCode == 0)

        #expect(eventually { (try? nginx.accessLog().count) == 3 })
        let log = try nginx.accessLog()
        #expect(
            log.map(\.request) == [
                "GET /file HTTP/1.1", "GET /file HTTP/1.1", "HEAD /file HTTP/1.1",
            ])
        #expect(log.map(\.status) == [200, 206, 200])
        #expect(log.map(\.bytes) == [2_000_000, 100, 0])
        #expect(log.map(\.range) == ["", "bytes=100-199", ""])
        #expect(try nginx.bytesSent() == 2_000_100)
    }

    @Test func limitsTheRate() throws {
        let root = try Sandbox()
        try Self.content.write(to: root.path("file"))
        let nginx = try Nginx(root: root.path, limitRate: "1m", directives: "etag off;")
        let reply = try Curl.get(nginx.url("/file"))
        #expect(reply.body.count == 2_000_000)
        #expect((0.8...50).contains(reply.seconds))
        #expect(reply.header("ETag") == nil)
    }

    @Test func stopEndsProcessAndRemovesFolder() throws {
        let root = try Sandbox()
        let nginx = try Nginx(root: root.path)
        let files = nginx.authority
        #expect(try Run("/bin/ls", [files]).wait().exitCode == 0)
        nginx.stop()
        #expect(try Curl.get(nginx.url("/file")).exitCode == 7)
        #expect(try Run("/bin/ls", [files]).wait().exitCode != 0)
    }
}
