import Assembler
import Foundation
import Glibc
import TestSupport

/// An origin with a different file at every path, and the folder that segget downloads them into.
///
/// The origin answers paths that begin with `/none` with 404.
final class BatchStage: Sendable {
    let origin: Origin
    let sandbox: Sandbox
    private let memory: Tmpfs?
    let size: Int64

    /// Offers files of `size` bytes.
    ///
    /// With `memory`, in bytes, the folder is in memory, so that no busy disk delays measurements.
    /// With `network`, the origin is in the namespace of that pair's server.
    init(size: Int64, memory: Int64? = nil, network: NetworkPair? = nil) throws {
        self.size = size
        self.memory = try memory.map { try Tmpfs(size: $0) }
        sandbox = try Sandbox(under: self.memory?.path)
        origin = try Origin(Origin.Offer(size: size) { $0.target }, network: network)
    }

    var folder: String { sandbox.path }

    /// Serves at most `most` `GET` requests at a time at `pace` bytes per second; refuses others.
    ///
    /// - Returns: The count of refused requests.
    func serve(atMost most: Int, pace: Double, refusal: OriginReply) -> Tally {
        let held = Guarded<[Int]>([])
        let refused = Tally()
        origin.bendGET { [origin] request, reply in
            let isAdmitted = held.withLock { held in
                let requests = origin.requests
                held.removeAll { requests[$0 - 1].finished != nil }
                guard held.count < most else { return false }
                held.append(request.number)
                return true
            }
            if isAdmitted {
                reply.pace = pace
            } else {
                refused.add()
                reply = refusal
            }
        }
        return refused
    }

    /// Returns the URLs of `/1/NAME`, `/2/NAME` and so on.
    func urls(_ count: Int, _ name: String = "big.iso") -> [String] {
        (1...count).map { origin.url("/\($0)/\(name)") }
    }

    /// Returns whether the file `name` equals the origin's file at `path`.
    func isRight(_ name: String, _ path: String) throws -> Bool {
        try Content.named(path, size: size).firstDifference(at: sandbox.path(name)) == nil
    }

    /// Returns the SHA-256 digest of the origin's file at `path`.
    func sha256(_ path: String) -> String { Content.named(path, size: size).sha256Hex }

    /// Writes the file at a path into a folder that another server offers.
    func write(_ path: String, into folder: String) throws {
        let file = URL(filePath: folder + path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Content.named(path, size: size).write(to: file.path)
    }

    /// Returns the number of bytes that the manifest of `name` records; `nil` without a manifest.
    func recorded(_ name: String) -> Int64? { Manifest(of: sandbox.path(name))?.received }

    /// Runs `segget -i -` with a list on its standard input.
    func run(list: String, _ arguments: [String] = []) throws -> Run.Outcome {
        let list = try Sandbox().keeping(list)
        return try Run(
            "/bin/sh",
            ["-c", "exec \"$0\" \"$@\" <\(list.path("list"))", try Segget.binary(), "-i", "-"]
                + arguments, in: folder
        ).wait()
    }
}

extension Sandbox {
    /// Writes the text to `list`.
    fileprivate func keeping(_ text: String) throws -> Sandbox {
        try write("list", text)
        return self
    }
}
