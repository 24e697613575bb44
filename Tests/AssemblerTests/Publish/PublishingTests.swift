import Glibc
import Testing

@testable import Assembler

@Suite struct PublishingTests {
    private static let mine = FileIdentity(device: 1, inode: 1)
    private static let others = [nil, FileIdentity(device: 1, inode: 2)]
    /// The identity after a reboot, with another device number.
    private static let again = FileIdentity(device: 2, inode: 1)

    @Test(arguments: [mine, again])
    func finishesIfTheDestinationIsThePart(found: FileIdentity) {
        for part in Self.others + [found] {
            let action = Publishing.action(
                for: .init(publishing: Self.mine, destination: found, part: part))
            #expect(action == .finish)
        }
    }

    @Test func renamesThePartOnARenumberedDevice() {
        let action = Publishing.action(
            for: .init(publishing: Self.mine, destination: nil, part: Self.again))
        #expect(action == .rename)
    }

    @Test func renamesOnlyThePartToAFreeName() {
        for destination in Self.others {
            for part in Self.others + [Self.mine] {
                let action = Publishing.action(
                    for: .init(publishing: Self.mine, destination: destination, part: part))
                let isRename = destination == nil && part == Self.mine
                #expect(action == (isRename ? .rename : .proceed))
            }
        }
    }

    @Test func proceedsWithoutAPublishRecord() {
        for destination in Self.others + [Self.mine] {
            for part in Self.others + [Self.mine] {
                let action = Publishing.action(
                    for: .init(publishing: nil, destination: destination, part: part))
                #expect(action == .proceed)
            }
        }
    }
}

/// How the next run handles a crash between recording `publishing` and removing the manifest.
@Suite struct RecoveryTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    init() { sample = Sample(size: 30_000, in: folder) }

    /// Leaves the state after `publishing` was recorded, before the rename.
    private func crashBeforeRename() throws {
        try sample.leave([sample.whole])
        let manifest = try #require(folder.read(Sample.manifest))
        let header = try Manifest(reading: manifest).header
        let part = try #require(try Folder(folder.path).status(of: Sample.part))
        let line = SealedLine.of(
            Manifest.Record(publishing: part.identity),
            seed: Manifest.seed(generation: header.generation))
        try folder.write(manifest + line, to: Sample.manifest)
    }

    private func rename() throws {
        try Folder(folder.path).rename(Sample.part, to: Sample.name)
    }

    private func recover(
        fullURL: String? = nil, checksum: Digest? = nil
    ) throws -> PublishedFile? {
        try Publishing.recover(
            folder: folder.path, name: Sample.name, fullURL: fullURL ?? sample.request.fullURL,
            checksum: checksum)
    }

    @Test func renamesPartAfterPublishRecord() throws {
        try crashBeforeRename()
        let file = try #require(try recover())
        #expect(file.path == folder.path(of: Sample.name))
        #expect(file.size == sample.whole.count)
        #expect(file.crc32 == CRC32.of(sample.data))
        #expect(file.verified.isEmpty)
        #expect(folder.read(Sample.name) == sample.data)
        #expect(folder.names == [Sample.name])
        #expect(try recover() == nil, "done once and for all")
    }

    @Test func lookupChangesNothing() throws {
        func pending(_ url: String) throws -> Int64? {
            try Publishing.pending(
                folder: folder.path, name: Sample.name, fullURL: url, hasChecksum: false)
        }
        #expect(try pending(sample.request.fullURL) == nil)
        try crashBeforeRename()
        #expect(try pending(sample.request.fullURL) == sample.whole.count)
        #expect(try pending("https://example.org/other") == nil)
        #expect(folder.names == [Sample.part, Sample.manifest])
        try rename()
        #expect(try pending(sample.request.fullURL) == sample.whole.count)
        let isFree = try Assembly.isFree(
            Sample.name, folder: folder.path, urls: [sample.request.fullURL])
        #expect(isFree, "it is this download's own")
        try folder.write([1, 2, 3], to: "other")
        try Folder(folder.path).rename("other", to: Sample.name)
        #expect(try pending(sample.request.fullURL) == nil)
        #expect(folder.names == [Sample.name, Sample.manifest])
    }

    @Test func removesManifestAfterRename() throws {
        try crashBeforeRename()
        try rename()
        let file = try #require(try recover())
        #expect(file.crc32 == CRC32.of(sample.data))
        #expect(folder.names == [Sample.name])
        #expect(folder.read(Sample.name) == sample.data)
    }

    @Test func removesPartAfterLink() throws {
        // Without renameat2(2), link(2) and unlink(2) replace it; the crash is between them.
        try crashBeforeRename()
        try #require(link(folder.path(of: Sample.part), folder.path(of: Sample.name)) == 0)
        #expect(try recover() != nil)
        #expect(folder.names == [Sample.name])
    }

    @Test func foreignDestinationStays() throws {
        try crashBeforeRename()
        try folder.write([1, 2, 3], to: Sample.name)
        #expect(try recover() == nil)
        #expect(folder.read(Sample.name) == [1, 2, 3])
        #expect(folder.names == [Sample.name, Sample.part, Sample.manifest])
    }

    @Test func replacementOfThePublishedFileStays() throws {
        try crashBeforeRename()
        try rename()
        try folder.write([1, 2, 3], to: "other")
        try Folder(folder.path).rename("other", to: Sample.name)
        #expect(try recover() == nil)
        #expect(folder.read(Sample.name) == [1, 2, 3])
        #expect(folder.names == [Sample.name, Sample.manifest])
    }

    @Test(arguments: [false, true])
    func damagedDataIsNotPublished(isRenamed: Bool) throws {
        try crashBeforeRename()
        if isRenamed { try rename() }
        let name = isRenamed ? Sample.name : Sample.part
        var bytes = sample.data
        bytes[12_345] ^= 0x10
        // Written in place, so the inode stays the same.
        let handle = try #require(fopen(folder.path(of: name), "r+"))
        #expect(fwrite(bytes, 1, bytes.count, handle) == bytes.count)
        fclose(handle)
        #expect(try recover() == nil)
        #expect(folder.names == [name, Sample.manifest].sorted())
        #expect(folder.read(name) == bytes)
    }

    @Test func truncatedFileIsNotPublished() throws {
        try crashBeforeRename()
        try #require(truncate(folder.path(of: Sample.part), 29_999) == 0)
        #expect(try recover() == nil)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }

    @Test func downloadOfAnotherURLStays() throws {
        try crashBeforeRename()
        #expect(try recover(fullURL: "https://example.org/f?key=other") == nil)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }

    /// Only the checksum identifies the part.
    ///
    /// Without it, the name may be meant for another URL's file.
    @Test func requiredChecksumIsNeededToFinish() throws {
        try sample.leave(
            [sample.whole], request: sample.request { $0.mirroring.isHeldByChecksum = true })
        let manifest = try #require(folder.read(Sample.manifest))
        let part = try #require(try Folder(folder.path).status(of: Sample.part))
        let seed = Manifest.seed(generation: try Manifest(reading: manifest).header.generation)
        let line = SealedLine.of(Manifest.Record(publishing: part.identity), seed: seed)
        try folder.write(manifest + line, to: Sample.manifest)
        #expect(try recover() == nil)
        #expect(folder.names == [Sample.part, Sample.manifest])
        #expect(try recover(checksum: Digest(crc32: CRC32.of(sample.data))) != nil)
    }

    @Test func comparesTheChecksum() throws {
        try crashBeforeRename()
        let right = Digest(crc32: CRC32.of(sample.data))
        let wrong = Digest(crc32: CRC32.of(sample.data) ^ 1)
        #expect(try recover(checksum: wrong) == nil)
        #expect(folder.names == [Sample.part, Sample.manifest])
        #expect(try recover(checksum: right)?.verified == [right])
    }

    @Test func computesMissingChecksums() throws {
        var hash = try #require(StreamingDigest(.sha256, size: nil))
        sample.data.withUnsafeBytes { hash.update($0) }
        let right = try #require(hash.finish())
        let wrong = try #require(Digest(.sha256, right.bytes.reversed()))
        try crashBeforeRename()
        #expect(try recover(checksum: wrong) == nil)
        #expect(try recover(checksum: right)?.verified == [right])
    }

    @Test func unfinishedDownloadStays() throws {
        try sample.leave([sample.whole])
        #expect(try recover() == nil)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }

    @Test func rejectedPartStays() throws {
        try crashBeforeRename()
        let manifest = try #require(folder.read(Sample.manifest))
        let header = try Manifest(reading: manifest).header
        let line = SealedLine.of(
            Manifest.Record(rejected: "md5:00"), seed: Manifest.seed(generation: header.generation))
        try folder.write(manifest + line, to: Sample.manifest)
        #expect(try recover() == nil)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }

    @Test(arguments: 0..<2)
    func cancelledRecoveryChangesNothing(asks: Int) throws {
        try crashBeforeRename()
        var asked = 0
        // The digest is right: only the cancellation prevents publishing.
        var hash = try #require(StreamingDigest(.md5, size: nil))
        sample.data.withUnsafeBytes { hash.update($0) }
        let digest = hash.finish()
        let file = try Publishing.recover(
            folder: folder.path, name: Sample.name, fullURL: sample.request.fullURL,
            checksum: asks == 0 ? nil : digest
        ) {
            asked += 1
            return asked > asks
        }
        #expect(file == nil)
        #expect(asked > 0)
        #expect(folder.names == [Sample.part, Sample.manifest])
        #expect(try recover() != nil, "the next run finishes it")
    }

    @Test func emptyFolderHasNothingToRecover() throws {
        #expect(try recover() == nil)
        #expect(folder.names.isEmpty)
    }

    @Test func lockedPartIsRefused() throws {
        try crashBeforeRename()
        let other = open(folder.path(of: Sample.part), O_RDWR)
        try #require(flock(other, LOCK_EX | LOCK_NB) == 0)
        defer { close(other) }
        #expect(throws: AssemblyError.busy(path: folder.path(of: Sample.part))) { try recover() }
        #expect(folder.names == [Sample.part, Sample.manifest])
    }
}
