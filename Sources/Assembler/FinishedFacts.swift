import CLinux
import Glibc

/// What is known of a finished file: written into its extended attributes or its kept manifest, and
/// read from there by a later run.
package struct FinishedFacts: Sendable {
    /// What it was downloaded from, and which version it is.
    package var header: Manifest.Header
    /// Its size in bytes.
    package var size: Int64
    /// Digests of its content; a CRC-32 is among them.
    package var digests: [Digest]
    /// Its pieces with their checksums; empty when only the attributes tell of it.
    package var extents: [Extent]

    package init(header: Manifest.Header, size: Int64, digests: [Digest], extents: [Extent]) {
        self.header = header
        self.size = size
        self.digests = digests
        self.extents = extents
    }

    /// The facts of a kept manifest; `nil` for the manifest of a part.
    package init?(_ manifest: Manifest) {
        guard let size = manifest.finished, manifest.rejected == nil else { return nil }
        self.init(
            header: manifest.header, size: size, digests: manifest.digests,
            extents: manifest.extents.extents)
    }

    /// What is known of the file at `name`: from its kept manifest, else from its attributes.
    ///
    /// - Returns: `nil` when nothing is known, or there is no such regular file.
    package static func find(
        _ name: String, in folder: Folder
    ) throws(AssemblyError) -> FinishedFacts? {
        let manifest = try? Assembly.readManifest(Journal.name(for: name), in: folder)?.get()
        if let facts = manifest.flatMap({ FinishedFacts($0) }) { return facts }
        guard let descriptor = folder.open(name, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        return FinishedFacts(attributesOf: descriptor)
    }

    /// What the attributes of the file at `name` tell; `nil` when they do not.
    static func attributes(
        of name: String, in folder: Folder
    ) throws(AssemblyError) -> FinishedFacts? {
        guard try folder.status(of: name)?.isRegular == true,
            let descriptor = folder.open(name, O_RDONLY)
        else { return nil }
        defer { close(descriptor) }
        return FinishedFacts(attributesOf: descriptor)
    }
}

// MARK: - Kept manifest

extension FinishedFacts {
    /// The records of a kept manifest, in small pieces.
    var records: [Manifest.Record] {
        JournalRewrite.records(for: extents) + [.init(finished: size, digests: digests)]
    }

    /// Writes the manifest that is to be kept beside the present one, durable.
    ///
    /// - Parameters:
    ///   - name: Name of the manifest, not of what stands beside it until it is renamed.
    ///   - folder: Where it stands.
    /// - Throws: `cannotCreate`, `io`.
    func prepareManifest(_ name: String, in folder: Folder) throws(AssemblyError) {
        let rewrite = try JournalRewrite(
            folder: folder, name: name, header: header, records: records)
        close(rewrite.descriptor)
    }
}

// MARK: - Extended attributes

extension FinishedFacts {
    /// Names of the extended attributes.
    private enum Attribute: String, CaseIterable {
        /// As other programs write it: the URL without credentials and query.
        case url = "user.xdg.origin.url"
        case generation = "user.segget.generation"
        case urlHash = "user.segget.url_hash"
        case size = "user.segget.size"
        case etag = "user.segget.etag"
        case lastModified = "user.segget.last_modified"
        case lastModifiedIsStrong = "user.segget.last_modified_strong"
        /// `algorithm:hex`, separated by spaces.
        case digests = "user.segget.digests"
        /// CRC-32 of all the others but the first, which other programs may change.
        case crc = "user.segget.crc"
    }

    /// Longest value that is read, in bytes.
    private static let longest = 4096

    private func attributes(includesOrigin: Bool) -> [(Attribute, String)] {
        var all: [(Attribute, String)] = [
            (.generation, header.generation), (.urlHash, header.urlHash), (.size, "\(size)"),
            (.digests, digests.map(\.description).joined(separator: " ")),
        ]
        if let etag = header.etag { all.append((.etag, etag)) }
        if let date = header.lastModified {
            all.append((.lastModified, date))
            all.append((.lastModifiedIsStrong, header.lastModifiedIsStrong ? "true" : "false"))
        }
        let values = all
        all.append(
            (.crc, Self.crc { name in values.first { $0.0 == name }.map { Array($0.1.utf8) } }))
        if includesOrigin { all.append((.url, header.url)) }
        return all
    }

    /// The CRC-32 that tells damaged attributes, and those of which one is missing.
    private static func crc(_ value: (Attribute) -> [UInt8]?) -> String {
        var bytes: [UInt8] = []
        for attribute in Attribute.allCases where ![.url, .crc].contains(attribute) {
            guard let value = value(attribute) else { continue }
            bytes += Array(attribute.rawValue.utf8) + [0] + value + [0]
        }
        return Digest(crc32: CRC32.of(bytes)).hex
    }

    /// Writes the facts into a file's extended attributes: all of them or none.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - includesOrigin: Whether the URL, without credentials and query, is among them.
    /// - Returns: `nil`, or the `errno` of what the file system refused.
    func write(to descriptor: Int32, includesOrigin: Bool) -> Int32? {
        for (attribute, value) in attributes(includesOrigin: includesOrigin) {
            let bytes = Array(value.utf8)
            guard
                segget_set_attribute(descriptor, attribute.rawValue, bytes, bytes.count) != 0
            else { continue }
            let problem = errno
            for attribute in Attribute.allCases {
                _ = segget_remove_attribute(descriptor, attribute.rawValue)
            }
            return problem
        }
        return nil
    }

    /// Whether the file at `name` has one of these attributes, which is quick to find out.
    static func areMarked(on name: String, in folder: Folder) -> Bool {
        guard let descriptor = folder.open(name, O_RDONLY) else { return false }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 256)
        return segget_get_attribute(
            descriptor, Attribute.generation.rawValue, &bytes, bytes.count) > 0
    }

    /// Reads the facts from a file's extended attributes; `nil` when they are not all there.
    init?(attributesOf descriptor: Int32) {
        func read(_ attribute: Attribute) -> String? {
            var bytes = [UInt8](repeating: 0, count: Self.longest)
            let count = segget_get_attribute(
                descriptor, attribute.rawValue, &bytes, bytes.count)
            guard count >= 0 else { return nil }
            let value = bytes.prefix(count)
            // Such a value is sent to a server: no line break may get into a request.
            guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
            return String(decoding: value, as: UTF8.self)
        }
        guard read(.crc) == Self.crc({ read($0).map { Array($0.utf8) } }),
            let generation = read(.generation), let urlHash = read(.urlHash),
            let size = read(.size).flatMap({ Int64($0) }), size >= 0
        else { return nil }
        let digests = (read(.digests) ?? "").split(separator: " ")
            .compactMap { try? Digest(parsing: String($0)) }
        guard !digests.isEmpty else { return nil }
        let identity = RemoteIdentity(
            size: size, etag: read(.etag), lastModified: read(.lastModified),
            lastModifiedIsStrong: read(.lastModifiedIsStrong) == "true")
        self.init(
            header: .init(
                generation: generation, url: read(.url) ?? "", urlHash: urlHash, identity: identity),
            size: size, digests: digests, extents: [])
    }
}
