import Foundation
import Glibc
import TestSupport
import Testing

/// System calls that a file system or a sandbox does not offer, from the first call on.
///
/// The download completes, or it fails before the first byte. The message says which call fails and
/// what to do.
struct LackingCallTests {
    static let codes = [ENOSYS, EOPNOTSUPP, EINVAL, ENOTTY, EPERM, ENOLCK]

    /// How a call is denied.
    enum Means: Sendable { case sandbox, folder }

    /// A call, and whether the download completes without it.
    struct Row: Sendable {
        let call: String
        let means: Means
        let arrives: Bool
    }

    /// Calls that every program needs at its start fail on the folder's files only.
    static let rows: [Row] =
        [
            "copy_file_range", "dup3", "faccessat2", "fadvise64", "fallocate", "fchmod",
            "fchmodat", "fchown", "fdatasync", "fgetxattr", "flock", "fremovexattr", "fsetxattr",
            "fstatfs", "fsync", "ftruncate", "getdents64", "ioprio_set", "linkat", "mkdirat",
            "openat2", "renameat2", "renameat2,linkat", "statx", "sync_file_range", "utimensat",
            "flock,renameat2,linkat,fallocate,fchmod,utimensat,fsetxattr,fgetxattr,fsync,fdatasync",
        ].map { Row(call: $0, means: .sandbox, arrives: true) }
        + ["pwrite64", "unlinkat"].map { Row(call: $0, means: .sandbox, arrives: false) }
        + ["close", "fgetxattr", "fstatvfs", "linkat", "posix_fadvise"].map {
            Row(call: $0, means: .folder, arrives: true)
        }
        + ["fstat", "fstatat", "open", "openat", "pread", "renameat", "write"].map {
            Row(call: $0, means: .folder, arrives: false)
        }

    /// Runs segget in a folder where a call fails.
    private static func run(
        _ row: Row, _ code: Int32, _ arguments: [String], in folder: String
    ) throws -> Run.Outcome {
        switch row.means {
        case .sandbox:
            let prefix = try Denial.prefix(
                row.call.split(separator: ",").map(String.init), errno: code)
            return try Run(
                Array(prefix.dropFirst()) + [Segget.binary()] + arguments, in: folder,
                program: prefix[0]
            ).wait()
        case .folder:
            return try Run(
                arguments, in: folder,
                environment: try DiskFaults.environment(["\(row.call):*:1:0:\(code)"], in: folder)
            ).wait()
        }
    }

    /// Runs segget and describes what is wrong with the result; `nil` if nothing is.
    private static func fault(
        _ row: Row, _ code: Int32, _ arguments: [String]
    ) throws -> String? {
        let stage = try Stage(size: 200_000)
        stage.origin.change { $0.lastModified = httpDate(unixTime: 1_234_567_890) }
        let command = arguments + ["-x", "2", stage.origin.url("/file")]
        let outcome = try run(row, code, command, in: stage.folder)
        let errors = outcome.errorOutput
        let report =
            "\(row.call) \(code) \(arguments) \(outcome.end) \(try stage.names()) \(errors)"
        if outcome.end == .exit(0) {
            let (isRight, names) = (try stage.isRight(), try stage.names())
            return isRight && names == ["file"] ? nil : report
        }
        let served = stage.origin.requests.filter { $0.method == "GET" }.reduce(0) {
            $0 + $1.bytesServed
        }
        let isSaid = errors.contains(String(cString: strerror(code))) && errors.contains("hint: ")
        let isEarly = [.exit(73), .exit(74)].contains(outcome.end) && served <= 1 && isSaid
        return isEarly && !row.arrives ? nil : "\(report) served \(served)"
    }

    /// Tries all error codes of the rows, several at a time, and returns the faults.
    private static func faults(_ arguments: [String], _ rows: [Row] = rows) -> [String] {
        let trials = rows.flatMap { row in codes.map { (row, $0) } }
        let found = Guarded<[String]>([])
        DispatchQueue.concurrentPerform(iterations: trials.count) { number in
            let (row, code) = trials[number]
            do {
                guard let fault = try fault(row, code, arguments) else { return }
                found.withLock { $0.append(fault) }
            } catch {
                found.withLock { $0.append("\(row.call) \(code) \(error)") }
            }
        }
        return found.withLock { $0 }
    }

    @Test(.timeLimit(.minutes(5))) func completesOrFailsBeforeFirstByte() {
        let faults = Self.faults([])
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }

    @Test(.timeLimit(.minutes(5))) func completesWithEveryFileOption() {
        let sum = Content(size: 200_000, seed: 1).sha256Hex
        // Only the calls that these options make.
        let rows = Self.rows.filter { row in
            ["attr", "rename", "link", "chmod", "fsync"].contains { row.call.contains($0) }
        }
        let faults = Self.faults(["--xattr", "--checksum", "sha-256:\(sum)", "--overwrite"], rows)
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
    }
}
