import Foundation
import Glibc
import TestSupport

@testable import SeggetService

/// A connection on which a test sends arbitrary bytes.
final class RawConnection {
    let descriptor: Int32
    private var received: [UInt8] = []
    /// Whether the peer has closed its side.
    private(set) var isEnded = false

    /// Connects.
    ///
    /// - Throws: `SystemCallError`.
    init(_ path: String) throws {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue
        descriptor = socket(AF_UNIX, Int32(type), 0)
        var address = try SocketAddressBytes(path)
        guard address.with({ connect(descriptor, $0, $1) }) == 0 else {
            let error = SystemCallError("connect")
            close(descriptor)
            throw error
        }
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }

    deinit { close(descriptor) }

    /// Sends as many bytes as possible without waiting.
    ///
    /// - Returns: The number of bytes; -1 if the peer has closed.
    @discardableResult
    func send(_ text: String) -> Int { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Int {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }

    /// Sends everything, waiting while the peer does not read.
    func sendAll(_ text: String) async -> Bool {
        var rest = Array(text.utf8)[...]
        return await soon {
            let count = send(Array(rest))
            if count > 0 { rest = rest.dropFirst(count) }
            return rest.isEmpty || count < 0 && errno != EAGAIN
        } && rest.isEmpty
    }

    /// Closes this side of the connection for writing.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The received text since the last discard.
    var text: String {
        take()
        return String(decoding: received, as: UTF8.self)
    }

    /// Returns the bytes received since the last call.
    func takeBytes() -> [UInt8] {
        take()
        defer { received = [] }
        return received
    }

    /// Discards the received bytes.
    func forget() { received = [] }

    private func take() {
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

    /// Waits until a text was received.
    func has(_ text: String) async -> Bool {
        await soon { self.text.contains(text) }
    }

    /// Waits until the peer has closed its side.
    func ends() async -> Bool {
        await soon {
            take()
            return isEnded
        }
    }
}
