import Foundation
import Glibc
import TestSupport

/// `segget-aria2c --enable-rpc`, listening on a separate port.
final class Aria2Daemon: TaskStates {
    let process: Run
    let port: Int

    fileprivate init(_ process: Run) throws {
        self.process = process
        let isUp = process.waits { process.output.contains("RPC: listening on TCP port ") }
        let line = process.output.firstMatch(of: /listening on TCP port ([0-9]+)/)
        guard isUp, let line, let port = Int(line.1) else {
            throw Unexpected(text: process.output + process.errorOutput)
        }
        self.port = port
    }

    /// Calls a method, and returns its result; `nil` for an error.
    func call(_ method: String, _ parameters: [Any] = []) throws -> Any? {
        let body = try JSONSerialization.data(
            withJSONObject: ["id": 1, "method": "aria2.\(method)", "params": parameters])
        let outcome = try Run(
            "/usr/bin/curl",
            [
                "-q", "-sS", "-d", String(decoding: body, as: UTF8.self),
                "http://127.0.0.1:\(port)/jsonrpc",
            ]
        ).wait()
        guard outcome.end == .exit(0) else { throw Unexpected(text: outcome.errorOutput) }
        let answer = try JSONSerialization.jsonObject(with: Data(outcome.standardOutput))
        return (answer as? [String: Any])?["result"]
    }

    /// Returns the state of a download; empty if there is none.
    func state(_ gid: String) throws -> String {
        let status = try call("tellStatus", [gid, ["status"]]) as? [String: Any]
        return status?["status"] as? String ?? ""
    }

    /// Returns a free port, because `--rpc-listen-port` accepts no port below 1024, and so no 0.
    fileprivate static func freePort() throws -> Int {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw Unexpected(text: "no port is free") }
        return Int(UInt16(bigEndian: address.sin_port))
    }
}

extension DropIn {
    /// Starts a daemon in a folder, and waits until it listens.
    ///
    /// - Parameters:
    ///   - arguments: The options other than the port.
    ///   - folder: The working folder, in which downloads are saved.
    ///   - home: The user's home folder.
    ///   - temporary: The folder of the temporary queue.
    /// - Returns: The daemon.
    /// - Throws: `Unexpected` if it does not listen.
    func daemon(
        _ arguments: [String], in folder: String, home: String, temporary: String
    ) throws -> Aria2Daemon {
        // Another program may take the port before the daemon does.
        for _ in 0..<10 {
            let process = try Run(
                ["--enable-rpc", "--rpc-listen-port=\(try Aria2Daemon.freePort())", "--no-conf"]
                    + arguments,
                in: folder,
                environment: ["HOME": home, "TMPDIR": temporary, "XDG_DATA_HOME": home],
                program: path("bin/segget-aria2c"))
            if let daemon = try? Aria2Daemon(process) { return daemon }
        }
        throw Unexpected(text: "the daemon does not listen")
    }
}
