import Foundation
import Glibc
import TestSupport
import Testing

/// What clients of aria2 are given in its place.
enum ClientServer: CaseIterable {
    /// `segget serve --rpc`.
    case service
    /// `segget-aria2c --enable-rpc`.
    case daemon
}

/// A service that clients of aria2 talk to, and an origin that waits with its replies.
///
/// A path that begins with `/held` is answered once the test says so; one that begins with `/stuck` never goes on
/// behind its first bytes; one that begins with `/none` is not found.
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
        doors.queue.files.bend { [goesOn] request, reply in
            if request.target.hasPrefix("/held") {
                _ = eventually(timeout: 120) { goesOn.withLock { $0 } }
            } else if request.target.hasPrefix("/stuck") {
                reply.stallAfter = 10_000
            }
        }
    }

    /// Where files go that no client has named a folder for.
    var folder: String { doors.queue.folder }

    func url(_ path: String) -> String { doors.queue.origin.url(path) }

    /// Has the origin answer what it held.
    func goOn() { goesOn.withLock { $0 = true } }

    /// Starts what clients talk to, which asks for a secret, and lets in pages of an origin.
    func open(_ server: ClientServer, origin: String? = nil) throws -> Door {
        switch server {
        case .service:
            let origin = origin.map { ["--rpc-allow-origin", $0] } ?? []
            return try doors.open(["--rpc", "0"] + origin)
        case .daemon:
            // aria2 takes calls of any origin, and so does this.
            return try daemon("--rpc-secret=open sesame", secret: "open sesame")
        }
    }

    /// The same without a secret, at each of its ports; where there is a choice it has two, as for aria2 and Motrix.
    func openWithoutSecret(_ server: ClientServer, origins: [String]) throws -> [Door] {
        guard server == .service else { return [try daemon(secret: "")] }
        let service = try doors.start(
            ["--rpc", "0,0", "--rpc-no-secret"]
                + origins.flatMap { ["--rpc-allow-origin", $0] })
        try #require(
            eventually { DoorStage.ports(service).count == 2 || !service.isRunning },
            "\(service.errorOutput)")
        return DoorStage.ports(service).map { Door(service: service, port: $0, secret: "") }
    }

    private func daemon(_ arguments: String..., secret: String) throws -> Door {
        let daemon = try dropIn.daemon(
            arguments, in: folder, home: doors.queue.home.path("user"),
            temporary: doors.queue.home.path("tmp"))
        return Door(service: daemon.process, port: daemon.port, secret: secret)
    }

    /// Ends it in order; a daemon's exit code tells of what it could not fetch.
    func end(_ door: Door) throws {
        door.service.signal(SIGTERM)
        let outcome = try door.service.wait(timeout: 60)
        guard case .exit = outcome.end else { throw Unexpected(text: outcome.errorOutput) }
    }

    /// What is in a folder; nothing where there is none.
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

/// What a client was answered.
struct ClientAnswer {
    /// As it came.
    let text: String
    private let members: [String: Any]

    init(_ text: String, at place: SourceLocation = #_sourceLocation) throws {
        self.text = text
        members = try #require(
            try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any],
            "\(text)", sourceLocation: place)
    }

    /// The method that a notification names.
    var method: String? { members["method"] as? String }
    /// The task that a notification is about.
    var told: String? { (members["params"] as? [[String: String]])?.first?["gid"] }
    var result: Any? { members["result"] }
    /// The result, if it is a text.
    var word: String? { result as? String }
    /// The result, if it is an object.
    var object: [String: Any] { result as? [String: Any] ?? [:] }
    /// The result, if it is a list of objects.
    var list: [[String: Any]] { result as? [[String: Any]] ?? [] }
    /// The text of an error.
    var message: String? { (members["error"] as? [String: Any])?["message"] as? String }

    /// A member of the result.
    subscript(key: String) -> String? { object[key] as? String }

    /// The one file of a task's status.
    var file: [String: Any] { (object["files"] as? [[String: Any]])?.first ?? [:] }

    /// Whether every value of a status is a text, as clients in Go need it, or what they know as a list.
    var isOfTexts: Bool {
        object.allSatisfy { $0.value is String || $0.key == "files" }
            && file.allSatisfy { $0.value is String || $0.key == "uris" }
    }
}

extension Door {
    /// What a call is answered with that is sent as a client writes it.
    func say(
        _ call: String, _ fields: String = "", at place: SourceLocation = #_sourceLocation
    ) throws -> ClientAnswer {
        try ClientAnswer(try ask("POST /jsonrpc", fields, call, at: place).body, at: place)
    }
}

/// A WebSocket of a client.
final class ClientSocket {
    private let client: WebClient
    private(set) var notices: [ClientAnswer] = []

    init(_ client: WebClient) { self.client = client }

    /// What a call is answered with; notifications that come before are kept.
    func say(_ call: String) throws -> ClientAnswer {
        client.say(call)
        while true {
            let next = try ClientAnswer(try Door.message(client).text)
            guard next.method != nil else { return next }
            notices.append(next)
        }
    }

    /// Waits for a notification of a task.
    func waits(for method: String, of gid: String) throws {
        while !notices.contains(where: { $0.method == method && $0.told == gid }) {
            notices.append(try ClientAnswer(try Door.message(client).text))
        }
    }
}

/// Asks for a status again and again, until it is no longer that of a task that goes on.
func untilEnded(_ status: () throws -> ClientAnswer) throws -> ClientAnswer {
    var answer = try status()
    _ = try eventually(timeout: 120, poll: 0.05) {
        answer = try status()
        return !["active", "waiting", "paused"].contains(answer["status"])
    }
    return answer
}
