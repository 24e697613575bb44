// Finished: what is known of a file that has its name, and whether it is still that, by its kept
// manifest, its extended attributes and its bytes. It never fetches, and never changes a byte of it.

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
    /// Its pieces with their checksums; empty when only the attributes describe it.
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
        let manifest = try? Manifest.read(PartNames(name).manifest, in: folder)?.get()
        if let facts = manifest.flatMap({ FinishedFacts($0) }) { return facts }
        guard let descriptor = folder.open(name, O_RDONLY) else { return nil }
        defer { close(descriptor) }
        return FinishedFacts(attributesOf: descriptor)
    }

    /// What the attributes of the file at `name` say; `nil` when they do not.
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
    /// - Throws: `cannotCreate`, `io`.
    func prepareManifest(_ names: PartNames, in folder: Folder) throws(AssemblyError) {
        let rewrite = try JournalRewrite(
            folder: folder, names: names, header: header, records: records)
        close(rewrite.descriptor)
    }

    /// Puts it in the manifest's place, durable: from now on the file counts as finished.
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
    /// What proves that a file is complete: one attribute, because each costs a small file's time.
    ///
    /// Lines of a key, `=` and a value; the last one is the CRC-32 of those before it.
    private static let proof = "user.segget"
    /// The URL without credentials and query, as other programs write it.
    private static let origin = "user.xdg.origin.url"
    /// Longest value that is read, in bytes: the longest that Linux has (xattr(7)).
    private static let longest = 64 << 10

    private var proof: [UInt8] {
        var lines = """
            generation=\(header.generation)
            url_hash=\(header.urlHash)
            size=\(size)
            digests=\(digests.map(\.description).joined(separator: " "))

            """
        if let etag = header.etag { lines += "etag=\(etag)\n" }
        if let date = header.lastModified {
            lines += "last_modified=\(date)\n"
            lines += "last_modified_strong=\(header.lastModifiedIsStrong)\n"
        }
        return Array((lines + Self.check(lines.utf8) + "\n").utf8)
    }

    /// The last line, which shows damaged ones, and those of which one is missing.
    private static func check(_ lines: some Sequence<UInt8>) -> String {
        "crc=\(Digest(crc32: CRC32.of(lines)).hex)"
    }

    /// Writes the facts into a file's extended attributes: all of them or none.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - includesOrigin: Whether the URL, without credentials and query, is among them.
    /// - Returns: `nil`, or the `errno` of what the file system refused.
    func write(to descriptor: Int32, includesOrigin: Bool) -> Int32? {
        func set(_ name: String, _ value: [UInt8]) -> Int32? {
            segget_set_attribute(descriptor, name, value, value.count) == 0 ? nil : errno
        }
        let problem =
            set(Self.proof, proof)
            ?? (includesOrigin ? set(Self.origin, Array(header.url.utf8)) : nil)
        guard let problem else { return nil }
        // Nor any that were there before.
        for name in [Self.proof, Self.origin] { _ = segget_remove_attribute(descriptor, name) }
        return problem
    }

    /// Whether the file at `name` has such an attribute, which is quick to find out.
    static func areMarked(on name: String, in folder: Folder) -> Bool {
        guard let descriptor = folder.open(name, O_RDONLY) else { return false }
        defer { close(descriptor) }
        return segget_get_attribute(descriptor, proof, nil, 0) > 0
    }

    /// Reads the facts from a file's extended attributes; `nil` when they are not all there.
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

    /// A value as text; `nil` with anything in it that must not get into a request.
    private static func text(_ bytes: some Collection<UInt8>) -> String? {
        bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f } ? String(decoding: bytes, as: UTF8.self) : nil
    }
}
