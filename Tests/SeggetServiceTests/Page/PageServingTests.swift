import Foundation
import SeggetQueue
import TestSupport
import Testing

@testable import SeggetService

/// Tests the files and sessions for browsers.
@Suite(.timeLimit(.minutes(10)))
struct PageServingTests {
    private struct Entry: Decodable {
        var token: String
    }

    /// Logs in.
    ///
    /// - Returns: The token, and the header with the cookie.
    private static func logIn(_ site: ServedSite) async throws -> (token: String, cookie: String) {
        let reply = try #require(
            await site.ask("POST /session", "", #"{"secret":"\#(ServedSite.secret)"}"#))
        #expect(reply.status == 200)
        let field = try #require(reply.field("set-cookie"))
        for attribute in ["HttpOnly", "SameSite=Strict", "Max-Age=604800", "Path=/"] {
            #expect(field.contains("; \(attribute)"))
        }
        #expect(field.hasPrefix("segget-\(site.port)="))
        let entry = try JSONDecoder().decode(Entry.self, from: Data(reply.body.utf8))
        return (entry.token, "Cookie: other=1; \(field.prefix { $0 != ";" })\r\n")
    }

    /// With the secret alone, a client receives only the links that clients have added.
    @Test func sessionReadsLinksOfAllTasks() async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            func ids(_ fields: String) async throws -> [QueueTask.ID] {
                let reply = try #require(await site.ask("GET /api/v2/links", fields))
                #expect(reply.status == 200, "\(reply.body)")
                let list = try JSONDecoder().decode(LinkList.self, from: Data(reply.body.utf8))
                return list.links.map(\.id)
            }
            let (token, cookie) = try await Self.logIn(site)
            let session = "Authorization: Bearer \(token)\r\n\(cookie)"
            #expect(try await ids(session) == [Sample.first, Sample.second])
            let secret = "Authorization: Bearer \(ServedSite.secret)\r\n"
            #expect(try await ids(secret) == [Sample.first])
            #expect(try await ids(secret + cookie) == [Sample.first])
            #expect(try await site.ask("GET /api/v2/links", cookie)?.status == 401)
        }
    }

    /// The error names the invalid member of the form, so the page can show the message at the
    /// field.
    @Test(arguments: [
        (#""url":"http://h/f","options":{"headers":["none"]}"#, "options.headers"),
        (#""url":"http://h/f","options":{"checksum":"x"}"#, "options.checksum"),
        (
            #""url":"http://h/f","options":{"access":{"user_agent":"a\nb"}}"#,
            "options.access.user_agent"
        ),
        (#""url":"http://h/f","folder":"../etc""#, "folder"),
        (#""url":"http://h/f","name":"..""#, "name"),
        (#""tags":[]"#, nil),
    ])
    func errorNamesInvalidMember(members: String, member: String?) async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            let body = #"{"commands":[{"command":"add","root":"/srv/downloads",\#(members)}]}"#
            let reply = try #require(
                await site.ask("POST /api/v2/commands", ServedSite.authorization, body))
            #expect([400, 403].contains(reply.status))
            let error = try JSONDecoder().decode(ErrorBody.self, from: Data(reply.body.utf8)).error
            let named = error.member?.replacing("commands[0].", with: "")
            #expect(named == member ?? "commands[0]", "\(reply.body)")
            #expect(!reply.body.contains("docs/"))
        }
    }

    @Test func servesOnlyPageWithoutSession() async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            let page = try #require(await site.ask("GET /?url=https://example.org/"))
            #expect(page.status == 200)
            #expect(page.field("content-type") == "text/html; charset=utf-8")
            let policy = try #require(page.field("content-security-policy"))
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
            #expect(page.field("x-content-type-options") == "nosniff")
            let tag = try #require(page.field("etag"))
            let again = try #require(await site.ask("GET /", "If-None-Match: \(tag)\r\n"))
            #expect(again.status == 304 && again.body.isEmpty)
            #expect(try await site.ask("GET /", "If-None-Match: \"x\"\r\n")?.status == 200)
            for target in ["/app/", "/app/index.htm", "/app/../index.html", "/index.html", "/x"] {
                #expect(try await site.ask("GET \(target)")?.status == 404, "\(target)")
            }
            #expect(try await site.ask("POST /")?.status == 404)
        }
    }

    /// A reverse proxy may serve the page below another folder, so every path is relative.
    @Test func pathsOfPageAreRelative() async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            let page = try #require(await site.ask("GET /")).body
            var names = page.matches(of: /(?:href|src)="(app\/[^"]+)"/).map { String($0.1) }
            #expect(names.count >= 5)
            var seen: Set<String> = []
            while let name = names.popLast() {
                guard seen.insert(name).inserted else { continue }
                let file = try #require(await site.ask("GET /\(name)"))
                #expect(file.status == 200, "\(name)")
                names += file.body.matches(of: /from "\.\/([^"]+)"/).map { "app/\($0.1)" }
                #expect(
                    file.body.firstMatch(of: /["'`(]\/(?:app|api|session)\b/) == nil, "\(name)")
                if name.hasSuffix(".webmanifest") { #expect(!file.body.contains(#""/"#)) }
            }
            #expect(seen.count > 15, "\(seen)")
        }
    }

    @Test func servesNoPageIfDisabled() async throws {
        try await ServedSite.use { (site: ServedSite) async throws in
            #expect(try await site.ask("GET /")?.status == 404)
            let login = #"{"secret":"\#(ServedSite.secret)"}"#
            #expect(try await site.ask("POST /session", "", login)?.status == 404)
        }
    }

    /// A browser sends the cookie to every port of a host, and foreign scripts may know a token.
    @Test func sessionNeedsCookieAndToken() async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            let (token, cookie) = try await Self.logIn(site)
            let bearer = "Authorization: Bearer \(token)\r\n"
            #expect(try await site.ask("GET /api/v2/health", bearer + cookie)?.status == 200)
            #expect(try await site.ask("GET /api/v2/health", cookie)?.status == 401)
            #expect(try await site.ask("GET /api/v2/health", bearer)?.status == 401)
            let other = try await Self.logIn(site)
            #expect(try await site.ask("GET /api/v2/health", bearer + other.cookie)?.status == 401)
        }
    }

    @Test func onlySecretStartsSession() async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            for body in [#"{"secret":"x"}"#, #"{"token":"x"}"#, "{}"] {
                let reply = try #require(await site.ask("POST /session", "", body))
                #expect(reply.status == 401 && reply.field("set-cookie") == nil, "\(body)")
            }
            for body in ["", "{", "[]", #"{"secret":1}"#] {
                #expect(try await site.ask("POST /session", "", body)?.status == 400, "\(body)")
            }
            #expect(try await site.ask("GET /session")?.status == 405)
        }
    }

    @Test func openingStartsOneSession() async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            site.server.openings.address = "http://127.0.0.1:\(site.port)/"
            let client = QueueClient(path: site.server.path) { _ in }
            let address = try await client.opening()
            await client.close()
            let token = try #require(address.split(separator: "=").last)
            let body = #"{"token":"\#(token)"}"#
            #expect(try await site.ask("POST /session", "", body)?.status == 200)
            #expect(try await site.ask("POST /session", "", body)?.status == 401)
            // Only processes of this user can request one, through the socket.
            let reply = try await site.ask("POST /api/v2/openings", ServedSite.authorization)
            #expect(reply?.status == 404)
        }
    }

    @Test func refusesOpeningsWithoutPage() async throws {
        try await ServedSite.use { (site: ServedSite) async throws in
            let client = QueueClient(path: site.server.path) { _ in }
            await #expect(throws: QueueError.self) { try await client.opening() }
            await client.close()
        }
    }

    @Test func logoutDeletesCookie() async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            let reply = try #require(await site.ask("DELETE /session"))
            #expect(reply.status == 204)
            #expect(
                reply.field("set-cookie")?.hasPrefix("segget-\(site.port)=; Max-Age=0") == true)
        }
    }

    /// Links of other sites may open the page, but may not read it or show it in a frame.
    @Test func foreignLinksOpenOnlyPage() async throws {
        try await ServedSite.use(page: .own) { (site: ServedSite) async throws in
            func link(_ line: String, mode: String = "navigate", to use: String = "document")
                async throws -> Int?
            {
                try await site.ask(
                    line,
                    "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: \(mode)\r\nSec-Fetch-Dest: \(use)\r\n"
                )?.status
            }
            #expect(try await link("GET /?url=https://example.org/a") == 200)
            #expect(try await link("GET /", mode: "no-cors", to: "script") == 403)
            #expect(try await link("GET /", to: "iframe") == 403)
            #expect(try await link("POST /session") == 403)
            #expect(try await link("GET /api/v2/health") == 403)
            #expect(try await link("GET /jsonrpc") == 403)
        }
        try await ServedSite.use { (site: ServedSite) async throws in
            let fields =
                "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n"
            #expect(try await site.ask("GET /", fields)?.status == 403)
        }
    }

    @Test func servesCustomPageFromFolder() async throws {
        let sandbox = try Sandbox("page")
        let folder = sandbox.path("ui")
        let files = FileManager.default
        try files.createDirectory(atPath: folder + "/css", withIntermediateDirectories: true)
        try Data("<p>mine".utf8).write(to: URL(filePath: folder + "/index.html"))
        try Data("p{}".utf8).write(to: URL(filePath: folder + "/css/a b.css"))
        try Data().write(to: URL(filePath: folder + "/nothing.js"))
        try Data("hidden".utf8).write(to: URL(filePath: folder + "/.hidden"))
        try Data("outside".utf8).write(to: URL(filePath: sandbox.path("outside")))
        try files.createSymbolicLink(
            atPath: folder + "/link", withDestinationPath: sandbox.path("outside"))
        try await ServedSite.use(page: .folder(folder)) { site in
            let page = try #require(await site.ask("GET /"))
            #expect(page.status == 200 && page.body == "<p>mine")
            let style = try #require(await site.ask("GET /css/a%20b.css"))
            #expect(
                style.body == "p{}" && style.field("content-type") == "text/css; charset=utf-8")
            let nothing = try #require(await site.ask("GET /nothing.js"))
            #expect(nothing.status == 200 && nothing.body == "")
            for target in [
                "/link", "/../outside", "/css/%2e%2e/%2e%2e/outside", "/.hidden", "/css", "/x",
            ] {
                #expect(try await site.ask("GET \(target)")?.status == 404, "\(target)")
            }
        }
    }
}
