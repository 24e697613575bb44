import Glibc
import SeggetQueue
import Segmenter

extension Endpoint {
    static let health = Endpoint(
        path: "/health", name: "health", summary: "Version and process of the worker",
        reply: Reply(description: "The worker", schema: .health),
        handler: .answer { _, api in
            var report = HealthReport(version: seggetVersion, worker: getpid())
            if let folder = api.policy?.folder {
                report.folder = folder
                // A disk that does not respond may block the caller.
                report.freeBytes = await offLoop("free space") {
                    HealthReport.freeBytes(at: folder)
                }
            }
            return try APIReply(report)
        })
}

extension Schema {
    fileprivate static let health = object(
        [
            "api": .constant(HealthReport.api), "version": .text,
            "worker": .integer(from: 1),
        ],
        optional: ["folder": .text, "free_bytes": .integer(from: 0)]
    ).named("Health")
}

/// The answer of `GET /v2/health`.
package struct HealthReport: Sendable, Hashable, Codable {
    /// The version of the API.
    package static let api = APIVersion.current.rawValue

    /// The version of segget.
    package var version: String
    /// The version of the API that it speaks.
    package var api: String
    /// The process of the worker.
    package var worker: Int32
    /// The download folder of clients over TCP; `nil` on the socket.
    package var folder: String?
    /// Bytes that are free there; `nil` where that is not known, and on the socket.
    package var freeBytes: Int64?

    enum CodingKeys: String, CodingKey {
        case version, api, worker, folder
        case freeBytes = "free_bytes"
    }

    /// Makes a report.
    package init(version: String, api: String = HealthReport.api, worker: Int32) {
        (self.version, self.api, self.worker) = (version, api, worker)
    }

    /// Bytes that are free for this user where a folder is, or is going to be; `nil` if that is unknown.
    static func freeBytes(at folder: String) -> Int64? {
        var path = folder
        var status = statvfs()
        while statvfs(path, &status) != 0 {
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), path != "/" else {
                return nil
            }
            path = slash == path.startIndex ? "/" : String(path[..<slash])
        }
        let (bytes, isTooMuch) = UInt64(status.f_bavail)
            .multipliedReportingOverflow(by: UInt64(status.f_frsize))
        return isTooMuch ? .max : Int64(clamping: bytes)
    }
}
