import FoundationEssentials

/// The list of all files of a commit, as `huggingface_hub` keeps it in its cache (`trees/SHA.json`).
///
/// With it, a run without a network can tell whether a file is missing.
package struct HubTree: Codable, Sendable, Hashable {
    /// The Hub's statements about a file.
    struct File: Codable, Sendable, Hashable {
        /// The size in bytes.
        var size: Int64
        /// git's SHA-1: of the file, or of the text that replaces it in git.
        var blobID: String
        /// The SHA-256 of a file that is not in git itself.
        var sha256: String?
        /// The size of such a file in bytes.
        var largeSize: Int64?
        /// The hash of the Xet protocol.
        var xetHash: String?

        enum CodingKeys: String, CodingKey {
            case size
            case blobID = "blob_id"
            case sha256 = "lfs_sha256"
            case largeSize = "lfs_size"
            case xetHash = "xet_hash"
        }
    }

    /// The version that is written and read.
    private static let version = 1

    private var version = Self.version
    /// The files by their paths.
    var files: [String: File]

    enum CodingKeys: String, CodingKey {
        case version = "format_version"
        case files
    }

    /// Takes the entries of a whole tree; `nil` if one lacks its size or git's SHA-1.
    init?(_ entries: [HubReplies.Entry]) {
        files = [:]
        for entry in entries {
            guard let size = entry.lfs?.size ?? entry.size, let id = entry.oid else { return nil }
            files[entry.path] = File(
                size: size, blobID: id, sha256: entry.lfs?.oid, largeSize: entry.lfs?.size,
                xetHash: entry.xetHash)
        }
    }

    /// Parses the file; `nil` if it is not one, or of another version.
    init?(parsing bytes: [UInt8]) {
        guard let tree = HubReplies.read(bytes, as: HubTree.self), tree.version == Self.version
        else { return nil }
        self = tree
    }

    /// The entries, by path.
    var entries: [HubReplies.Entry] {
        files.sorted { $0.key < $1.key }.map { path, file in
            HubReplies.Entry(
                type: "file", path: path, size: file.size, oid: file.blobID,
                lfs: file.sha256.map { .init(oid: $0, size: file.largeSize ?? file.size) },
                xetHash: file.xetHash)
        }
    }

    /// Returns the path of the file below the folder of a repository, or of the records in a folder.
    static func path(of commit: String) -> String { "trees/\(commit).json" }

    /// The text of the file; `nil` if it cannot be written.
    var text: [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
        return (try? encoder.encode(self)).map { Array($0) }
    }
}
