// Finished: the facts about a file that has its final name, and whether they still apply, judged by
// its kept manifest, its extended attributes and its bytes. This folder never downloads anything,
// and never changes a file's content.

import CLinux
import Glibc

/// The facts about a finished file, which a later run reads.
///
/// They are stored in the file's extended attributes, in a kept manifest, or in both.
package struct FinishedFacts: Sendable {
    /// The URL and the version of the file.
    package var header: Manifest.Header
    /// The size of the file in bytes.
    package var size: Int64
    /// The digests of the content, including a CRC-32.
    package var digests: [Digest]
    /// The extents with their CRC-32; empty if only the attributes describe the file.
    package var extents: [Extent]

    package init(header: Manifest.Header, size: Int64, digests: [Digest], extents: [Extent]) {
        self.header = header
        self.size = size
        self.digests = digests
        self.extents = extents
    }

    /// Creates the facts from a kept manifest; fails for the manifest of a part.
    package init?(_ manifest: Manifest) {
        guard let size = manifest.finished, manifest.rejected == nil else { return nil }
        self.init(
            header: manifest.header, size: size, digests: manifest.digests,
            extents: manifest.extents.extents)
    }

    /// Returns the facts about the file `name`, from its kept manifest or else from its attributes.
    ///
    /// - Returns: The facts; `nil` if there are none, or no such regular file.
    package static func find(
        _ name: String, in folder: Folder
    ) throws(AssemblyError) -> FinishedFacts? {
        let manifest = try? Manifest.read(PartNames(name).manifest, in: folder)?.get()
        if let facts = manifest.flatMap({ FinishedFacts($0) }) { return facts }
        guard let descriptor = folder.open(name, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        return FinishedFacts(attributesOf: descriptor)
    }

    /// Returns the facts in the attributes of the file `name`; `nil` if they are missing or
    /// incomplete.
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
    /// The records of a kept manifest, with a limited number of extents in each.
    var records: [Manifest.Record] {
        JournalRewrite.records(for: extents) + [.init(finished: size, digests: digests)]
    }

    /// Writes the manifest to keep, durably, to the temporary name beside the current manifest.
    ///
    /// - Throws: `cannotCreate`, `io`.
    func prepareManifest(_ names: PartNames, in folder: Folder) throws(AssemblyError) {
        let rewrite = try JournalRewrite(
            folder: folder, names: names, header: header, records: records)
        close(rewrite.descriptor)
    }

    /// Replaces the manifest with the one to keep, durably, which marks the file as finished.
    ///
    /// - Throws: `cannotCreate`, `io`.
    func writeManifest(_ names: PartNames, in folder: Folder) throws(AssemblyError) {
        try prepareManifest(names, in: folder)
        try folder.rename(names.rewrite, to: names.manifest)
        try folder.sync()
    }
}

// MARK: - Extended attributes

extension FinishedFacts {
    /// The name of the attribute that shows that a file is complete.
    ///
    /// A single attribute is used, because each one costs time for a small file. Its lines are a
    /// key, `=` and a value; the last line is the CRC-32 of the preceding ones.
    private static let proof = "user.segget"
    /// The name of the attribute for the URL without credentials and query, which other programs
    /// use as well.
    private static let origin = "user.xdg.origin.url"
    /// The maximum length of a value in bytes; Linux allows no longer one (xattr(7)).
    private static let longest = 64 << 10

    private var proof: [UInt8] {
        var lines: [UInt8] = []
        lines.reserveCapacity(512)
        func add(_ key: String, _ value: String) {
            lines += key.utf8
            lines.append(UInt8(ascii: "="))
            lines += value.utf8
            lines.append(Self.newline)
        }
        add("generation", header.generation)
        add("url_hash", header.urlHash)
        add("size", String(size))
        add("digests", digests.map(\.description).joined(separator: " "))
        if let etag = header.etag { add("etag", etag) }
        if let date = header.lastModified {
            add("last_modified", date)
            add("last_modified_strong", String(header.lastModifiedIsStrong))
        }
        lines += Self.check(lines).utf8
        lines.append(Self.newline)
        return lines
    }

    /// Returns the last line, which reveals damaged and missing lines.
    private static func check(_ lines: some Sequence<UInt8>) -> String {
        "crc=\(Digest(crc32: CRC32.of(lines)).hex)"
    }

    /// Writes the facts into a file's extended attributes; after a failure, none of them remains.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor of the file.
    ///   - includesOrigin: Whether to write the URL without credentials and query as well.
    /// - Returns: `nil`, or the `errno` of the failed call.
    func write(to descriptor: Int32, includesOrigin: Bool) -> Int32? {
        func set(_ name: String, _ value: [UInt8]) -> Int32? {
            segget_set_attribute(descriptor, name, value, value.count) == 0 ? nil : errno
        }
        let problem =
            set(Self.proof, proof)
            ?? (includesOrigin ? set(Self.origin, Array(header.url.utf8)) : nil)
        guard let problem else { return nil }
        // Remove attributes of an earlier download as well.
        for name in [Self.proof, Self.origin] { _ = segget_remove_attribute(descriptor, name) }
        return problem
    }

    /// Returns whether the file `name` has the attribute, without reading its value.
    static func areMarked(on name: String, in folder: Folder) -> Bool {
        guard let descriptor = folder.open(name, O_RDONLY) else { return false }
        defer { close(descriptor) }
        return segget_get_attribute(descriptor, proof, nil, 0) > 0
    }

    /// Reads the facts from a file's extended attributes; fails if they are incomplete.
    init?(attributesOf descriptor: Int32) {
        guard let bytes = Self.read(Self.proof, of: descriptor), bytes.last == Self.newline else {
            return nil
        }
        let lines = bytes.dropLast().split(
            separator: Self.newline, omittingEmptySubsequences: false)
        var values: [Substring: String] = [:]
        for line in lines {
            guard let text = Self.text(line) else { return nil }
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            values[parts[0]] = String(parts[1])
        }
        let digests = (values["digests"] ?? "").split(separator: " ")
            .compactMap { try? Digest(parsing: String($0)) }
        guard let last = lines.last, last.elementsEqual(Self.check(bytes[..<last.startIndex]).utf8),
            !digests.isEmpty, let generation = values["generation"],
            let urlHash = values["url_hash"],
            let size = values["size"].flatMap({ Int64($0) }), size >= 0
        else { return nil }
        let identity = RemoteIdentity(
            size: size, etag: values["etag"], lastModified: values["last_modified"],
            lastModifiedIsStrong: values["last_modified_strong"] == "true")
        let url = Self.read(Self.origin, of: descriptor).flatMap { Self.text($0) }
        self.init(
            header: .init(
                generation: generation, url: url ?? "", urlHash: urlHash, identity: identity),
            size: size, digests: digests, extents: [])
    }

    private static let newline = UInt8(ascii: "\n")

    private static func read(_ attribute: String, of descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: longest)
        let count = segget_get_attribute(descriptor, attribute, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// Decodes a value; returns `nil` if it has control characters, which must not be sent in a
    /// request.
    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
