import Assembler
import Foundation
import Glibc
import TestSupport

/// A file on an origin, whose behaviour a test changes from one run of segget to the next, and a
/// folder that it is downloaded into.
final class Stage: Sendable {
    /// Bytes that may be on the wire in vain because the tails of segments were stolen: what the
    /// sockets of a few connections hold.
    static let stolen: Int64 = 3 << 20

    /// What the origin offers at present.
    struct Offer: Sendable {
        var content: Content
        var etag: String? = "\"v1\""
        var lastModified: String?
        var servesRanges = true
        /// Changes the correct reply.
        var bend: @Sendable (OriginRequest, inout OriginReply) -> Void = { _, _ in }
    }

    let origin: FaultOrigin
    let folder: String
    private let offer: Guarded<Offer>
    private let sandbox: Sandbox?
    private let memory: Tmpfs?

    /// Offers `size` bytes at every path; the folder is one of its own unless another is given.
    ///
    /// With `memory` it is a file system of that size in memory, where a busy disk would spoil what
    /// is measured.
    init(
        size: Int64, seed: UInt64 = 1, in folder: String? = nil, memory: Int64? = nil
    ) throws {
        let offer = Guarded(Offer(content: Content(size: size, seed: seed)))
        self.offer = offer
        origin = try FaultOrigin(sendBuffer: 64 << 10) { request in
            let now = offer.withLock { $0 }
            var reply = OriginReply.file(
                now.content, for: request, etag: now.etag, lastModified: now.lastModified,
                ranges: now.servesRanges)
            now.bend(request, &reply)
            return reply.silentToCanaries(request)
        }
        self.memory = try memory.map { try Tmpfs(size: $0) }
        sandbox = folder == nil && memory == nil ? try Sandbox() : nil
        self.folder = folder ?? self.memory?.path ?? sandbox?.path ?? ""
    }

    /// The content that is offered at present.
    var content: Content { offer.withLock { $0.content } }

    /// Changes what is offered from the next request on.
    func change(_ body: (inout Offer) -> Void) { offer.withLock { body(&$0) } }

    /// Gives replies to `GET` a change of their own.
    func bendGET(_ body: @escaping @Sendable (inout OriginReply) -> Void) {
        change { offer in
            offer.bend = { request, reply in
                if request.method == "GET" { body(&reply) }
            }
        }
    }

    /// Has the origin send the whole file in chunks, without stating its size.
    func hideSize() {
        change { offer in
            offer.servesRanges = false
            offer.bend = { _, reply in reply.framing = .chunked }
        }
    }

    /// Lets the origin behave.
    func behave() { change { $0.bend = { _, _ in } } }

    /// Path of a name in the folder.
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// What is in the folder, in order.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// Starts `segget ARGUMENTS URL` in the folder.
    func start(_ arguments: [String] = [], path: String = "/file") throws -> ChildProcess {
        try Segget.start(arguments + [origin.url(path)], in: folder)
    }

    /// Runs `segget ARGUMENTS URL` in the folder to its end.
    func run(_ arguments: [String] = [], path: String = "/file") throws -> ChildProcess.Outcome {
        let outcome = try start(arguments, path: path).wait()
        origin.hearOut()
        return outcome
    }

    /// The manifest of `name`, as far as it can be read now.
    func manifest(_ name: String = "file") -> Manifest? {
        guard let data = FileManager.default.contents(atPath: path("\(name).segget")) else {
            return nil
        }
        return try? Manifest(reading: Array(data))
    }

    /// Bytes that the manifest of `name` says have arrived; `nil` when there is none.
    func recorded(_ name: String = "file") -> Int64? { manifest(name)?.extents.covered.count }

    /// Waits until the manifest records `bytes`, or the process ends.
    func waits(for bytes: Int64, of process: ChildProcess, name: String = "file") -> Bool {
        eventually(timeout: 120) {
            !process.isRunning || (recorded(name) ?? 0) >= bytes
        } && process.isRunning
    }

    /// Leaves a part of the file with a manifest: every one of the connections gets `each` bytes and
    /// no more, and then segget is killed.
    ///
    /// - Returns: Bytes that the manifest records.
    @discardableResult
    func leavePart(
        each: Int64, connections: Int = 4, arguments: [String] = [], path: String = "/file"
    ) throws -> Int64 {
        bendGET { $0.stallAfter = each }
        let name = String(path.prefix { $0 != "?" }.split(separator: "/").last ?? "file")
        let process = try start(["-x", "\(connections)"] + arguments, path: path)
        guard waits(for: each * Int64(connections), of: process, name: name) else {
            throw Unexpected(text: try process.wait(timeout: 10).errorOutput)
        }
        process.signal(SIGKILL)
        _ = try process.wait()
        origin.dropConnections()
        behave()
        return recorded(name) ?? 0
    }

    /// Bytes of the file that were asked for by `GET` after the first `count` requests, each counted once.
    ///
    /// What is on the wire in vain, because a connection's tail was taken over by another, is not in it: how
    /// much that is depends on how busy the machine is.
    func bytesAsked(after count: Int) -> Int64 {
        origin.requests.dropFirst(count).filter { $0.method == "GET" }.bytesAsked(of: content.size)
    }

    /// Body bytes that were served in requests after the first `count`.
    func bytesServed(after count: Int) -> Int64 {
        origin.requests.dropFirst(count).reduce(0) { $0 + $1.bytesServed }
    }

    /// Whether the whole file is there as it is offered.
    func isRight(_ name: String = "file") throws -> Bool {
        try content.firstDifference(at: path(name)) == nil
    }
}

extension [OriginRequest] {
    /// Bytes of a file that these ask for, each counted once.
    func bytesAsked(of size: Int64) -> Int64 {
        reduce(into: RangeSet()) { asked, request in
            let range = request.range?.bytes(of: size) ?? 0..<size
            asked.insert(ByteRange(range.lowerBound, range.upperBound))
        }.count
    }
}

extension OriginReply {
    /// Has a server that falls silent amid its bodies say nothing to new connections either: what
    /// stands still for a test is to stand still.
    func silentToCanaries(_ request: OriginRequest) -> OriginReply {
        guard stallAfter != nil, request.range?.last == 0 else { return self }
        return with { $0.delayBeforeHeaders = .infinity }
    }
}

/// Something that a test builds on did not come about.
struct Unexpected: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
}

/// The objects that `--json` wrote, and whether every line was one.
func jsonEvents(_ output: String) throws -> [[String: Any]] {
    try output.split(separator: "\n").map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8))
        guard let event = object as? [String: Any] else {
            throw Unexpected(text: "not an object: \(line)")
        }
        return event
    }
}
