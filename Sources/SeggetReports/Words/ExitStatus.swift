import Glibc

/// The exit codes of segget, based on sysexits.h.
package enum ExitStatus: Int32, CaseIterable, Sendable {
    case done = 0
    case usage = 64
    case checksumMismatch = 65
    case unavailable = 69
    case cannotCreate = 73
    case disk = 74
    case stopped = 75
    case remoteChanged = 76
    case refused = 77
    case interrupted = 130
    case readerGone = 141
    case terminated = 143

    /// The meaning of the code, for the help text.
    package var meaning: String {
        switch self {
        case .done: "done and verified"
        case .usage: "wrong usage: options, URL, header or certificate file"
        case .checksumMismatch: "checksum mismatch; nothing was published"
        case .unavailable: "server or network failed, retries included, or a limit was exceeded"
        case .cannotCreate: "the destination exists, or cannot be created"
        case .disk: "the disk failed or is full"
        case .stopped: "stopped, out of time, or a set may succeed later; the same command resumes"
        case .remoteChanged: "the remote file changed, or the server's response violates HTTP"
        case .refused: "access refused (401, 403, 407), untrusted certificate, unsafe redirect"
        case .interrupted: "stopped by SIGINT; the same command resumes"
        case .readerGone: "the reader of standard output closed it (as with SIGPIPE)"
        case .terminated: "stopped by SIGTERM; the same command resumes"
        }
    }

    /// Creates the exit code of a run that the signal stopped.
    package init(signal: Int32) {
        self =
            switch signal {
            case SIGINT: .interrupted
            case SIGTERM: .terminated
            default: .stopped
            }
    }

    /// All codes, the worst first; a run of several files exits with its worst code.
    ///
    /// Wrong data is worse than no data. A local failure is worse than a failure of the server.
    package static let worstFirst: [ExitStatus] = [
        .checksumMismatch, .remoteChanged, .disk, .cannotCreate, .refused, .unavailable, .usage,
        .interrupted, .terminated, .stopped, .readerGone, .done,
    ]

    /// Returns the worse of two codes.
    package func worse(_ other: ExitStatus) -> ExitStatus {
        Self.worstFirst.first { $0 == self || $0 == other } ?? self
    }

    /// The table as help text.
    package static var help: String {
        allCases.map { status in
            let code = "\(status.rawValue)"
            let padding = String(repeating: " ", count: 4 - code.count)
            return "  \(padding)\(code)  \(status.meaning)"
        }.joined(separator: "\n")
    }
}
