import CLinux
import Glibc
import TestSupport
import Testing

@testable import Assembler

/// Damage to the records about a finished file: its kept manifest, or its extended attributes.
///
/// No damage makes a wrong file pass for the right one.
@Suite struct FinishedDamageTests {
    private let folder = TemporaryFolder(under: "/dev/shm")
    private let data: [UInt8]
    private let facts: FinishedFacts

    init() {
        var random = SplitMix64(seed: 11)
        let data = random.bytes(3000)
        let extents = [ByteRange(0, 1024), ByteRange(1024, 3000)].map {
            Extent($0, crc: CRC32.of(data[Int($0.start)..<Int($0.end)]))
        }
        let identity = RemoteIdentity(
            size: 3000, etag: "\"v1\"", lastModified: "Mon, 01 Jan 2024 00:00:00 GMT",
            lastModifiedIsStrong: true)
        facts = FinishedFacts(
            header: .init(
                identity: identity, url: "https://example.org/f",
                fullURL: "https://example.org/f?key=secret", generation: random.next()),
            size: 3000, digests: [Digest(crc32: CRC32.of(data))], extents: extents)
        self.data = data
    }

    private func standing() throws -> StandingFile {
        try #require(try StandingFile.open(folder: folder.path, name: Sample.name))
    }

    /// Returns the bytes of the manifest that is kept beside the file.
    private func manifest() throws -> [UInt8] {
        try facts.prepareManifest(PartNames(Sample.name), in: try Folder(folder.path))
        return try #require(folder.read(Sample.manifest + "~"))
    }

    /// Returns whether the file counts as whole and as the version that the server offers.
    private func passes() throws -> Bool {
        let file = try standing()
        guard let facts = file.facts else { return false }
        let decision = FinishedDecision(
            facts, size: file.status.size, offered: self.facts.header.identity,
            fullURL: "https://example.org/f?key=secret", url: "https://example.org/f")
        return decision == .same && file.check { false } != nil
    }

    @Test(arguments: [true, false])
    func damagedKeptManifestProvesNothing(isRight: Bool) throws {
        let manifest = try manifest()
        var content = data
        if !isRight { content[2000] ^= 1 }
        try folder.write(content, to: Sample.name)
        try folder.write(manifest, to: Sample.manifest)
        #expect(try passes() == isRight)
        for length in 0..<manifest.count {
            try folder.write(Array(manifest[..<length]), to: Sample.manifest)
            // Only the loss of the last line feed may go unnoticed.
            let mayPass = isRight && length == manifest.count - 1
            #expect(try passes() == mayPass, "cut to \(length) bytes")
        }
        for bit in stride(from: 0, to: manifest.count * 8, by: 3) {
            var damaged = manifest
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            try folder.write(damaged, to: Sample.manifest)
            guard !isRight else { continue }
            #expect(try !passes(), "bit \(bit)")
            let found = try? FileVerification(of: folder.path(of: Sample.name))
            #expect(found?.isGood != true, "bit \(bit)")
        }
    }

    /// Writes the file with its attributes, and opens it.
    private func marked(_ content: [UInt8]) throws -> Int32 {
        try folder.write(content, to: Sample.name)
        let descriptor = open(folder.path(of: Sample.name), O_RDWR | O_CLOEXEC)
        try #require(descriptor >= 0)
        try #require(facts.write(to: descriptor, includesOrigin: true) == nil)
        return descriptor
    }

    @Test func damagedAttributesProveNothing() throws {
        let name = "user.segget"
        let descriptor = try marked(data)
        defer { close(descriptor) }
        #expect(try passes())
        var value = [UInt8](repeating: 0, count: 4096)
        let count = segget_get_attribute(descriptor, name, &value, value.count)
        try #require(count > 0)
        for bit in 0..<count * 8 {
            var damaged = Array(value.prefix(count))
            damaged[bit / 8] ^= 1 << UInt8(bit % 8)
            try #require(segget_set_attribute(descriptor, name, damaged, count) == 0)
            #expect(try standing().facts == nil, "bit \(bit)")
        }
        for length in 0..<count {
            try #require(segget_set_attribute(descriptor, name, value, length) == 0)
            #expect(try standing().facts == nil, "cut to \(length) bytes")
        }
        try #require(segget_remove_attribute(descriptor, name) == 0)
        #expect(try standing().facts == nil, "removed")
    }

    /// Other programs may change or remove the attribute with the file's origin.
    @Test func originAttributeMayChange() throws {
        let descriptor = try marked(data)
        defer { close(descriptor) }
        try #require(segget_remove_attribute(descriptor, "user.xdg.origin.url") == 0)
        #expect(try passes())
    }

    @Test func attributesOfAnotherFileProveNothing() throws {
        var content = data
        content[0] ^= 1
        close(try marked(content))
        #expect(try !passes())
    }

    /// The size of the file is unknown.
    ///
    /// If the line that states its end is damaged, the end is unknown too.
    @Test func truncatedPartIsNotPublished() throws {
        let sample = Sample(size: 30_000, in: folder)
        let request = sample.request { $0.identity.size = nil }
        try sample.leave([ByteRange(0, 10_000), ByteRange(10_000, 30_000)], request: request)
        let manifest = try #require(folder.read(Sample.manifest))
        let generation = try Manifest(reading: manifest).header.generation
        let part = try #require(try Folder(folder.path).status(of: Sample.part))
        let publishing = SealedLine.of(
            Manifest.Record(publishing: part.identity), seed: Manifest.seed(generation: generation))
        func recover() throws -> PublishedFile? {
            try Publishing.recover(
                folder: folder.path, name: Sample.name, fullURL: sample.request.fullURL,
                checksum: nil)
        }
        var damaged = manifest
        damaged[damaged.count - 10] ^= 1
        try folder.write(damaged + publishing, to: Sample.manifest)
        try #require(truncate(folder.path(of: Sample.part), 10_000) == 0)
        #expect(try recover() == nil)
        #expect(folder.names.contains(Sample.part))
    }
}
