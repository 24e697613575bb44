import Foundation
import Glibc
import TestSupport
import Testing

/// The programs that answer clients of aria2.
enum ClientServer: CaseIterable {
    /// `segget serve --rpc`.
    case service
    /// `segget-aria2c --enable-rpc`.
    case daemon
}

/// A service that clients of aria2 call, and an origin that delays its replies.
///
/// Paths that begin with `/held` are answered after `goOn()`. Paths that begin with `/stuck` stall
/// after 10 kB, and those that begin with `/none` are not found.
final class ClientStage: Sendable {
    let doors: DoorStage
    private let goesOn = Guarded(false)
    private let dropIn: DropIn

    /// Bytes of each file.
    static let size: Int64 = 2_000_000

    init() throws {
        doors = try DoorStage(size: Self.size)
        dropIn = try DropIn()
        for name in ["user", "tmp"] { mkdir(doors.queue.home.path(name), 0o700) }
        doors.queue.origin.bend { [goesOn] request, reply in
            if request.target.hasPrefix("/held") {
                _ = eventually(timeout: 120) { goesOn.withLock { $0 } }
            } else if request.target.hasPrefix("/stuck") {
                reply.stallAfter = 10_000
            }
        }
    }

    /// The folder of downloads for which a client names no folder.
    var folder: String { doors.queue.folder }

    func url(_ path: String) -> String { doors.queue.origin.url(path) }

    /// Makes the origin answer the delayed requests.
    func goOn() { goesOn.withLock { $0 = true } }

    /// Starts a server with a secret that accepts requests from pages of an origin.
    func open(_ server: ClientServer, origin: String? = nil) throws -> Door {
        switch server {
        case .service:
            let origin = origin.map { ["--rpc-allow-origin", $0] } ?? []
            return try doors.open(["--rpc", "0"] + origin)
        case .daemon:
            // Like aria2, it accepts calls from any origin.
            return try daemon("--rpc-secret=open sesame", secret: "open sesame")
        }
    }

    /// Starts a server without a secret, and returns each of its ports.
    ///
    /// The service has two, for clients of aria2 and of Motrix.
    func openWithoutSecret(_ server: ClientServer, origins: [String]) throws -> [Door] {
        guard server == .service else { return [try daemon(secret: "")] }
        let service = try doors.start(
            ["--rpc", "0,0", "--rpc-no-secret"]
                + origins.flatMap { ["--rpc-allow-origin", $0] })
        try #require(
            service.waits { DoorStage.ports(service).count == 2 }, "\(service.errorOutput)")
        return DoorStage.ports(service).map { Door(service: service, port: $0, secret: "") }
    }

    private func daemon(_ arguments: String..., secret: String) throws -> Door {
        let daemon = try dropIn.daemon(
            arguments, in: folder, home: doors.queue.home.path("user"),
            temporary: doors.queue.home.path("tmp"))
        return Door(service: daemon.process, port: daemon.port, secret: secret)
    }

    /// Stops the server with SIGTERM; a daemon's exit code depends on its downloads.
    func end(_ door: Door) throws {
        door.service.signal(SIGTERM)
        let outcome = try door.service.wait(timeout: 60)
        guard case .exit = outcome.end else { throw Unexpected(text: outcome.errorOutput) }
    }

    /// Returns the names in a folder, or nothing if it does not exist.
    func names(in folder: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder).sorted()) ?? []
    }

    /// Values of a field of the requests for a path, without repetitions.
    func sent(_ field: String, to path: String) -> Set<String> {
        Set(
            doors.queue.origin.requests.filter { $0.target == path }.flatMap(\.headers)
                .filter { $0.name.lowercased() == field }.map(\.value))
    }
}

/// A response or a notification of JSON-RPC.
struct ClientAnswer {
    /// The text as received.
    let text: String
    private let members: [String: Any]

    init(_ text: String, at place: SourceLocation = #_sourceLocation) throws {
        self.text = text
        members = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            "\(text)", sourceLocation: place)
    }

    /// The method of a notification.
    var method: String? { members["method"] as? String }
    /// The gid in a notification.
    var told: String? { (members["params"] as? [[String: String]])?.first?["gid"] }
    var result: Any? { members["result"] }
    /// The result, if it is a string.
    var word: String? { result as? String }
    /// The result, if it is an object.
    var object: [String: Any] { result as? [String: Any] ?? [:] }
    /// The result, if it is an array of objects.
    var list: [[String: Any]] { result as? [[String: Any]] ?? [] }
    /// The message of an error.
    var message: String? { (members["error"] as? [String: Any])?["message"] as? String }

    /// A member of the result.
    subscript(key: String) -> String? { object[key] as? String }

    /// The first file of a task's status.
    var file: [String: Any] { (object["files"] as? [[String: Any]])?.first ?? [:] }

    /// Whether all values of a status are strings, except `files` and `uris`; clients in Go need
    /// this.
    var isOfTexts: Bool {
        object.allSatisfy { $0.value is String || $0.key == "files" }
            && file.allSatisfy { $0.value is String || $0.key == "uris" }
    }
}

extension Door {
    /// Sends a call exactly as given, and returns the response.
    func say(
        _ call: String, _ fields: String = "", at place: SourceLocation = #_sourceLocation
    ) throws -> ClientAnswer {
        try ClientAnswer(try ask("POST /jsonrpc", fields, call, at: place).body, at: place)
    }
}

/// A client's WebSocket.
final class ClientSocket {
    private let client: WebClient
    private(set) var notices: [ClientAnswer] = []

    init(_ client: WebClient) { self.client = client }

    /// Sends a call, and returns its response; notifications that arrive earlier are kept.
    func say(_ call: String) throws -> ClientAnswer {
        client.say(call)
        while true {
            let next = try ClientAnswer(try Door.message(client).text)
            guard next.method != nil else { return next }
            notices.append(next)
        }
    }

    /// Waits for a notification of a task.
    func receive(_ method: String, of gid: String) throws {
        while !notices.contains(where: { $0.method == method && $0.told == gid }) {
            notices.append(try ClientAnswer(try Door.message(client).text))
        }
    }
}

/// Polls a status until the task is no longer active, waiting or paused.
func untilEnded(_ status: () throws -> ClientAnswer) throws -> ClientAnswer {
    var answer = try status()
    _ = try eventually(timeout: 120, poll: 0.05) {
        answer = try status()
        return !["active", "waiting", "paused"].contains(answer["status"])
    }
    return answer
}
