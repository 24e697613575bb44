import Foundation
import Glibc
import TestSupport
import Testing

/// A file on a server that states its date, and ways to download it over an existing file.
struct UnmarkedStage {
    static let size: Int64 = 1_500_000
    static let date = 1_700_000_000
    /// The number of bytes of a file that another program has begun.
    static let begun: Int64 = 600_000

    /// How the file is downloaded.
    enum Way: CaseIterable, Sendable {
        case folder, file, list, queue
    }

    let stage: Stage
    let home: Sandbox

    init() throws {
        (stage, home) = (try Stage(size: Self.size, seed: 9), try Sandbox())
        stage.origin.change { $0.lastModified = httpDate(unixTime: Self.date) }
    }

    /// Downloads the file.
    func run(
        _ way: Way, _ arguments: [String] = []
    ) throws -> Run.Outcome {
        let url = stage.origin.url("/file")
        switch way {
        case .folder: return try stage.run(arguments)
        case .file: return try stage.run(["-o", "file"] + arguments)
        case .list:
            let list = try home.write("list", "\(url)\n")
            return try Run(["-i", list] + arguments, in: stage.folder).wait()
        case .queue:
            let queue = ["--queue", home.path("q.db")]
            let environment = ["SEGGET_NO_CONFIG": "1"]
            let add = try Run(
                ["add", "-o", "file", url] + queue + arguments, in: stage.folder,
                environment: environment
            ).wait()
            guard add.end == .exit(0) else { return add }
            return try Run(["run"] + queue, in: stage.folder, environment: environment).wait()
        }
    }

    /// Sets the file's modification time, in seconds since 1970.
    func setTime(_ seconds: Int) {
        let times = [timespec(tv_sec: seconds, tv_nsec: 0), timespec(tv_sec: seconds, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, stage.path("file"), times, 0) == 0)
    }

    /// Makes the server state a digest.
    func state(digest: [UInt8]?) {
        let value = digest.map { "sha-256=:\(Data($0).base64EncodedString()):" }
        stage.origin.bend { _, reply in if let value { reply.set("Repr-Digest", value) } }
    }
}
