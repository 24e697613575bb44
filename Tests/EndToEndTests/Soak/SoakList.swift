import Foundation
import TestSupport

/// Many small files behind one server that misbehaves until it is asked not to.
final class SoakList: Sendable {
    let count: Int
    private let seed: UInt64
    private let isHonest = Guarded(false)
    private let seen = Guarded<Set<Int>>([])
    /// What would leave a file wrong without a digest, or bring the whole server down, is left out.
    ///
    /// So is another ETag: what comes in one reply is that version then, which the next run leaves alone.
    private static let faults = SoakFault.allCases.filter {
        ![.corrupt, .dropAll, .refuseAWhile, .otherTag].contains($0)
    }

    init(seed: UInt64, count: Int) {
        self.seed = seed
        self.count = count
    }

    /// The names of the files.
    var names: [String] { (0..<count).map { "f\($0)" } }
    /// How many files have been asked for.
    var asked: Int { seen.withLock { $0.count } }
    /// Has the server behave.
    func behave() { isHonest.withLock { $0 = true } }

    /// The content of a file: 1 KiB to 2 MiB.
    func content(_ number: Int) -> Content {
        var random = SplitMix64(seed: seed &+ UInt64(number))
        return Content(size: Int64.random(in: 1024...2 << 20, using: &random), seed: random.next())
    }

    /// The list that segget reads.
    func list(_ origin: FaultOrigin) -> String {
        names.map { "\(origin.url("/\($0)"))\n  out=\($0)\n" }.joined()
    }

    /// Starts the server.
    func serve() throws -> FaultOrigin {
        try FaultOrigin { [self] request in
            guard let number = Int(request.path.dropFirst(2)) else { return .text(404) }
            seen.withLock { _ = $0.insert(number) }
            var reply = OriginReply.file(content(number), for: request, etag: "\"f\(number)\"")
            var random = SplitMix64(seed: seed ^ UInt64(request.number))
            guard !isHonest.withLock({ $0 }), Double.random(in: 0..<1, using: &random) < 0.15,
                let fault = Self.faults.randomElement(using: &random)
            else { return reply }
            fault.bend(&reply, request, &random)
            return reply
        }
    }
}

/// Resident memory of a process in bytes; `nil` when it has ended.
func residentMemory(_ pid: Int32) -> Int64? {
    guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else {
        return nil
    }
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }.map { $0 << 10 }
}

/// Number of open descriptors of a process; 0 when it has ended.
func openDescriptors(_ pid: Int32) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
}
