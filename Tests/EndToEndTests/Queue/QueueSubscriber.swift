import Foundation
import Glibc
import TestSupport

/// Listens to the events of a queue, as docs/api.md has them, and connects anew when the worker ends.
final class QueueSubscriber: Sendable {
    private struct State {
        /// The tasks as they were told, by their ids.
        var tasks: [String: Data] = [:]
        var lastID = ""
        var connections = 0
        /// What did not come as docs/api.md says.
        var faults: [String] = []
        var mayGoOn = true
        var hasEnded = false
    }

    /// What asks for events, without the last id.
    private let head: String
    private let connect: @Sendable () -> QueueLine?
    private let state = Guarded(State())

    /// Listens to whoever works the queue whose database has a path, by its socket.
    convenience init(_ queue: String) {
        // An old client is told the bytes as they are meant.
        self.init("GET /v2/events HTTP/1.0\r\n") {
            let data = FileManager.default.contents(atPath: queue + ".lock") ?? Data()
            let holder = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
            return (holder?["socket"] as? String).flatMap { try? QueueLine($0) }
        }
    }

    /// Listens to a service over TCP, and to the next one that is at its place.
    convenience init(_ door: Door) {
        let (address, port) = (door.address, door.port)
        self.init("GET /api/v2/events HTTP/1.0\r\nHost: localhost\r\n" + door.authorization) {
            try? QueueLine(address, port: port)
        }
    }

    private init(_ head: String, connect: @escaping @Sendable () -> QueueLine?) {
        (self.head, self.connect) = (head, connect)
        let thread = Thread { [self] in
            while state.withLock({ $0.mayGoOn }) {
                if !listen() { _ = poll(nil, 0, 20) }
            }
            state.withLock { $0.hasEnded = true }
        }
        thread.start()
    }

    /// How often it was connected to a worker.
    var connections: Int { state.withLock { $0.connections } }
    /// What did not come as it should.
    var faults: [String] { state.withLock { $0.faults } }

    /// Whether it knows of all tasks what `list --json` says.
    func knows(_ tasks: [[String: Any]]) throws -> Bool {
        var wanted: [String: Data] = [:]
        for task in tasks { wanted[task["id"] as? String ?? ""] = try Self.text(task) }
        return state.withLock { $0.tasks == wanted }
    }

    /// What it knows, in words.
    var known: String {
        state.withLock { state in
            state.tasks.values.map { String(decoding: $0, as: UTF8.self) }.sorted()
                .joined(separator: "\n") + "\nby \(state.lastID)"
        }
    }

    /// Ends it.
    func stop() {
        state.withLock { $0.mayGoOn = false }
        _ = eventually { state.withLock { $0.hasEnded } }
    }

    /// The same text for the same task; its place in the order is not told in changes.
    private static func text(_ task: [String: Any]) throws -> Data {
        var task = task
        task["position"] = nil
        return try JSONSerialization.data(withJSONObject: task, options: .sortedKeys)
    }

    /// Listens until the connection ends.
    ///
    /// - Returns: Whether there was one.
    private func listen() -> Bool {
        guard let line = connect() else { return false }
        let last = state.withLock { state in
            state.connections += 1
            return state.lastID
        }
        let field = last.isEmpty ? "" : "Last-Event-ID: \(last)\r\n"
        line.send("\(head)\(field)\r\n")
        var (text, isFirst) = (Data(), true)
        while state.withLock({ $0.mayGoOn }), line.receive(into: &text, within: 100) {
            while let end = text.range(of: Data("\n\n".utf8)) {
                let event = text[..<end.lowerBound]
                text = Data(text[end.upperBound...])
                if take(String(decoding: event, as: UTF8.self), after: isFirst ? last : nil) {
                    isFirst = false
                }
            }
        }
        return true
    }

    /// Takes what comes between two empty lines.
    ///
    /// - Parameters:
    ///   - text: It.
    ///   - last: The id that the connection was begun with, before the first event of it has come.
    /// - Returns: Whether it was an event.
    private func take(_ text: String, after last: String?) -> Bool {
        func field(_ name: String) -> String? {
            text.split(separator: "\n").first { $0.hasPrefix("\(name): ") }
                .map { String($0.dropFirst(name.count + 2)) }
        }
        guard let name = field("event"), let id = field("id"), let data = field("data") else {
            return false
        }
        let object =
            try? JSONSerialization.jsonObject(with: Data(data.utf8)) as? [String: Any]
        state.withLock { state in
            guard let object, let tasks = object["tasks"] as? [[String: Any]] else {
                state.faults.append("not understood: \(text)")
                return
            }
            func worker(_ id: String) -> Substring? { id.split(separator: "-").first }
            if let last, name != "snapshot", worker(last) != worker(id) {
                state.faults.append("\(name) of a worker that has told nothing yet")
            }
            if name == "snapshot" { state.tasks = [:] }
            for task in tasks {
                guard let id = task["id"] as? String else { continue }
                state.tasks[id] = try? Self.text(task)
            }
            for id in object["removed"] as? [String] ?? [] { state.tasks[id] = nil }
            state.lastID = id
        }
        return true
    }
}

/// A connection to whoever works a queue.
final class QueueLine {
    private let descriptor: Int32

    /// Connects to a port of this machine.
    ///
    /// - Throws: `SystemCallError`.
    init(_ address: String, port: Int) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(port).bigEndian
        inet_pton(AF_INET, address, &name.sin_addr)
        try connect(&name)
    }

    /// Connects to a Unix socket.
    ///
    /// - Throws: `SystemCallError`.
    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        try connect(&address)
    }

    private func connect<Name>(_ name: inout Name) throws {
        let result = withUnsafePointer(to: &name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<Name>.size))
            }
        }
        guard result == 0 else { throw SystemCallError("connect") }
    }

    deinit { close(descriptor) }

    /// Sends a few bytes.
    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Adds what has come, if anything comes in so many milliseconds.
    ///
    /// - Returns: Whether more may come.
    func receive(into text: inout Data, within milliseconds: Int32) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&request, 1, milliseconds) > 0 else { return true }
        var buffer = [UInt8](repeating: 0, count: 65536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        text += buffer[..<count]
        return true
    }
}
