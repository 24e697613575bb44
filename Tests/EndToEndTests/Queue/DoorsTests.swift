import Foundation
import Glibc
import TestSupport
import Testing

/// Tests which clients over TCP are accepted, and which are refused.
@Suite(.timeLimit(.minutes(5)))
struct DoorsTests {
    private let stage: DoorStage

    init() throws { stage = try DoorStage() }

    // MARK: Listeners

    @Test func nothingListensUnlessAsked() throws {
        let silent = try stage.start([])
        #expect(eventually { stage.queue.isWorked(by: silent.pid) })
        #expect(eventually { silent.errorOutput.contains("runs the queue") })
        #expect(try DoorStage.listeners(of: silent) == [])
        #expect(access(stage.secretFile, F_OK) != 0)
        kill(silent.pid, SIGTERM)
        #expect(try silent.wait(timeout: 60).end == .exit(0))

        let door = try stage.open()
        let port = String(door.port, radix: 16, uppercase: true)
        let digits = String(repeating: "0", count: 4 - port.count) + port
        #expect(try DoorStage.listeners(of: door.service) == ["0100007F:\(digits)"])
        #expect(!door.service.errorOutput.contains("warning"))
        try door.end()
    }

    @Test func warnsAboutAddressReachableByOthers() throws {
        let service = try stage.start(["--rpc", "0.0.0.0:0"])
        #expect(eventually { service.errorOutput.contains("runs the queue") })
        let warnings = service.errorOutput.split(separator: "\n").filter {
            $0.contains(" warning: ")
        }
        #expect(warnings.count == 1)
        #expect(warnings.first?.contains("0.0.0.0") == true)
        kill(service.pid, SIGTERM)
        #expect(try service.wait(timeout: 60).end == .exit(0))
    }

    // MARK: Secret

    @Test func secretIsPrivateAndPersistent() throws {
        let door = try stage.open()
        var status = stat()
        #expect(stat(stage.secretFile, &status) == 0)
        #expect(status.st_mode & 0o7777 == 0o600)
        #expect(door.secret.utf8.count >= 32)
        #expect(try door.call("aria2.getVersion") is [String: Any])
        try door.end()

        let shown = try stage.queue.done("serve", "--show-secret")
        #expect(shown == door.secret + "\n")
        let next = try stage.open()
        #expect(next.secret == door.secret)
        try next.end()

        // A secret that others can read is refused.
        chmod(stage.secretFile, 0o644)
        let refused = try stage.start(["--rpc", "0"]).wait(timeout: 60)
        #expect(refused.end != .exit(0))
        #expect(refused.errorOutput.contains("other users can read"))
    }

    @Test func showSecretCreatesIt() throws {
        let shown = try stage.queue.done("serve", "--show-secret")
        let door = try stage.open()
        #expect(shown == door.secret + "\n")
        try door.end()
    }

    @Test func noSecretOpensOnlyJSONRPCOnLoopback() throws {
        let door = try stage.open("--rpc-no-secret")
        let call = #"{"jsonrpc":"2.0","id":1,"method":"aria2.getVersion"}"#
        #expect(try door.ask("POST /jsonrpc", "", call).body.contains(#""version""#))
        let socket = try door.socket()
        socket.say(call)
        #expect(try Door.message(socket).text.contains(#""version""#))
        // A page can make a browser send GET requests, so they need the token anyway.
        for callback in ["", "&jsoncallback=f"] {
            let target = "/jsonrpc?method=aria2.getVersion&id=1\(callback)"
            #expect(try door.ask("GET \(target)").body.contains("Unauthorized"))
            let token = Data(#"["token:\#(door.secret)"]"#.utf8).base64EncodedString()
                .replacing("=", with: "%3D")
            #expect(
                try door.ask("GET \(target)&params=\(token)").body.contains(#""version""#))
        }
        #expect(try door.ask("GET /api/v2/health").status == 401)
        #expect(try door.ask("GET /api/v2/health", door.authorization).status == 200)
        try door.end()

        for address in ["0.0.0.0:0", "[::]:0"] {
            let refused = try stage.start(["--rpc", address, "--rpc-no-secret"]).wait(timeout: 60)
            #expect(refused.end == .exit(64))
            #expect(refused.errorOutput.contains("--rpc-no-secret"))
        }
    }

    @Test func everyCallNeedsTheToken() throws {
        let door = try stage.open()
        for token in ["", "wrong", String(door.secret.dropLast()), door.secret + "x"] {
            let body = door.body("aria2.tellActive", token: token)
            let reply = try door.ask("POST /jsonrpc", "", body)
            #expect(reply.status == 400)
            #expect(reply.body.contains("Unauthorized"))
            #expect(try door.call("aria2.tellActive") is [Any])
        }
        let gone = #"{"jsonrpc":"2.0","id":1,"method":"aria2.shutdown"}"#
        #expect(try door.ask("POST /jsonrpc", "", gone).body.contains("Unauthorized"))
        let several =
            #"{"id":1,"method":"system.multicall","params":[[{"methodName":"aria2.tellActive","params":[]}]]}"#
        #expect(try door.ask("POST /jsonrpc", "", several).body.contains("Unauthorized"))
        #expect(try door.call("aria2.tellActive") is [Any])
        try door.end()
    }

    // MARK: Foreign pages

    @Test func foreignPagesAreRefused() throws {
        let door = try stage.open()
        let call = door.body("aria2.getVersion")
        func statuses(_ fields: String, host: String = "localhost") throws -> [Int] {
            let upgrade = try door.connect()
            upgrade.send(WebClient.upgrade(host: host, fields: fields))
            return [
                try door.ask("POST /jsonrpc", fields, call, host: host).status,
                try door.ask(
                    "GET /jsonrpc?method=aria2.getVersion&id=1", fields, host: host
                ).status == 403 ? 403 : 200,
                try door.ask("GET /api/v2/tasks", door.authorization + fields, host: host).status,
                try door.reply(upgrade).status,
            ]
        }
        let let200 = [200, 200, 200, 101]
        let refused = [403, 403, 403, 403]
        let own = "localhost:\(door.port)"
        for fields in [
            "Origin: http://evil.example\r\n", "Origin: null\r\n",
            "Origin: http://localhost:\(door.port + 1)\r\n", "Origin: https://\(own)\r\n",
            "Origin: http://\(own)\r\nOrigin: http://evil.example\r\n",
            "Sec-Fetch-Site: cross-site\r\n", "Sec-Fetch-Site: same-site\r\n",
        ] {
            #expect(try statuses(fields, host: own) == refused, "\(fields)")
        }
        for fields in [
            "", "Sec-Fetch-Site: none\r\n",
            "Origin: http://\(own)\r\nSec-Fetch-Site: same-origin\r\n",
        ] {
            #expect(try statuses(fields, host: own) == let200, "\(fields)")
        }
        // Foreign host names that resolve to this machine (DNS rebinding).
        for host in ["evil.example", "evil.example:\(door.port)", "127.1", "localhost.evil"] {
            #expect(try statuses("", host: host) == refused, "\(host)")
        }
        for host in ["127.0.0.1", "127.0.0.1:\(door.port)", "192.0.2.7", "LOCALHOST"] {
            #expect(try statuses("", host: host) == let200, "\(host)")
        }
        // No refused call was carried out.
        #expect((try door.call("aria2.tellWaiting", "0", "9") as? [Any])?.isEmpty == true)
        try door.end()
    }

    /// A browser that opens the page under an unknown host name receives a text with the reason.
    @Test func browserUnderUnknownHostReceivesConstantText() throws {
        let door = try stage.open("--web", "0")
        let accept = "Accept: text/html,application/xhtml+xml;q=0.9\r\n"
        var bodies: Set<String> = []
        for (line, host) in [
            ("GET /", "nas.example"), ("GET /?q=secret-query", "evil.example:80"),
            ("GET /api/v2/tasks/secret-path", "127.1"), ("GET /none", "localhost.evil"),
        ] {
            let reply = try door.ask(line, accept, host: host)
            #expect(reply.status == 403)
            #expect(reply.field("content-type") == "text/html; charset=utf-8")
            #expect(reply.field("content-security-policy")?.contains("default-src 'none'") == true)
            bodies.insert(reply.body)
        }
        let text = try #require(bodies.first).lowercased()
        #expect(bodies.count == 1 && text.contains("--allow-host"))
        for word in [
            "segget", "aria2", "example", "evil", "secret-", "localhost", stage.queue.folder,
        ] {
            #expect(!text.contains(word), "\(word)")
        }
        // Programs receive JSON as before.
        for (line, fields) in [("GET /", ""), ("GET /", "Accept: */*\r\n"), ("POST /", accept)] {
            let reply = try door.ask(line, fields, host: "nas.example")
            #expect(reply.status == 403 && reply.field("content-type") == "application/json")
        }
        // A foreign origin is a different reason than the host name, so the page is not sent.
        let foreign = try door.ask("GET /", accept + "Origin: http://evil.example\r\n")
        #expect(foreign.status == 403 && foreign.field("content-type") == "application/json")
        try door.end()
    }

    @Test(arguments: ["missing", "file", "empty"])
    func folderWithoutPageIsRefused(name: String) throws {
        let path = "\(stage.queue.folder)/\(name)"
        if name == "file" { try Data().write(to: URL(fileURLWithPath: path)) }
        if name == "empty" { mkdir(path, 0o700) }
        let refused = try stage.start(["--web", "0", "--ui", path]).wait(timeout: 60)
        #expect(refused.end == .exit(64))
        #expect(refused.errorOutput.contains(path), "\(refused.errorOutput)")
        #expect(!refused.errorOutput.contains("page at"))
    }

    @Test func reportsAddressInUseWithoutErrno() throws {
        let door = try stage.open()
        let other = try DoorStage()
        let refused = try other.start(["--rpc", "\(door.port)"]).wait(timeout: 60)
        #expect(refused.end == .exit(74))
        #expect(
            refused.errorOutput.contains(
                "cannot listen on 127.0.0.1, port \(door.port): another program uses that port"),
            "\(refused.errorOutput)")
        let none = try other.start(["--rpc", "192.0.2.1:0"]).wait(timeout: 60)
        #expect(none.errorOutput.contains("this machine does not have this address"))
        for word in ["errno", "bind(", "EADDR"] {
            #expect(!(refused.errorOutput + none.errorOutput).contains(word), "\(word)")
        }
        try door.end()
    }

    /// The log names the file with the secret, which only its owner can read.
    @Test func logContainsOnlyPathOfSecret() throws {
        let door = try stage.open()
        #expect(eventually { door.service.errorOutput.contains("`\(stage.secretFile)`") })
        #expect(!door.service.errorOutput.contains(try stage.secret()))
        #expect(
            try FileManager.default.attributesOfItem(atPath: stage.secretFile)[.posixPermissions]
                as? Int == 0o600)
        try door.end()
    }

    @Test func allowsOnlyGivenHostsAndOrigins() throws {
        let page = "https://ariang.example"
        let door = try stage.open("--allow-host", "Nas.example", "--rpc-allow-origin", page)
        let call = door.body("aria2.getVersion")
        #expect(try door.ask("POST /jsonrpc", "", call, host: "nas.example:1").status == 200)
        #expect(try door.ask("POST /jsonrpc", "", call, host: "x.nas.example").status == 403)

        let allowed = "Origin: \(page)\r\nSec-Fetch-Site: cross-site\r\n"
        let reply = try door.ask("POST /jsonrpc", allowed, call)
        #expect(reply.status == 200)
        #expect(reply.field("access-control-allow-origin") == page)
        #expect(reply.field("vary") == "Origin")
        let preflight = try door.ask(
            "OPTIONS /jsonrpc",
            allowed + "Access-Control-Request-Method: POST\r\n"
                + "Access-Control-Request-Headers: content-type\r\n")
        #expect(preflight.status == 200)
        #expect(preflight.field("access-control-allow-origin") == page)
        #expect(preflight.field("access-control-allow-headers") == "content-type")
        #expect(preflight.field("access-control-allow-methods")?.contains("POST") == true)
        // An allowed origin still needs the token.
        let wrong = door.body("aria2.getVersion", token: "wrong")
        #expect(try door.ask("POST /jsonrpc", allowed, wrong).status == 400)

        for origin in ["https://ariang.example.evil", "http://ariang.example", "null"] {
            let reply = try door.ask("OPTIONS /jsonrpc", "Origin: \(origin)\r\n")
            #expect(reply.status == 403)
            #expect(reply.field("access-control-allow-origin") == nil)
        }
        try door.end()
    }

    // MARK: Guessed secrets

    /// Five failures are answered after up to 16 s; other addresses are answered meanwhile, even
    /// after a failure.
    @Test func failedLoginsDelayNoOtherClient() throws {
        let door = try stage.open()
        let wrong = Door.request("POST /jsonrpc", "", door.body("aria2.getVersion", token: "x"))
        let guessers = try (0..<5).map { _ in
            let client = try door.connect()
            client.send(wrong)
            return client
        }
        let right = try door.connect(from: "127.0.0.2")
        right.send(Door.request("POST /jsonrpc", "", door.body("aria2.getVersion")))
        #expect(try door.reply(right).status == 200)
        let other = try door.connect(from: "127.0.0.3")
        other.send(wrong)
        #expect(try door.reply(other).status == 400)
        #expect(guessers.contains { $0.takeReply() == nil && !$0.isEnded })
        // Correct requests from the same address are not delayed either.
        #expect(try door.ask("GET /api/v2/health", door.authorization).status == 200)
        #expect(guessers.contains { $0.takeReply() == nil && !$0.isEnded })
        try door.end()
    }

    /// Failures are delayed in the API and on WebSockets too; a later request from another address
    /// is answered first.
    @Test(arguments: ["api", "socket"])
    func failedLoginsAreDelayedOnAllEndpoints(way: String) throws {
        let door = try stage.open()
        let wrong = Door.request("POST /jsonrpc", "", door.body("aria2.getVersion", token: "x"))
        let before = try (0..<4).map { _ in
            let client = try door.connect()
            client.send(wrong)
            return client
        }
        // Two were answered, so all four are counted: the next one waits for 16 s.
        #expect(eventually { before.count { $0.text.contains("Unauthorized") } >= 2 })
        let guesser = way == "socket" ? try door.socket() : try door.connect()
        if way == "socket" {
            guesser.say(door.body("aria2.getVersion", token: "x"))
        } else {
            guesser.send(Door.request("GET /api/v2/health", "Authorization: Bearer x\r\n"))
        }
        let other = try door.connect(from: "127.0.0.3")
        other.send(wrong)
        #expect(try door.reply(other).status == 400)
        #expect(guesser.text.isEmpty && !guesser.isEnded)
        try door.end()
    }

    // MARK: Limits

    @Test func bodySizeIsLimited() throws {
        let door = try stage.open()
        let call = door.body("aria2.getVersion")
        let most = call + String(repeating: " ", count: (2 << 20) - call.utf8.count)
        for (body, status) in [(most, 200), (most + " ", 413)] {
            let client = try door.connect()
            let request = Array(Door.request("POST /jsonrpc", "", body).utf8)
            var rest = request[...]
            _ = eventually {
                let count = client.send(Array(rest))
                if count > 0 { rest = rest.dropFirst(count) }
                return rest.isEmpty || count < 0 && errno != EAGAIN
            }
            #expect(try door.reply(client).status == status)
        }
        let chunked = try door.connect()
        chunked.send(
            "POST /jsonrpc HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "200001\r\n")
        var rest = [UInt8](repeating: 32, count: (2 << 20) + 1)[...]
        _ = eventually {
            let count = chunked.send(Array(rest))
            if count > 0 { rest = rest.dropFirst(count) }
            return rest.isEmpty || count < 0 && errno != EAGAIN
        }
        #expect(try door.reply(chunked).status == 413)
        try door.end()
    }

    @Test func nestingIsLimited() throws {
        let door = try stage.open()
        func nested(_ levels: Int) -> String {
            // The token is on the second level.
            let deep = String(repeating: "[", count: levels - 2)
            return #"{"id":1,"method":"aria2.getVersion","params":["token:\#(door.secret)","#
                + deep + String(repeating: "]", count: levels - 2) + "]}"
        }
        #expect(try door.ask("POST /jsonrpc", "", nested(64)).status == 200)
        for levels in [66, 5000, 100_000] {
            let reply = try door.ask("POST /jsonrpc", "", nested(levels))
            #expect(reply.status == 500)
            #expect(reply.body.contains("-32700"))
        }
        #expect(try door.call("aria2.getVersion") is [String: Any])
        try door.end()
    }

    /// WebSockets have no timeout.
    @Test func connectionCountIsLimited() throws {
        let door = try stage.open()
        let sockets = try (0..<256).map { _ in try door.socket() }
        let oneTooMany = try door.connect()
        oneTooMany.send(Door.request("POST /jsonrpc", "", door.body("aria2.getVersion")))
        #expect(
            eventually {
                oneTooMany.take()
                return oneTooMany.isEnded
            })
        #expect(oneTooMany.text.isEmpty)
        sockets[0].say(door.body("aria2.getVersion"))
        #expect(try Door.message(sockets[0]).text.contains(#""version""#))
        // Commands of this user still reach the queue.
        #expect(try stage.queue.tasks().isEmpty)
        try door.end()
    }

    // MARK: Notifications

    @Test func webSocketIsNotifiedOnlyAfterValidToken() throws {
        let door = try stage.open()
        let (known, unknown) = (try door.socket(), try door.socket())
        known.say(door.body("aria2.getVersion"))
        #expect(try Door.message(known).text.contains(#""version""#))
        unknown.say(#"{"id":"a","method":"system.listNotifications"}"#)
        #expect(try Door.message(unknown).text.contains("onDownloadStart"))
        let gid = try door.add(stage.queue.origin.url("/a"))
        let start =
            #"{"jsonrpc":"2.0","method":"aria2.onDownloadStart","params":[{"gid":"\#(gid)"}]}"#
        #expect(try Door.message(known).text == start)
        #expect(try Door.message(known).text == start.replacing("Start", with: "Complete"))
        // A notification would arrive before this response.
        unknown.say(#"{"id":"b","method":"system.listNotifications"}"#)
        #expect(try Door.message(unknown).text.contains(#""id":"b""#))
        try door.end()
    }

    @Test func repliesWithoutSecretRevealNothing() throws {
        let door = try stage.open()
        _ = try door.add(
            stage.queue.origin.url("/a"), #"{"gid":"00000000000000aa","pause":"true"}"#)
        var next = 10
        /// Returns the replies to requests that are sent at once, each from its own address.
        func shapes(_ requests: [(line: String, body: String)]) throws -> Set<String> {
            let clients = try requests.map { request in
                next += 1
                let client = try door.connect(from: "127.0.0.\(next)")
                client.send(Door.request(request.line, "", request.body))
                return client
            }
            return Set(
                try clients.map { client in
                    let reply = try door.reply(client)
                    let fields = reply.fields.map { "\($0.name): \($0.value)" }
                    return "\(reply.status) \(fields) \(reply.body)"
                })
        }
        let api = try shapes(
            [
                "GET /api/v2/health", "GET /api/v2/tasks", "GET /api/v2/tasks/00000000000000aa",
                "GET /api/v2/tasks/00000000000000bb", "GET /api/v2/nothing", "PUT /api/v2/commands",
                "POST /api/v2/commands", "GET /api/v2/events", "GET /api/",
                "DELETE /api/v2/settings",
                "GET /api/v2/tasks?x=y", "GET /api/openapi.json", "GET /metrics", "POST /metrics",
            ].map { ($0, "") })
        #expect(api.count == 1, "\(api)")
        let others = try shapes(
            [
                "GET /", "GET /index.html", "POST /", "GET /v2/tasks", "PUT /jsonrpc", "GET /api",
                "DELETE /jsonrpc", "GET /rpc", "GET /jsonrpc/x", "GET /openapi.json",
            ].map { ($0, "") })
        #expect(others.count == 1, "\(others)")
        // A reply does not reveal whether a task or a method exists.
        let refused = try shapes(
            [
                ("aria2.tellStatus", "00000000000000aa"), ("aria2.tellStatus", "00000000000000bb"),
                ("aria2.noSuchMethod", "x"), ("aria2.getVersion", "x"),
            ].map { ("POST /jsonrpc", door.body($0, "\"\($1)\"", token: "x")) })
        #expect(refused.count == 1, "\(refused)")

        // No reply names segget, its version, its folders or a task.
        for text in api.union(others).union(refused) {
            for word in ["segget", "aria2", "0.1", stage.queue.folder, "aa"] {
                #expect(!text.lowercased().contains(word), "\(word) in \(text)")
            }
        }
        try door.end()
    }
}
