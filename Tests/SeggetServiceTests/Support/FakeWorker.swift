import Foundation
import Glibc
import SeggetQueue
import TestSupport

@testable import SeggetService

/// A fake worker, whose responses a test defines.
final class FakeWorker: Sendable {
    let sandbox: Sandbox
    let path: String
    private let listener: Int32

    /// Listens, and answers each request by its first line; with `nil`, it closes the connection.
    ///
    /// `heads` receives the head of each request.
    init(
        _ answer: @escaping @Sendable (String) -> String?,
        heads: @escaping @Sendable (String) -> Void = { _ in }
    ) throws {
        sandbox = try Sandbox("worker")
        path = sandbox.path("q.sock")
        let socket = try ListeningSocket(at: path)
        let listener = socket.descriptor
        self.listener = listener
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                Thread.detachNewThread { Self.serve(connection, answer, heads) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    private static func serve(
        _ connection: Int32, _ answer: (String) -> String?, _ heads: (String) -> Void
    ) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            let text = String(decoding: buffer[..<count], as: UTF8.self)
            heads(text)
            guard let answer = answer(String(text.prefix { $0 != "\r\n" })) else { break }
            let bytes = Array(answer.utf8)
            send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
        close(connection)
    }

    /// Creates a worker that forwards requests to a server at a path.
    ///
    /// Like a worker of 0.2, it answers 404 to requests for version 2.
    static func ofVersion02(before server: String) throws -> FakeWorker {
        let last = Guarded("")
        return try FakeWorker { line in
            guard !line.contains(" /v2/") else {
                return reply(
                    #"{"error":{"code":"invalid","hint":"h","message":"m"}}"#, status: 404)
            }
            return pass(last.withLock { $0 }, to: server)
        } heads: { text in
            last.withLock { $0 = text }
        }
    }

    /// Sends a request to a server, and returns its whole response; `nil` if there is none.
    private static func pass(_ request: String, to server: String) -> String? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        defer { close(descriptor) }
        guard var address = try? SocketAddressBytes(server),
            address.with({ connect(descriptor, $0, $1) }) == 0
        else { return nil }
        let bytes = Array(request.utf8)
        send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let text = String(decoding: answer, as: UTF8.self)
            if let end = text.range(of: "\r\n\r\n") {
                // A chunked stream of events does not end; its first event is enough.
                let isStream = text.contains("event: ") && text.hasSuffix("\n\n\r\n")
                let length = text[..<end.lowerBound].components(separatedBy: "\r\n")
                    .first { $0.lowercased().hasPrefix("content-length:") }
                    .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                if isStream || length.map({ text[end.upperBound...].utf8.count >= $0 }) == true {
                    return text
                }
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            answer += buffer[..<count]
        }
    }

    /// Returns an HTTP response.
    static func reply(_ body: String, status: Int = 200, fields: String = "") -> String {
        "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)"
    }

    /// The response to a request for `/health`.
    static func health(version: String, api: String = "v2") -> String {
        reply(#"{"api":"\#(api)","version":"\#(version)","worker":1}"#)
    }
}
