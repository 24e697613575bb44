import Glibc
import Testing

@testable import Assembler

/// How a queue inspects and removes the files of a download.
@Suite struct StandingTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    init() { sample = Sample(size: 10_000, in: folder) }

    private var target: FileTarget { FileTarget(folder: folder.path, name: Sample.name) }
    private var urls: [String] { ["https://example.org/mirror", sample.request.fullURL] }

    private func standing() throws -> Assembly.Standing {
        try Assembly.standing(at: target, owner: PartOwner(urls: urls))
    }

    private func discard(known: FileIdentity? = nil) throws -> Assembly.Removal {
        try Assembly.discard(at: target, owner: PartOwner(urls: urls), known: known)
    }

    private func status(_ name: String) throws -> FileStatus {
        try #require(try Folder(folder.path).status(of: name))
    }

    @Test func emptyPlaceHasNothing() throws {
        let nothing = Assembly.Standing(part: .none, manifest: .none, destination: .none)
        #expect(try standing() == nothing)
        let gone = FileTarget(folder: folder.path(of: "gone"), name: "f")
        #expect(try Assembly.standing(at: gone, owner: PartOwner(urls: urls)) == nothing)
        #expect(try Assembly.discard(at: gone, owner: PartOwner(urls: urls)) == .nothing)
        #expect(try discard() == .nothing)
    }

    @Test func reportsReceivedBytes() throws {
        try sample.leave([ByteRange(0, 100), ByteRange(200, 500)])
        let there = try standing()
        #expect(there.part == .ours(try status(Sample.part).identity))
        #expect(there.destination == .none)
        guard case .ours(let record) = there.manifest else {
            Issue.record("\(there)")
            return
        }
        #expect(record.bytes == 400 && record.size == 10_000)
        #expect(record.extents.map(\.range) == [ByteRange(0, 100), ByteRange(200, 500)])
        #expect(record.publishing == nil && record.finished == nil && !record.isRejected)
    }

    @Test func reportsForeignFiles() throws {
        try folder.write([], to: Sample.part)
        #expect(try standing().part == .empty(try status(Sample.part).identity))
        try folder.write([1], to: Sample.part)
        #expect(try standing().part == .foreign(try status(Sample.part).identity))
        try folder.write([1], to: Sample.manifest)
        #expect(try standing().manifest == .other)
        try folder.write(Array("{\"segget\":1,".utf8), to: Sample.manifest)
        #expect(try standing().manifest == .unreadable)
        try folder.write([1, 2], to: Sample.name)
        #expect(try standing().destination == .regular(try status(Sample.name)))
        for name in [Sample.name, Sample.part, Sample.manifest] {
            try #require(unlink(folder.path(of: name)) == 0)
            try #require(mkdir(folder.path(of: name), 0o700) == 0)
        }
        let there = try standing()
        #expect(there.part == .foreign(try status(Sample.part).identity))
        #expect(there.manifest == .other && there.destination == .other)
        #expect(try discard() == .nothing)
    }

    @Test func manifestOfAnotherURLIsForeign() throws {
        try sample.leave([ByteRange(0, 100)], request: sample.request { $0.fullURL = "other" })
        let there = try standing()
        #expect(there.part == .foreign(try status(Sample.part).identity))
        #expect(there.manifest == .other)
        #expect(try discard() == .nothing)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }

    // MARK: Discarding

    @Test func discardsPartAndManifest() throws {
        let assembly = try Assembly(sample.request)
        sample.write(ByteRange(0, 100), with: assembly)
        #expect(try discard() == .busy, "somebody works with it")
        try assembly.stop()
        try folder.write(try #require(folder.read(Sample.manifest)), to: Sample.manifest + "~")
        try folder.write([1], to: Sample.name)
        #expect(try discard() == .removed)
        #expect(folder.names == [Sample.name], "what has the name is not the part's")
        #expect(try discard() == .nothing)
    }

    @Test func discardsAManifestWithoutItsPart() throws {
        try sample.leave([ByteRange(0, 100)])
        try #require(unlink(folder.path(of: Sample.part)) == 0)
        #expect(try discard() == .removed)
        #expect(folder.names == [])
    }

    @Test func discardsAnEmptyPart() throws {
        try folder.write([], to: Sample.part)
        #expect(try discard() == .removed)
        #expect(folder.names == [])
    }

    @Test func partWithDamagedManifestIsKeptUnlessKnown() throws {
        try sample.leave([ByteRange(0, 100)])
        let identity = try status(Sample.part).identity
        var bytes = try #require(folder.read(Sample.manifest))
        bytes[30] ^= 1
        try folder.write(bytes, to: Sample.manifest)
        #expect(try discard() == .nothing)
        #expect(try discard(known: FileIdentity(device: 0, inode: 0)) == .nothing)
        #expect(folder.names == [Sample.part, Sample.manifest])
        #expect(try discard(known: identity) == .removed)
        #expect(folder.names == [])
    }

    @Test func keptManifestStays() throws {
        try finish(keeps: true)
        #expect(try discard() == .nothing)
        #expect(folder.names == [Sample.name, Sample.manifest])
    }

    // MARK: Removing a finished file

    private func finish(keeps: Bool) throws {
        let assembly = try Assembly(sample.request { $0.keepManifest = keeps })
        sample.write(sample.whole, with: assembly)
        #expect(try assembly.publish(size: sample.whole.count) != nil)
    }

    private func remove(_ version: FileVersion) throws -> Assembly.Removal {
        try Assembly.removeFinished(at: target, version, owner: PartOwner(urls: urls))
    }

    @Test(arguments: [false, true])
    func removesTheFinishedFile(keeps: Bool) throws {
        try finish(keeps: keeps)
        let version = try status(Sample.name).version
        #expect(try remove(version) == .removed)
        #expect(folder.names == [])
        #expect(try remove(version) == .nothing)
    }

    @Test func otherFileStays() throws {
        try finish(keeps: true)
        let version = try status(Sample.name).version
        for change in 0..<3 {
            var other = version
            if change == 0 { other.identity.inode += 1 }
            if change == 1 { other.size += 1 }
            if change == 2 { other.modified += 1 }
            #expect(try remove(other) == .changed)
        }
        #expect(folder.names == [Sample.name, Sample.manifest])
        // The device number of a disk may change with a reboot.
        var again = version
        again.identity.device += 1
        #expect(try remove(again) == .removed)
    }

    @Test func newPartStays() throws {
        try finish(keeps: false)
        let version = try status(Sample.name).version
        try sample.leave([ByteRange(0, 100)], request: sample.request { $0.overwrite = true })
        #expect(try remove(version) == .removed)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }

    @Test func irregularFileStays() throws {
        try #require(symlink("nowhere", folder.path(of: Sample.name)) == 0)
        let version = FileVersion(
            identity: FileIdentity(device: 1, inode: 1), size: 0, modified: 0)
        #expect(try remove(version) == .changed)
    }
}
