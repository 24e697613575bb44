import Assembler
import FoundationEssentials
import Glibc
import SegmenterValues

/// A refusal by a server, which all workers of a fleet heed.
struct FleetRefusal: Codable, Sendable, Hashable {
    /// The server: scheme, host and port.
    var origin: String
    /// The seconds for which no request is sent, from when a worker learns of it.
    var seconds: Double
    /// The status code; absent if the server only counts requests.
    var status: Int?

    /// The longest time that a refusal of another worker is heeded, in seconds.
    static let longest = 900.0

    /// Takes a refusal from a notice about a file; `nil` if the notice is about something else.
    init?(_ notice: DownloadNotice, at origin: String) {
        self.origin = origin
        switch notice {
        case .retrying(_, _, let delay, .status(let status)) where [429, 503].contains(status):
            (seconds, self.status) = (delay.inSeconds, status)
        case .resting(_, let time): (seconds, status) = (time.inSeconds, 403)
        default: return nil
        }
        seconds = min(seconds, Self.longest)
    }
}

extension Fleet {
    private var hosts: String { "\(path)/\(FleetFormat.hosts)" }

    /// Tells the other workers of a refusal; failures are ignored, because each worker slows down by
    /// itself as well.
    ///
    /// - Returns: The name of the file.
    func tell(_ refusal: FleetRefusal) -> String? {
        let name = PlanFormat.hex(UInt64.random(in: 0...UInt64.max))
        guard let folder = try? Folder(hosts) else { return nil }
        let bytes = SealedLine.of(refusal, seed: CRC32.of("refusal".utf8))
        do throws(AssemblyError) {
            try folder.createWhole(name, bytes, temporary: "\(name)~")
        } catch { return nil }
        return name
    }

    /// Returns the refusals of other workers.
    ///
    /// - Parameter known: The names of those that are known.
    /// - Returns: The names of all, and the new ones.
    func refusals(but known: Set<String>) -> (names: Set<String>, new: [FleetRefusal]) {
        guard let folder = try? Folder(hosts) else { return ([], []) }
        let names = Set(folder.entryNames.filter { $0.utf8.count == 16 })
        let new = names.subtracting(known).compactMap { name in
            folder.read(name, most: 4096).flatMap {
                FleetFormat.decode(FleetRefusal.self, $0, seed: CRC32.of("refusal".utf8))
            }
        }
        return (names, new)
    }

    /// The number of shards whose attempts are running, as far as the marks say, and of those that are
    /// not complete; each at least 1.
    var openShards: (running: Int, unfinished: Int) {
        guard let board = try? board() else { return (1, 1) }
        let all = 0..<shards
        return (
            max(1, all.count { board.isRunning($0) }), max(1, all.count { !board.isDone($0) })
        )
    }
}
