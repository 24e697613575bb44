// Ledger: which files of a data set are complete, and which failed. This folder reads and writes the
// records. It decides nothing, and downloads nothing.

import FoundationEssentials

/// A record of a ledger about one file; the last one about a file counts.
///
/// `docs/ledger.md` specifies the format.
package struct LedgerRecord: Codable, Sendable, Hashable {
    /// The event that a record states.
    package enum Event: String, Codable, Sendable, Hashable {
        /// The file is complete.
        case complete
        /// The download failed.
        case failed
        /// The file was removed, because its source no longer lists it.
        case removed
    }

    /// The path relative to the folder of the set.
    package var path: String
    /// The event.
    package var event: Event
    /// The time of the record, in seconds since 1970.
    package var at: Int64
    /// The length of a complete file in bytes.
    package var size: Int64?
    /// The modification time of a complete file, in nanoseconds since 1970.
    package var modified: Int64?
    /// The inode number of a complete file (stat(2)).
    package var inode: UInt64?
    /// The planned version that a complete file has: 16 hexadecimal digits.
    package var version: String?
    /// The digests of a complete file.
    package var digests: [Digest]?
    /// Whether the complete file was there already, and nothing shows that segget wrote it; `nil` if
    /// not.
    package var found: Bool?
    /// The proof that a complete file is the planned version.
    package var proof: String?
    /// The kind of failure.
    package var kind: String?
    /// The exit code that the failure has.
    package var code: Int32?
    /// The message of the failure.
    package var message: String?
    /// The next step for the user.
    package var hint: String?

    enum CodingKeys: String, CodingKey {
        case path, event, at, size, inode, version, digests, found, kind, code, message, hint
        case modified = "mtime_ns"
        case proof = "verified_by"
    }

    package init(path: String, event: Event, at: Int64) {
        (self.path, self.event, self.at) = (path, event, at)
    }
}

extension LedgerRecord {
    /// Records the size, modification time and inode of a complete file.
    package mutating func take(_ status: FileStatus) {
        (size, modified) = (status.size, status.modifiedTotal)
        inode = status.identity.inode
    }

    /// Whether a file is the recorded one, by size, modification time and inode number.
    package func isIntact(_ status: FileStatus?) -> Bool { LedgerMark(self).isIntact(status) }

    /// Whether segget wrote the file, which is unchanged, so that it may be replaced or removed.
    package func isOwn(_ status: FileStatus?) -> Bool { found != true && isIntact(status) }
}

/// The members of a record that tell whether the file on the disk is the recorded one.
package struct LedgerMark: Decodable, Sendable {
    /// The path relative to the folder of the set.
    package var path: String
    /// The event.
    package var event: LedgerRecord.Event
    /// The time of the record, in seconds since 1970.
    package var at: Int64
    /// The length in bytes.
    package var size: Int64?
    var modified: Int64?
    var inode: UInt64?
    /// The planned version that the file has: 16 hexadecimal digits.
    package var version: String?

    enum CodingKeys: String, CodingKey {
        case path, event, at, size, inode, version
        case modified = "mtime_ns"
    }

    init(_ record: LedgerRecord) {
        (path, event, at) = (record.path, record.event, record.at)
        (size, modified, inode) = (record.size, record.modified, record.inode)
        version = record.version
    }

    /// Whether a file is the recorded one, by size, modification time and inode number.
    package func isIntact(_ status: FileStatus?) -> Bool {
        guard event == .complete, let status, status.isRegular else { return false }
        return status.size == size && status.modifiedTotal == modified
            && status.identity.inode == inode
    }
}

extension FileStatus {
    /// The modification time, in nanoseconds since 1970.
    package var modifiedTotal: Int64 {
        let (seconds, isTooLarge) = modified.multipliedReportingOverflow(by: 1_000_000_000)
        return isTooLarge ? modified : seconds &+ modifiedNanoseconds
    }
}

/// The lines of a ledger.
///
/// Pure.
enum LedgerFormat {
    /// The format version that this code writes and reads.
    static let version = 1

    /// The first line.
    struct Head: Codable {
        var ledger: Int
        var set: String

        enum CodingKeys: String, CodingKey {
            case ledger = "segget_ledger"
            case set
        }
    }

    /// Any other line: records of files, or a run that began.
    struct Line<Record> {
        var files: [Record]?
        var run: LedgerRun?
    }

    /// Returns the initial value of the CRC-32 of each line of a set's ledger.
    static func seed(set: String) -> UInt32 { CRC32.of("ledger \(set)".utf8) }
}

extension LedgerFormat.Line: Encodable where Record: Encodable {}
extension LedgerFormat.Line: Decodable where Record: Decodable {}

/// A run that works on a set.
package struct LedgerRun: Codable, Sendable, Hashable {
    /// The name of its machine.
    package var host: String
    /// Its process ID.
    package var pid: Int32
    /// When it began, in seconds since 1970.
    package var at: Int64
}
