import Foundation
import Glibc
import TestSupport
import Testing

/// A queue whose service listens on TCP, and programs that connect to it.
final class DoorStage: Sendable {
    let queue: QueueStage

    /// Offers files of `size` bytes.
    init(size: Int64 = 100_000) throws { queue = try QueueStage(size: size) }

    /// The file with the secret.
    var secretFile: String { queue.queue + ".rpc-secret" }

    /// The secret; it exists once a service was started.
    func secret() throws -> String {
        try String(contentsOfFile: secretFile, encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// Starts `segget serve`, which saves downloads of clients in the download folder.
    func start(_ arguments: [String]) throws -> Run {
        try queue.start(["serve", "--directory", queue.folder] + arguments)
    }

    /// Starts the service on a free port, and waits until it listens.
    func open(_ arguments: String...) throws -> Door { try open(["--rpc", "0"] + arguments) }

    /// Starts the service at an address and a port; 0 is a free one.
    func open(at address: String, _ port: Int, _ arguments: [String] = []) throws -> Door {
        try open(["--rpc", "\(address):\(port)"] + arguments, at: address)
    }

    /// Starts the service with options that name the address.
    func open(_ arguments: [String], at address: String = "127.0.0.1") throws -> Door {
        let service = try start(arguments)
        _ = service.waits { Self.port(service, address) != nil }
        let port = try #require(Self.port(service, address), "\(service.errorOutput)")
        return Door(service: service, at: address, port: port, secret: try secret())
    }

    /// The first port that a service has printed.
    static func port(_ service: Run, _ address: String = "127.0.0.1") -> Int? {
        ports(service, address).first
    }

    /// The ports of an address that a service has printed, in order.
    static func ports(_ service: Run, _ address: String = "127.0.0.1") -> [Int] {
        service.errorOutput.matches(of: /JSON-RPC at http:\/\/([0-9.]+):([0-9]+)\//)
            .filter { $0.1 == address }.compactMap { Int($0.2) }
    }

    /// The TCP sockets that a process listens on, as the kernel writes them: address and port.
    static func listeners(of process: Run) throws -> [String] {
        let folder = "/proc/\(process.pid)"
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/fd")
        let own = Set(
            files.compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/fd/\($0)")
            })
        var found: [String] = []
        for name in ["tcp", "tcp6"] {
            let table = try String(contentsOfFile: "\(folder)/net/\(name)", encoding: .utf8)
            for line in table.split(separator: "\n").dropFirst() {
                let fields = line.split(separator: " ")
                // 0A is TCP_LISTEN.
                guard fields.count > 9, fields[3] == "0A", own.contains("socket:[\(fields[9])]")
                else { continue }
                found.append(String(fields[1]))
            }
        }
        return found
    }
}

/// A service that is reached over TCP.
final class Door: Sendable {
    let service: Run
    let address: String
    let port: Int
    let secret: String

    init(
        service: Run, at address: String = "127.0.0.1", port: Int, secret: String
    ) {
        (self.service, self.address, self.port) = (service, address, port)
        self.secret = secret
    }

    /// Stops the service with SIGTERM.
    func end() throws {
        kill(service.pid, SIGTERM)
        let outcome = try service.wait(timeout: 60)
        try #require(outcome.end == .exit(0), "\(outcome.errorOutput)")
    }

    func connect(from source: String? = nil) throws -> WebClient {
        try WebClient(to: address, port: port, from: source)
    }

    /// The header that authorizes requests to the API.
    var authorization: String { "Authorization: Bearer \(secret)\r\n" }

    /// Returns the text of a request.
    static func request(
        _ line: String, _ fields: String = "", _ body: String = "", host: String = "localhost"
    ) -> String {
        let length =
            body.isEmpty && line.hasPrefix("GET ") ? "" : "Content-Length: \(body.utf8.count)\r\n"
        return "\(line) HTTP/1.1\r\nHost: \(host)\r\n\(length)\(fields)\r\n\(body)"
    }

    /// Sends a request, and returns the response.
    func ask(
        _ line: String, _ fields: String = "", _ body: String = "", host: String = "localhost",
        at place: SourceLocation = #_sourceLocation
    ) throws -> WebReply {
        let client = try connect()
        client.send(Self.request(line, fields, body, host: host))
        return try reply(client, hasBody: !line.hasPrefix("HEAD "), at: place)
    }

    /// Waits for the response to a request that was sent.
    func reply(
        _ client: WebClient, hasBody: Bool = true, at place: SourceLocation = #_sourceLocation
    ) throws -> WebReply {
        var reply: WebReply?
        _ = eventually {
            reply = client.takeReply(hasBody: hasBody)
            return reply != nil || client.isEnded
        }
        return try #require(reply, "no reply: \(client.text)", sourceLocation: place)
    }

    /// Returns a call of JSON-RPC, with the secret unless another token is given.
    func body(_ method: String, _ parameters: String..., token: String? = nil) -> String {
        let all = ([#""token:\#(token ?? secret)""#] + parameters).joined(separator: ",")
        return #"{"jsonrpc":"2.0","id":"1","method":"\#(method)","params":[\#(all)]}"#
    }

    /// Returns the result of a call, or a `CallError`.
    func call(
        _ method: String, _ parameters: String..., at place: SourceLocation = #_sourceLocation
    ) throws -> Any {
        let all = ([#""token:\#(secret)""#] + parameters).joined(separator: ",")
        let body = #"{"jsonrpc":"2.0","id":"1","method":"\#(method)","params":[\#(all)]}"#
        let reply = try ask("POST /jsonrpc", "", body, at: place)
        let value = try JSONSerialization.jsonObject(with: Data(reply.body.utf8))
        let object = try #require(value as? [String: Any], sourceLocation: place)
        if let error = object["error"] as? [String: Any] { return CallError(error["message"]) }
        return try #require(object["result"], "\(reply.body)", sourceLocation: place)
    }

    /// The error of a call.
    struct CallError: Equatable {
        var message: String

        init(_ message: Any?) { self.message = message as? String ?? "" }
    }

    /// Adds a URL, and returns its gid.
    func add(
        _ url: String, _ options: String = "{}", at place: SourceLocation = #_sourceLocation
    ) throws -> String {
        let result = try call("aria2.addUri", #"["\#(url)"]"#, options, at: place)
        return try #require(result as? String, "\(result)", sourceLocation: place)
    }

    /// Returns the result of `aria2.tellStatus`.
    func status(_ gid: String) throws -> [String: Any] {
        try #require(try call("aria2.tellStatus", "\"\(gid)\"") as? [String: Any])
    }

    /// Waits until a task has ended, and returns its `errorCode`.
    func errorCode(_ gid: String) throws -> String? {
        var code: String?
        _ = try eventually(timeout: 120, poll: 0.05) {
            code = try status(gid)["errorCode"] as? String
            return code != nil
        }
        return code
    }

    /// Opens a WebSocket.
    func socket(_ fields: String = "") throws -> WebClient {
        let client = try connect()
        client.send(WebClient.upgrade(fields: fields))
        let reply = try reply(client)
        try #require(reply.status == 101, "\(reply)")
        return client
    }

    /// Waits for the next message of a WebSocket.
    static func message(_ client: WebClient) throws -> WebClient.Message {
        var message: WebClient.Message?
        _ = eventually {
            message = client.takeMessage()
            return message != nil || client.isEnded
        }
        return try #require(message, "the WebSocket was closed")
    }
}
