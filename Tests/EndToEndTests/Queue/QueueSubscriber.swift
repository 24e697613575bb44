import Foundation
import Glibc
import TestSupport

/// Subscribes to the events of a queue, as in docs/api.md, and reconnects when the worker ends.
final class QueueSubscriber: Sendable {
    private struct State {
        /// The latest report of each task, by its id.
        var tasks: [String: Data] = [:]
        var lastID = ""
        var connections = 0
        /// Events that contradict docs/api.md.
        var faults: [String] = []
        var mayGoOn = true
        var hasEnded = false
    }

    /// The head of the request, without `Last-Event-ID`.
    private let head: String
    private let connect: @Sendable () -> QueueLine?
    private let state = Guarded(State())

    /// Subscribes through the socket of the worker that runs the queue at a path.
    convenience init(_ queue: String) {
        // HTTP/1.0: the body is sent without chunks.
        self.init("GET /v2/events HTTP/1.0\r\n") {
            let data = FileManager.default.contents(atPath: queue + ".lock") ?? Data()
            let holder = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
            return (holder?["socket"] as? String).flatMap { try? QueueLine($0) }
        }
    }

    /// Subscribes to a service over TCP, and to the next one at the same address.
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

    /// How many connections were made.
    var connections: Int { state.withLock { $0.connections } }
    /// Events that contradict docs/api.md.
    var faults: [String] { state.withLock { $0.faults } }

    /// Whether the events have reported all tasks as `list --json` does.
    func knows(_ tasks: [[String: Any]]) throws -> Bool {
        var wanted: [String: Data] = [:]
        for task in tasks { wanted[task["id"] as? String ?? ""] = try Self.text(task) }
        return state.withLock { $0.tasks == wanted }
    }

    /// All reported tasks, as text for the messages of failed expectations.
    var known: String {
        state.withLock { state in
            state.tasks.values.map { String(decoding: $0, as: UTF8.self) }.sorted()
                .joined(separator: "\n") + "\nby \(state.lastID)"
        }
    }

    /// Stops listening, and waits until the thread has ended.
    func stop() {
        state.withLock { $0.mayGoOn = false }
        _ = eventually { state.withLock { $0.hasEnded } }
    }

    /// Returns the same text for the same task; changes do not report its position.
    private static func text(_ task: [String: Any]) throws -> Data {
        var task = task
        task["position"] = nil
        return try JSONSerialization.data(withJSONObject: task, options: .sortedKeys)
    }

    /// Listens until the connection ends.
    ///
    /// - Returns: Whether there was a connection.
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

    /// Handles the lines between two empty lines.
    ///
    /// - Parameters:
    ///   - text: The lines.
    ///   - last: The `Last-Event-ID` of this connection, until its first event is received.
    /// - Returns: Whether the text was an event.
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

/// A connection to the worker of a queue.
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

    /// Appends received bytes, after waiting for them for at most `milliseconds`.
    ///
    /// - Returns: Whether the connection is still open.
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
