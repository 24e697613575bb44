import Glibc
import TestSupport
import Testing

@testable import Assembler

/// A manifest that is kept beside the finished file, and its use by later runs.
@Suite struct KeptManifestTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    init() { sample = Sample(size: 30_000, in: folder) }

    private func publish(_ change: (inout Assembly.Request) -> Void = { _ in }) throws {
        let assembly = try Assembly(
            sample.request { request in
                request.keepManifest = true
                change(&request)
            })
        for start in stride(from: Int64(0), to: 30_000, by: 10_000) {
            sample.write(ByteRange(start, start + 10_000), with: assembly)
            try assembly.record()
        }
        _ = try #require(try assembly.publish(size: 30_000))
    }

    private func manifest() throws -> Manifest {
        try Manifest(reading: try #require(folder.read(Sample.manifest)))
    }

    @Test func keptManifestProvesTheWholeFile() throws {
        try publish { $0.checksum = Digest.sha256(of: sample.data) }
        #expect(folder.names == [Sample.name, Sample.manifest])
        let manifest = try manifest()
        #expect(manifest.finished == 30_000)
        #expect(manifest.publishing == nil && manifest.damagedLines == 0)
        #expect(manifest.extents.combinedCRC(size: 30_000) == CRC32.of(sample.data))
        #expect(manifest.header.isFor(fullURL: sample.request.fullURL))
        #expect(
            Set(manifest.digests) == [
                Digest(crc32: CRC32.of(sample.data)), Digest.sha256(of: sample.data),
            ])
        let text = String(decoding: try #require(folder.read(Sample.manifest)), as: UTF8.self)
        #expect(!text.contains("secret"))
        #expect(folder.status(Sample.manifest)?.st_mode == S_IFREG | 0o600)
    }

    @Test func keptManifestIsNotACrashedPublish() throws {
        try publish()
        let before = folder.read(Sample.manifest)
        let file = try Publishing.recover(
            folder: folder.path, name: Sample.name, fullURL: sample.request.fullURL, checksum: nil)
        #expect(file == nil)
        #expect(folder.read(Sample.manifest) == before)
        #expect(Assembly.bytesRecorded(folder: folder.path, name: Sample.name) == 0)
    }

    @Test func newDownloadIgnoresKeptManifest() throws {
        try publish()
        try #require(unlink(folder.path(of: Sample.name)) == 0)
        let assembly = try Assembly(sample.request)
        #expect(assembly.startedOver == nil && assembly.bytesKept == 0)
        try assembly.stop()
        #expect(try manifest().finished == nil)
    }

    @Test(arguments: [true, false]) func recoveryKeepsTheManifestOnRequest(keeps: Bool) throws {
        try sample.leave([sample.whole])
        let left = try #require(folder.read(Sample.manifest))
        let header = try Manifest(reading: left).header
        let part = try #require(try Folder(folder.path).status(of: Sample.part))
        let sha = Digest.sha256(of: sample.data)
        let line = SealedLine.of(
            Manifest.Record(publishing: part.identity, digests: [sha]),
            seed: Manifest.seed(generation: header.generation))
        try folder.write(left + line, to: Sample.manifest)
        let file = try Publishing.recover(
            folder: folder.path, name: Sample.name, fullURL: sample.request.fullURL, checksum: nil,
            keepManifest: keeps)
        // The digest that the crashed run had verified is verified again.
        #expect(file?.verified == [sha])
        #expect(folder.names == (keeps ? [Sample.name, Sample.manifest] : [Sample.name]))
        if keeps { #expect(try manifest().finished == 30_000) }
    }

    @Test func recoveryRejectsFileWithOtherDigest() throws {
        try sample.leave([sample.whole])
        let left = try #require(folder.read(Sample.manifest))
        let header = try Manifest(reading: left).header
        let part = try #require(try Folder(folder.path).status(of: Sample.part))
        let line = SealedLine.of(
            Manifest.Record(publishing: part.identity, digests: [Digest.sha256(of: [1])]),
            seed: Manifest.seed(generation: header.generation))
        try folder.write(left + line, to: Sample.manifest)
        let file = try Publishing.recover(
            folder: folder.path, name: Sample.name, fullURL: sample.request.fullURL, checksum: nil)
        #expect(file == nil)
    }

    // MARK: Attributes

    @Test func attributesHaveAllKnownFacts() throws {
        try publish {
            $0.keepManifest = false
            $0.attributes = .all
            $0.identity.lastModified = "Mon, 01 Jan 2024 00:00:00 GMT"
            $0.identity.lastModifiedIsStrong = true
            $0.checksum = Digest.sha256(of: sample.data)
        }
        #expect(folder.names == [Sample.name])
        let facts = try #require(try FinishedFacts.find(Sample.name, in: Folder(folder.path)))
        #expect(facts.size == 30_000)
        #expect(facts.header.etag == "\"v1\"")
        #expect(facts.header.lastModified == "Mon, 01 Jan 2024 00:00:00 GMT")
        #expect(facts.header.lastModifiedIsStrong)
        #expect(facts.header.url == "https://example.org/f")
        #expect(facts.header.isFor(fullURL: sample.request.fullURL))
        #expect(facts.digests.count == 2 && facts.extents.isEmpty)
        let standing = try #require(
            try StandingFile.open(folder: folder.path, name: Sample.name))
        #expect(standing.check { false }?.crc32 == CRC32.of(sample.data))
        #expect(standing.check { true } == nil)
    }

    @Test func attributesAreWrittenOnlyOnRequest() throws {
        try publish { $0.keepManifest = false }
        #expect(try FinishedFacts.find(Sample.name, in: Folder(folder.path)) == nil)
    }

    /// Such a value would be sent to the server.
    @Test func attributesWithControlCharactersAreIgnored() throws {
        try publish {
            $0.keepManifest = false
            $0.attributes = .all
            $0.identity.etag = "\"v1\"\r\nX-Smuggled: 1"
        }
        #expect(try FinishedFacts.find(Sample.name, in: Folder(folder.path)) == nil)
    }

    /// Either all attributes are stored or none: ext4 keeps them in one block.
    @Test func oversizedAttributesAreOmitted() throws {
        let assembly = try Assembly(
            sample.request {
                $0.attributes = .all
                $0.identity.etag = "\"" + String(repeating: "x", count: 70_000) + "\""
            })
        sample.write(sample.whole, with: assembly)
        let file = try #require(try assembly.publish(size: 30_000))
        #expect(file.attributesProblem != nil)
        #expect(folder.read(Sample.name) == sample.data)
        #expect(try FinishedFacts.find(Sample.name, in: Folder(folder.path)) == nil)
    }

    // MARK: Repair

    @Test func repairKeepsIntactExtents() throws {
        let big = Sample(size: 20 << 20, in: folder)
        let assembly = try Assembly(big.request { $0.keepManifest = true })
        for start in stride(from: Int64(0), to: 20 << 20, by: 4 << 20) {
            big.write(ByteRange(start, start + 4 << 20), with: assembly)
            try assembly.record()
        }
        _ = try #require(try assembly.publish(size: 20 << 20))
        let extents = try manifest().extents.extents
        #expect(extents.allSatisfy { $0.range.count <= 8 << 20 })
        var bytes = big.data
        bytes[3] ^= 1
        bytes.removeLast()
        try folder.write(bytes, to: Sample.name)
        let finding = try RepairPlan.survey(
            folder: folder.path, name: Sample.name, isCancelled: { false })
        guard case .damaged(let plan)? = finding else {
            Issue.record("\(String(describing: finding))")
            return
        }
        let last = try #require(extents.last)
        #expect(plan.damaged == [extents[0], last])
        #expect(plan.obstacle(to: big.request) == nil)
        #expect(plan.obstacle(to: big.request { $0.identity.etag = "\"v2\"" }) != nil)
        #expect(plan.obstacle(to: big.request { $0.servesRanges = false }) == .noRanges)
        try plan.prepare()
        #expect(try manifest().finished == nil)
        #expect(folder.read(Sample.name) == bytes)
        let again = try Assembly(big.request { $0.overwrite = true })
        #expect(again.startedOver == nil)
        #expect(again.bytesKept == (20 << 20) - extents[0].range.count - last.range.count)
        again.verifyAll()
        #expect(again.unverified.isEmpty && again.recorded.covered.count == again.bytesKept)
        for range in again.recorded.covered.gaps(in: big.whole).ranges {
            big.write(range, with: again)
        }
        _ = try #require(try again.publish(size: 20 << 20))
        #expect(folder.read(Sample.name) == big.data)
        #expect(folder.names == [Sample.name])
    }

    @Test func undoneRepairChangesNothing() throws {
        try publish()
        var bytes = sample.data
        bytes[0] ^= 1
        try folder.write(bytes, to: Sample.name)
        let before = folder.read(Sample.manifest)
        let finding = try RepairPlan.survey(
            folder: folder.path, name: Sample.name, isCancelled: { false })
        guard case .damaged(let plan)? = finding else {
            Issue.record("\(String(describing: finding))")
            return
        }
        try plan.prepare()
        try plan.restore()
        #expect(folder.names == [Sample.name, Sample.manifest])
        #expect(folder.read(Sample.manifest) == before)
        #expect(folder.read(Sample.name) == bytes)
    }
}

extension Digest {
    static func sha256(of bytes: [UInt8]) -> Digest {
        var digest = StreamingDigest(.sha256, size: nil)
        bytes.withUnsafeBytes { digest?.update($0) }
        guard let result = digest?.finish() else { preconditionFailure("no digest") }
        return result
    }
}
