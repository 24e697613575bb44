import Foundation
import Glibc

/// A TCP connection to this machine, on which a test sends arbitrary bytes.
public final class WebClient {
    /// The descriptor, for tests that inspect it without reading.
    public let descriptor: Int32
    fileprivate var received: [UInt8] = []
    /// Whether the peer has closed its side.
    public private(set) var isEnded = false

    /// Connects to a port of this machine.
    ///
    /// - Parameters:
    ///   - address: The address to connect to.
    ///   - port: The port.
    ///   - source: The address to connect from; `nil` for the default.
    ///   - receiveBuffer: Size of the receive buffer in bytes; `nil` for the default.
    /// - Throws: ``SystemCallError``.
    public init(
        to address: String = "127.0.0.1", port: Int, from source: String? = nil,
        receiveBuffer: Int32? = nil
    ) throws {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.descriptor = try checked(descriptor, "socket")
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, 4)
        }
        if let source {
            try checked(Self.with(source, 0) { bind(descriptor, $0, $1) }, "bind \(source)")
        }
        try checked(
            Self.with(address, port) { connect(descriptor, $0, $1) }, "connect to \(port)")
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    private static func with(
        _ address: String, _ port: Int, _ call: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = UInt16(port).bigEndian
        inet_pton(AF_INET, address, &name.sin_addr)
        return withUnsafePointer(to: name) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Sends as many bytes as possible without waiting.
    ///
    /// - Returns: The number of bytes; -1 if none were sent, or the peer has closed.
    @discardableResult
    public func send(_ text: String) -> Int { send(Array(text.utf8)) }

    /// Sends as many bytes as possible without waiting.
    ///
    /// - Returns: The number of bytes; -1 if none were sent, or the peer has closed.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Int {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Reads available bytes.
    public func take() {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while !isEnded {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count > 0 {
                received += buffer[..<count]
            } else if count == 0 || errno != EAGAIN {
                isEnded = true
            } else {
                return
            }
        }
    }

    /// Received bytes that were not taken as a reply or a message.
    public var text: String {
        take()
        return String(decoding: received, as: UTF8.self)
    }

    /// Whether the connection is closed, checked without reading.
    public var isGone: Bool {
        var state = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&state, 1, 0) == 1 && state.revents & Int16(POLLHUP | POLLERR) != 0
    }

    /// Takes the next HTTP reply, once it is complete.
    ///
    /// - Parameter hasBody: Whether the reply has the body that its head announces.
    /// - Returns: The reply; `nil` while it is incomplete.
    public func takeReply(hasBody: Bool = true) -> WebReply? {
        take()
        let end = Array("\r\n\r\n".utf8)
        guard
            let start = received.indices.first(where: { received[$0...].starts(with: end) })
        else { return nil }
        let head = String(decoding: received[..<start], as: UTF8.self)
        var reply = WebReply(head: head, body: "")
        let length = hasBody ? reply.field("content-length").flatMap { Int($0) } ?? 0 : 0
        guard received.count >= start + 4 + length else { return nil }
        reply.body = String(decoding: received[(start + 4)..<(start + 4 + length)], as: UTF8.self)
        received.removeFirst(start + 4 + length)
        return reply
    }
}

/// An HTTP reply.
public struct WebReply: Sendable {
    /// The status line and the fields.
    public var head: String
    /// The body.
    public var body: String

    /// The status code.
    public var status: Int { Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0 }

    /// The fields in order, with lower-case names.
    public var fields: [(name: String, value: String)] {
        head.components(separatedBy: "\r\n").dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (
                parts[0].lowercased(),
                parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
            )
        }
    }

    /// Returns the value of the first field with a lower-case name.
    public func field(_ name: String) -> String? { fields.first { $0.name == name }?.value }
}

extension WebClient {
    /// A WebSocket message.
    public struct Message: Sendable {
        /// 1 is text, 8 closes, and 10 is a pong.
        public var opcode: UInt8
        /// The payload.
        public var payload: [UInt8]

        /// The payload as text.
        public var text: String { String(decoding: payload, as: UTF8.self) }
    }

    /// Returns the request that opens a WebSocket at `/jsonrpc`.
    public static func upgrade(host: String = "localhost", fields: String = "") -> String {
        "GET /jsonrpc HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
            + "\(fields)\r\n"
    }

    /// Returns a client's frame (RFC 6455 §5.2), masked with zeros.
    ///
    /// - Parameters:
    ///   - payload: The payload.
    ///   - opcode: 1 is text, 0 continues a message.
    ///   - isLast: Whether it is the last frame of the message.
    ///   - length: The length in its head; `nil` for that of the payload.
    /// - Returns: The bytes.
    public static func frame(
        _ payload: [UInt8], opcode: UInt8 = 1, isLast: Bool = true, length: Int? = nil
    ) -> [UInt8] {
        let length = length ?? payload.count
        var bytes: [UInt8] = [(isLast ? 0x80 : 0) | opcode]
        func append(_ count: Int) {
            for place in (0..<count).reversed() { bytes.append(UInt8(length >> (8 * place) & 255)) }
        }
        if length < 126 {
            bytes.append(0x80 | UInt8(length))
        } else if length < 65536 {
            bytes.append(0x80 | 126)
            append(2)
        } else {
            bytes.append(0x80 | 127)
            append(8)
        }
        return bytes + [0, 0, 0, 0] + payload
    }

    /// Sends a text as a message.
    public func say(_ text: String) { send(Self.frame(Array(text.utf8))) }

    /// Takes the next complete message of the server.
    public func takeMessage() -> Message? {
        take()
        guard received.count >= 2 else { return nil }
        var (start, length) = (2, Int(received[1] & 127))
        if length >= 126 {
            let digits = length == 126 ? 2 : 8
            guard received.count >= 2 + digits else { return nil }
            length = received[2..<(2 + digits)].reduce(0) { $0 << 8 | Int($1) }
            start += digits
        }
        guard received.count >= start + length else { return nil }
        defer { received.removeFirst(start + length) }
        return Message(
            opcode: received[0] & 15, payload: Array(received[start..<(start + length)]))
    }
}
