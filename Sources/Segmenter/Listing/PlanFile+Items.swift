import Assembler
public import SegmenterValues

extension PlanFile {
    /// Makes the download of the file at an index.
    ///
    /// The file must have the size, digest and validators that the plan states. The plan may come
    /// from another person, so folders are created only in `folder`, and Kerberos tickets are not
    /// sent.
    ///
    /// - Parameters:
    ///   - index: The index, from 0.
    ///   - options: The options of all files.
    ///   - folder: The folder of the set.
    ///   - hub: The Hugging Face Hub and its token, for a plan of this source; `nil` for none.
    /// - Returns: The URL, destination and options.
    /// - Throws: `PlanError`, if the plan can no longer be read, or was altered meanwhile.
    public func item(
        at index: Int, options: DownloadOptions, folder: String, hub: HubAccess? = nil
    ) throws(PlanError) -> BatchItem {
        let file = try file(at: index)
        var options = options
        options.checksum = file.strongestDigest
        options.pin = file.pin
        options.window = file.window
        options.mirrors = file.mirrors
        options.access.negotiates = false
        if source.kind == .hub, let hub {
            options.access = hub.permit(options.access, at: file.address)
        }
        options.files.missingFolders = .madeBelow([folder])
        return BatchItem(
            file.address, to: .file("\(folder)/\(file.path)"), options: options)
    }
}

extension Listing.File {
    /// The algorithms of digests, the most reliable first.
    private static let preferred: [DigestAlgorithm] = [
        .sha512, .sha256, .sha1, .gitSHA1, .md5, .crc32,
    ]

    /// The most reliable digest; `nil` if none is known.
    package var strongestDigest: Digest? { Self.strongest(digests) }

    /// Returns the most reliable of several digests of a file; `nil` for none.
    static func strongest(_ digests: [Digest]) -> Digest? {
        preferred.lazy.compactMap { wanted in digests.first { $0.algorithm == wanted } }.first
    }

    /// A hash of what a plan states about the version: size, digests and validators.
    ///
    /// If it is ``Listing/File/openVersion``, any version is the planned one.
    var version: UInt64 {
        if let window {
            return shortHash(of: "\(window.range) \(window.size) \(digests) \(etag ?? "-")")
        }
        guard digests.isEmpty else {
            return shortHash(of: "\(size ?? -1) \(digests.map(\.description).sorted())")
        }
        guard let size else { return Self.openVersion }
        return shortHash(of: "\(size) \(etag ?? "-") \(lastModified ?? "-")")
    }

    /// The hash of a version about which nothing is known.
    static let openVersion: UInt64 = 0

    /// The version to which a download is pinned; `nil` if the size is unknown.
    ///
    /// A digest proves the content; without one, the best validator that is known.
    package var pin: FilePin? {
        guard let size else { return nil }
        guard digests.isEmpty else { return FilePin(size: size) }
        let isStrong = etag?.hasPrefix("\"") ?? false
        if isStrong || lastModified == nil { return FilePin(size: size, etag: etag) }
        return FilePin(size: size, lastModified: lastModified)
    }
}
