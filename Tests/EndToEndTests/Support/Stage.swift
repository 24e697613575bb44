import Assembler
import Foundation
import Glibc
import TestSupport

/// An origin that offers one file, and the folder that segget downloads the file into.
///
/// A test can change the origin's behaviour between runs.
final class Stage: Sendable {
    /// The most bytes that may be sent twice because the tails of segments were stolen.
    ///
    /// They fit into the socket buffers of a few connections.
    static let stolen: Int64 = 3 << 20

    let origin: Origin
    let folder: String
    private let sandbox: Sandbox?
    private let memory: Tmpfs?

    /// Offers `size` bytes at every path; without `in`, creates a new folder.
    ///
    /// With `memory`, the folder is on a file system of that size in memory. A busy disk would
    /// distort measurements.
    init(
        size: Int64, seed: UInt64 = 1, in folder: String? = nil, memory: Int64? = nil
    ) throws {
        origin = try Origin(Origin.Offer(Content(size: size, seed: seed)))
        self.memory = try memory.map { try Tmpfs(size: $0) }
        sandbox = folder == nil && memory == nil ? try Sandbox() : nil
        self.folder = folder ?? self.memory?.path ?? sandbox?.path ?? ""
    }

    /// The content that the origin currently offers.
    var content: Content { origin.content }

    /// Returns the path of `name` in the folder.
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Returns the names in the folder, in ascending order.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Starts `segget ARGUMENTS URL` in the folder.
    func start(_ arguments: [String] = [], path: String = "/file") throws -> Run {
        try Run(arguments + [origin.url(path)], in: folder)
    }

    /// Runs `segget ARGUMENTS URL` in the folder to its end.
    func run(_ arguments: [String] = [], path: String = "/file") throws -> Run.Outcome {
        let outcome = try start(arguments, path: path).wait()
        origin.hearOut()
        return outcome
    }

    /// Returns the readable records of the manifest of `name`.
    func manifest(_ name: String = "file") -> Manifest? { Manifest(of: path(name)) }

    /// Returns the number of bytes that the manifest of `name` records; `nil` without a manifest.
    func recorded(_ name: String = "file") -> Int64? { manifest(name)?.received }

    /// Creates a part and its manifest by killing segget once each connection has `each` bytes.
    ///
    /// - Returns: The number of bytes that the manifest records.
    @discardableResult
    func leavePart(
        each: Int64, connections: Int = 4, arguments: [String] = [], path: String = "/file"
    ) throws -> Int64 {
        origin.bendGET { $0.stallAfter = each }
        let name = String(path.prefix { $0 != "?" }.split(separator: "/").last ?? "file")
        let process = try start(["-x", "\(connections)"] + arguments, path: path)
        guard process.waits(for: each * Int64(connections), name: name) else {
            throw Unexpected(text: try process.wait(timeout: 10).errorOutput)
        }
        process.signal(SIGKILL)
        _ = try process.wait()
        origin.dropConnections()
        origin.behave()
        return recorded(name) ?? 0
    }

    /// Returns how many bytes `GET` requested after the first `count` requests, each counted once.
    ///
    /// Bytes that were sent twice, because a connection's tail was stolen, count once: their number
    /// depends on the machine's load.
    func bytesAsked(after count: Int) -> Int64 {
        origin.requests.dropFirst(count).filter { $0.method == "GET" }.bytesAsked(of: content.size)
    }

    /// Returns the number of body bytes served after the first `count` requests.
    func bytesServed(after count: Int) -> Int64 {
        origin.requests.dropFirst(count).reduce(0) { $0 + $1.bytesServed }
    }

    /// Returns whether `name` has exactly the offered content.
    func isRight(_ name: String = "file") throws -> Bool {
        try content.firstDifference(at: path(name)) == nil
    }
}

extension [OriginRequest] {
    /// Returns how many bytes of a file these requests cover, each byte counted once.
    func bytesAsked(of size: Int64) -> Int64 {
        reduce(into: RangeSet()) { asked, request in
            let range = request.range?.bytes(of: size) ?? 0..<size
            asked.insert(ByteRange(range.lowerBound, range.upperBound))
        }.count
    }
}

/// An unmet precondition of a test.
struct Unexpected: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}
