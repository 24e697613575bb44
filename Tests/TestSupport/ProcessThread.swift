import CTestSupport
import Foundation
import Glibc

/// A thread of a process, as in `/proc`.
public struct ProcessThread: Sendable {
    /// The thread id.
    public let id: Int32
    /// The name, as ps(1) prints it.
    public let name: String

    /// Returns the threads of a process, or none if it has ended.
    public static func all(of pid: Int32) -> [ProcessThread] {
        let folder = "/proc/\(pid)/task"
        let ids = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return ids.compactMap { id in
            guard let number = Int32(id),
                let name = try? String(contentsOfFile: "\(folder)/\(id)/comm", encoding: .utf8)
            else { return nil }
            return ProcessThread(id: number, name: name.trimmingCharacters(in: .newlines))
        }
    }

    /// Whether the thread has the idle I/O scheduling class.
    public var isDiskIdle: Bool { segget_test_is_disk_idle(id) != 0 }

    /// Its niceness.
    public var niceness: Int32 {
        getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(id))
    }
}
