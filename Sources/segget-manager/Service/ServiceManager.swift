// Service: runs a worker as a service: messages to the service manager, and the log. This folder
// knows systemd's protocols, but not how a queue is run.

import CLinux
import Glibc
import SeggetQueue
import SeggetReports

/// Sends messages to the service manager by the protocol of sd_notify(3).
///
/// systemd uses it, and so does ``Detachment``.
struct ServiceManager: Sendable {
    private let address: String?
    /// The longest time between two signs of life that the manager accepts; `nil` for no limit.
    let watchdog: Duration?

    /// Reads the environment, and removes the variables, so that child processes do not inherit
    /// them.
    static func take() -> ServiceManager {
        let address = variable("NOTIFY_SOCKET")
        let process = variable("WATCHDOG_PID")
        let time = variable("WATCHDOG_USEC").flatMap { Int64($0) }
        let isOurs = process == nil || process == "\(getpid())"
        return ServiceManager(
            address: address,
            watchdog: isOurs ? time.flatMap { $0 > 0 ? .microseconds($0) : nil } : nil)
    }

    private static func variable(_ name: String) -> String? {
        defer { unsetenv(name) }
        return getenv(name).map { String(cString: $0) }
    }

    /// Sends lines such as `READY=1`, without waiting for the manager.
    func tell(_ lines: String...) { send(lines) }

    private func send(_ lines: [String]) {
        guard let address, let socket = NotifySocket(address) else { return }
        socket.send(lines.joined(separator: "\n"))
    }

    /// Sends a status text, and other lines; line breaks in the texts are escaped.
    ///
    /// - Parameters:
    ///   - lines: Lines such as `STOPPING=1`.
    ///   - status: The status.
    ///   - hint: A hint for the process that detached this one; systemd ignores it.
    func tell(_ lines: String..., status: String, hint: String? = nil) {
        var lines = lines + ["STATUS=\(PrintableText.escape(status))"]
        if let hint { lines.append(NotifySocket.hint + PrintableText.escape(hint)) }
        send(lines)
    }

    /// Reports that the settings are being reloaded, until the next `READY=1`.
    func tellReloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let microseconds = Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000
        tell("RELOADING=1", "MONOTONIC_USEC=\(microseconds)")
    }
}

/// A datagram socket for an address of unix(7); a leading `@` marks an abstract address.
final class NotifySocket {
    private let descriptor: Int32
    private let address: sockaddr_un
    private let length: socklen_t

    /// Creates a socket.
    ///
    /// - Parameters:
    ///   - name: The address.
    ///   - listens: Whether to receive the datagrams that are sent to the address.
    init?(_ name: String, listens: Bool = false) {
        let bytes = Array(name.utf8)
        var address = sockaddr_un()
        guard let first = bytes.first, [UInt8(ascii: "/"), UInt8(ascii: "@")].contains(first),
            bytes.count < MemoryLayout.size(ofValue: address.sun_path)
        else { return nil }
        address.sun_family = sa_family_t(AF_UNIX)
        let isAbstract = first == UInt8(ascii: "@")
        withUnsafeMutableBytes(of: &address.sun_path) { path in
            path.copyBytes(from: bytes)
            if isAbstract { path[0] = 0 }
        }
        self.address = address
        let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
        length = socklen_t(start + bytes.count + (isAbstract ? 0 : 1))
        let type = SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue
        descriptor = socket(AF_UNIX, Int32(type), 0)
        guard descriptor >= 0 else { return nil }
        guard !listens || withAddress({ bind(descriptor, $0, length) }) == 0 else { return nil }
    }

    deinit { close(descriptor) }

    private func withAddress(_ call: (UnsafePointer<sockaddr>) -> Int32) -> Int32 {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, call)
        }
    }

    /// The prefix of a hint: a variable with the prefix `X_`, as sd_notify(3) requires.
    static let hint = "X_SEGGET_HINT="

    /// The result of starting a process.
    enum Start {
        /// The process reported that it is ready.
        case ready
        /// The process has ended; the texts are those that it reported.
        case ended(reason: String?, hint: String?)
    }

    /// Waits until a process reports that it is ready, or ends.
    ///
    /// - Parameters:
    ///   - pid: The process.
    ///   - status: Called with each status that the process reports before.
    /// - Returns: The result.
    func start(of pid: pid_t, status: (String) -> Void) -> Start {
        let process = segget_open_process(pid)
        guard process >= 0 else { return .ended(reason: nil, hint: nil) }
        defer { close(process) }
        var end: (reason: String?, hint: String?)
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var events = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: process, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&events, 2, -1) > 0 else { continue }
            if events[0].revents != 0 {
                let count = recv(descriptor, &buffer, buffer.count, 0)
                let lines = String(decoding: buffer[..<max(0, count)], as: UTF8.self)
                    .split(separator: "\n")
                func value(_ name: String) -> String? {
                    lines.first { $0.hasPrefix(name) }.map { String($0.dropFirst(name.utf8.count)) }
                }
                if lines.contains("READY=1") { return .ready }
                let text = value("STATUS=")
                if lines.contains("STOPPING=1") {
                    end = (text, value(Self.hint))
                } else if let text {
                    status(text)
                }
            } else if events[1].revents != 0 {
                return .ended(reason: end.reason, hint: end.hint)
            }
        }
    }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = withAddress {
            Int32(
                sendto(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL), $0, length))
        }
    }
}

/// The socket that systemd listens on for this process, by the protocol of sd_listen_fds(3).
enum ActivationSocket {
    private static let first: Int32 = 3

    /// Takes the socket, and removes the variables, so that child processes do not inherit them.
    ///
    /// - Returns: The descriptor; `nil` if there is none.
    /// - Throws: `QueueError`, if it is not one listening Unix socket.
    static func take() throws(QueueError) -> Int32? {
        let names = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
        let values = names.map { name in getenv(name).map { String(cString: $0) } }
        names.forEach { unsetenv($0) }
        guard values[0] == "\(getpid())", let count = values[1].flatMap({ Int32($0) }), count > 0
        else { return nil }
        for descriptor in first..<first + count {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        guard count == 1, option(SO_DOMAIN) == AF_UNIX, option(SO_ACCEPTCONN) == 1 else {
            throw QueueError(
                .unavailable, "the service manager passed \(count) sockets to listen on",
                hint: "pass one Unix stream socket: see `segget.socket`")
        }
        return first
    }

    private static func option(_ name: Int32) -> Int32 {
        var (value, length) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        getsockopt(first, SOL_SOCKET, name, &value, &length)
        return value
    }
}
