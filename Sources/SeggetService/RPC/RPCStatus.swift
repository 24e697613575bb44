import FoundationEssentials
package import SeggetQueue
import SeggetReports
import Segmenter
import SeggetAria2

/// The status of a task in aria2's terms.
///
/// Pure.
package struct RPCStatus: Sendable {
    /// The report of the task.
    var report: TaskReport
    /// The complete record of the task; `nil` if no requested key needs it.
    var task: QueueTask?
    /// The files of a data set; `nil` for one file, or if no requested key needs them.
    var list: TaskFiles?
    /// The segments on the disk; `nil` if no requested key needs them.
    var segments: [TaskDetail.Segment]?

    /// aria2's words for the state of a task.
    package enum Word: String, Sendable {
        case active, waiting, paused, complete, error, removed

        /// Whether a task in this state has ended.
        var isEnded: Bool { [.complete, .error, .removed].contains(self) }

        /// Returns the word for the state of a task.
        package init(_ report: TaskReport) {
            self =
                switch report.state {
                case .running, .verifying: .active
                case .completed: .complete
                case .failed: .error
                case .cancelled: .removed
                case .paused: .paused
                default: .waiting
                }
        }
    }

    /// All keys.
    static let keys: Set = [
        "gid", "status", "totalLength", "completedLength", "uploadLength", "bitfield",
        "downloadSpeed", "uploadSpeed", "errorCode", "errorMessage", "numPieces", "pieceLength",
        "connections", "dir", "files", "verifiedLength", "verifyIntegrityPending",
    ]

    /// Returns the values of some keys, as far as they exist; `nil` means all keys.
    func value(_ keys: Set<String>?) -> JSONValue {
        var members: [String: JSONValue] = [:]
        for key in keys ?? Self.keys { members[key] = value(of: key) }
        return .object(members)
    }

    private func value(of key: String) -> JSONValue? {
        switch key {
        case "gid": .string(report.id.description)
        case "status": .string(Word(report).rawValue)
        case "totalLength": .text(report.size ?? 0)
        case "completedLength": .text(report.bytesDone)
        case "uploadLength", "uploadSpeed": "0"
        case "downloadSpeed": .text(Int64(report.bytesPerSecond ?? 0))
        case "connections": .text(report.connections ?? 0)
        case "dir": .string(report.folder)
        case "pieceLength": .text(pieces.length)
        case "numPieces": .text(pieces.count)
        case "bitfield": bitfield.map(JSONValue.string)
        case "files": files
        case "errorCode": errorCode.map { .text($0.rawValue) }
        case "errorMessage": errorCode.map { .string(errorMessage($0)) }
        case "verifiedLength": report.state == .verifying ? .text(report.bytesDone) : nil
        default: nil
        }
    }

    // MARK: Pieces

    /// The most pieces, because clients draw each of them.
    private static let mostPieces: Int64 = 10_240

    /// The length of a piece in bytes, and the number of pieces.
    ///
    /// The length is aria2's 1 MiB, doubled until there are at most ``mostPieces``.
    private var pieces: (length: Int64, count: Int64) {
        var length: Int64 = 1 << 20
        guard let size = report.size, size > 0 else { return (length, 0) }
        func count() -> Int64 { size / length + (size % length == 0 ? 0 : 1) }
        while count() > Self.mostPieces { length *= 2 }
        return (length, count())
    }

    /// One bit for each complete piece, in hexadecimal digits; `nil` if the size is unknown.
    ///
    /// The first piece is the highest bit.
    private var bitfield: String? {
        let (length, count) = pieces
        guard count > 0, let size = report.size else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int((count + 7) / 8))
        func set(_ pieces: Range<Int64>) {
            for piece in pieces { bytes[Int(piece / 8)] |= 0x80 >> UInt8(piece % 8) }
        }
        if report.state == .completed || report.state == .verifying {
            set(0..<count)
        } else {
            for segment in Self.joined(segments ?? []) {
                let first = (segment.start + length - 1) / length
                let end = segment.end >= size ? count : segment.end / length
                if first < end { set(max(0, first)..<end) }
            }
        }
        return bytes.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0\(digits)" : digits
        }.joined()
    }

    /// Returns the segments with adjacent ones merged.
    private static func joined(_ segments: [TaskDetail.Segment]) -> [TaskDetail.Segment] {
        var joined: [TaskDetail.Segment] = []
        for segment in segments.sorted(by: { $0.start < $1.start }) {
            if let last = joined.last, last.end >= segment.start {
                joined[joined.count - 1].end = max(last.end, segment.end)
            } else {
                joined.append(segment)
            }
        }
        return joined
    }

    // MARK: Files

    /// The files of a task; one element if it is no data set.
    var files: JSONValue {
        if let list { return .array(list.files.map { Self.file($0, in: list.folder) }) }
        return [
            [
                "index": "1", "path": .string(report.path ?? ""),
                "length": .text(report.size ?? 0), "completedLength": .text(report.bytesDone),
                "selected": "true", "uris": uris,
            ]
        ]
    }

    private static func file(_ file: TaskFile, in folder: String) -> JSONValue {
        [
            "index": .text(file.index + 1),
            "path": .string(folder.hasSuffix("/") ? folder + file.path : "\(folder)/\(file.path)"),
            "length": .text(file.size ?? 0), "completedLength": .text(file.bytesDone),
            "selected": "true",
            "uris": [
                ["uri": .string(file.url), "status": file.state == .missing ? "waiting" : "used"]
            ],
        ]
    }

    /// The URLs, without users and passwords.
    var uris: JSONValue {
        let urls = (task?.everyURL ?? [report.url]).map { WebAddress.withoutSecrets($0) }
        let isUsed = ![.waiting, .paused].contains(Word(report))
        return .array(
            urls.enumerated().map { index, url in
                ["uri": .string(url), "status": isUsed && index == 0 ? "used" : "waiting"]
            })
    }

    // MARK: Results

    /// The code of the task's result; `nil` before it has one.
    private var errorCode: Aria2ErrorCode? {
        switch report.state {
        case .completed: .finished
        case .cancelled: .removed
        case .failed: report.error.map { Aria2ErrorCode($0, url: report.url) } ?? .unknown
        default: nil
        }
    }

    private func errorMessage(_ code: Aria2ErrorCode) -> String {
        switch code {
        case .finished: ""
        case .removed: "The download was removed."
        default: report.error?.message ?? ""
        }
    }
}

extension QueueTask {
    /// The URLs of the task, followed by its mirrors.
    package var everyURL: [String] { urls + options.mirrors.filter { !urls.contains($0) } }
}

extension Aria2ErrorCode {
    /// Creates the code of a failed task; `url` is the task's first URL, as it was added.
    package init(_ problem: TaskProblem, url: String) {
        self.init(
            kind: problem.kind, exitCode: problem.code,
            FailureFacts(
                status: problem.status, curlCode: problem.curlCode, errno: problem.errno),
            url: url)
    }
}
