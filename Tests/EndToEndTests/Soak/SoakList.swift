import Foundation
import TestSupport

/// Many small files on one faulty server, until `behave()` is called.
final class SoakList: Sendable {
    let count: Int
    private let seed: UInt64
    private let isHonest = Guarded(false)
    private let seen = Guarded<Set<Int>>([])
    /// The server's faults, except those that stop the server or corrupt a file undetectably.
    ///
    /// `otherTag` is excluded: a file received in one response has that version, and the next run
    /// keeps it.
    private static let faults = SoakFault.allCases.filter {
        ![.corrupt, .dropAll, .refuseAWhile, .otherTag].contains($0)
    }

    init(seed: UInt64, count: Int) {
        self.seed = seed
        self.count = count
    }

    /// The names of the files.
    var names: [String] { (0..<count).map { "f\($0)" } }
    /// The number of files that were requested.
    var asked: Int { seen.withLock { $0.count } }
    /// Stops the server's faults.
    func behave() { isHonest.withLock { $0 = true } }

    /// Returns the content of a file: 1 KiB to 2 MiB.
    func content(_ number: Int) -> Content {
        var random = SplitMix64(seed: seed &+ UInt64(number))
        return Content(size: Int64.random(in: 1024...2 << 20, using: &random), seed: random.next())
    }

    /// Returns the list that segget reads.
    func list(_ origin: Origin) -> String {
        names.map { "\(origin.url("/\($0)"))\n  out=\($0)\n" }.joined()
    }

    /// Starts the server.
    func serve() throws -> Origin {
        try Origin { [self] request in
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

/// Returns the resident memory of a process in bytes, or `nil` if it has exited.
func residentMemory(_ pid: Int32) -> Int64? {
    guard let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else {
        return nil
    }
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }.map { $0 << 10 }
}

/// Returns the number of open file descriptors of a process, or 0 if it has exited.
func openDescriptors(_ pid: Int32) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
}
