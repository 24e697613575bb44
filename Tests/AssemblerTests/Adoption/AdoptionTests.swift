import Foundation
import Glibc
import TestSupport
import Testing

@testable import Assembler

/// Making a part of a file that another program has begun to download.
@Suite struct AdoptionTests {
    private static let size = 20 << 20
    private static let begun = 12 << 20 | 5

    private let folder = TemporaryFolder()

    /// Writes the beginning of a remote file under a name.
    private func sample(_ name: String, in place: TemporaryFolder? = nil) throws -> Sample {
        let sample = Sample(size: Self.size, in: folder)
        try (place ?? folder).write(Array(sample.data.prefix(Self.begun)), to: name)
        return sample
    }

    private func take(
        _ path: String, _ sample: Sample, moves: Bool, deciding: [Digest] = [],
        _ isCancelled: () -> Bool = { false }
    ) throws -> Adoption.Taken? {
        let part = try ForeignPart.open(path, remote: Int64(Self.size)) { false }
        return try Adoption(try #require(part), for: sample.request, deciding: deciding)
            .take(moves: moves, isCancelled: isCancelled)
    }

    /// Returns the attributes that must not change: inode, size and modification time.
    private func facts(_ name: String, in place: TemporaryFolder? = nil) throws -> [Int] {
        let status = try #require((place ?? folder).status(name))
        return [
            Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec,
            status.st_mtim.tv_nsec,
        ]
    }

    /// Checks that the part contains the adopted bytes, and that it is continued.
    private func expectPart(_ sample: Sample, _ required: [Digest] = []) throws {
        let manifest = try Manifest(reading: try #require(folder.read(Sample.manifest)))
        #expect(manifest.extents.covered == RangeSet(ByteRange(0, Int64(Self.begun))))
        #expect(manifest.header.required == required)
        #expect(manifest.header.isFor(fullURL: sample.request.fullURL))
        #expect(manifest.extents.extents.allSatisfy { $0.range.count <= ExtentMap.mergeLimit })
        let part = open(folder.path(of: Sample.part), O_RDONLY)
        defer { close(part) }
        #expect(manifest.extents.extents.allSatisfy { isIntact($0, in: part) })
        // A part adopted because of a sample has to pass a sample again.
        #expect(manifest.header.isSampled == (required.isEmpty ? true : nil))
        var request = sample.request
        if required.isEmpty {
            if case .startOver(.noValidator) = try Assembly.preview(request) {
            } else {
                Issue.record("continued without a sample")
            }
            request.sampled = manifest.header.generation
        }
        let assembly = try Assembly(request)
        #expect(assembly.startedOver == nil)
        #expect(assembly.bytesKept == Int64(Self.begun))
        try assembly.stop()
    }

    @Test func copyLeavesTheFileUnchanged() throws {
        let sample = try sample("old")
        let before = try facts("old")
        let digest = Digest(crc32: 7)
        let taken = try take(folder.path(of: "old"), sample, moves: false, deciding: [digest])
        #expect(taken?.way == .copied && taken?.bytes == Int64(Self.begun))
        #expect(try facts("old") == before)
        try expectPart(sample, [digest])
        try taken?.undo()
        #expect(folder.names == [Sample.part, Sample.manifest, "old"].sorted())
    }

    @Test func movedFileBecomesThePart() throws {
        let sample = try sample("old")
        let before = try facts("old")
        try folder.write(controlFile.bytes, to: "old.aria2")
        #expect(try take(folder.path(of: "old"), sample, moves: true)?.way == .moved)
        #expect(try facts(Sample.part) == before)
        #expect(folder.names == [Sample.part, Sample.manifest])
        try expectPart(sample)
    }

    /// A control file in which aria2 states that all written bytes are complete.
    private var controlFile: ControlFileParts {
        var parts = ControlFileParts()
        (parts.pieceLength, parts.total) = (UInt32(Self.begun), UInt64(Self.size))
        parts.bits = [0b1000_0000]
        return parts
    }

    @Test func existingPartStays() throws {
        let sample = try sample(Sample.part)
        let before = try facts(Sample.part)
        let path = folder.path(of: Sample.part)
        #expect(try !Adoption.isBegun(sample.request, path: path))
        #expect(throws: AssemblyError.foreignPart(path: path)) {
            try Adoption.isBegun(sample.request, path: folder.path(of: "another"))
        }
        let taken = try take(path, sample, moves: false)
        #expect(taken?.way == .inPlace(size: Int64(Self.begun)))
        #expect(try Adoption.isBegun(sample.request, path: path))
        try expectPart(sample)
        // The part has been extended to its full length.
        #expect(folder.status(Sample.part)?.st_size == Int(Self.size))
        try taken?.undo()
        #expect(try facts(Sample.part)[..<2] == before[..<2])
        #expect(folder.read(Sample.part) == Array(sample.data.prefix(Self.begun)))
        #expect(folder.names == [Sample.part])
    }

    @Test func fileOnAnotherFileSystemIsCopied() throws {
        let memory = try Tmpfs(size: 64 << 20)
        let place = TemporaryFolder(under: memory.path)
        let sample = try sample("old", in: place)
        let before = try facts("old", in: place)
        #expect(try take(place.path(of: "old"), sample, moves: true)?.way == .copied)
        #expect(try facts("old", in: place) == before)
        try expectPart(sample)
    }

    enum Way: CaseIterable { case copied, moved, inPlace }

    private func name(_ way: Way) -> String { way == .inPlace ? Sample.part : "old" }

    /// Stops the adoption at each of its checks for cancellation.
    @Test(arguments: Way.allCases) func stoppedAdoptionLeavesNoFiles(way: Way) throws {
        let sample = try sample(name(way))
        let before = try facts(name(way))
        for patience in 0..<10 {
            var looks = 0
            let taken = try take(folder.path(of: name(way)), sample, moves: way == .moved) {
                looks += 1
                return looks > patience
            }
            if taken != nil {
                #expect(patience > 1)
                return
            }
            #expect(try facts(name(way)) == before)
            #expect(folder.names == [name(way)])
        }
        Issue.record("it looks too often whether it is to stop")
    }

    @Test(arguments: Way.allCases, [true, false])
    func changedFileIsNotAdopted(way: Way, grows: Bool) throws {
        let sample = try sample(name(way))
        let path = folder.path(of: name(way))
        var hasChanged = false
        #expect(throws: AssemblyError.notAdopted(path: path, .changed)) {
            try take(path, sample, moves: way == .moved) {
                guard !hasChanged else { return false }
                hasChanged = true
                let other = open(path, O_WRONLY | (grows ? O_APPEND : 0))
                defer { close(other) }
                #expect(Glibc.write(other, "x", 1) == 1)
                return false
            }
        }
        #expect(folder.names == [name(way)])
        #expect(folder.status(name(way))?.st_size == Self.begun + (grows ? 1 : 0))
    }

    @Test func fullDiskLeavesNoFiles() throws {
        let place = TemporaryFolder()
        let sample = try sample("old", in: place)
        let before = try facts("old", in: place)
        for (room, fills) in [(16 << 20, false), (24 << 20, true)] {
            let memory = try Tmpfs(size: Int64(room))
            var request = sample.request
            request.folder = memory.path
            let part = try #require(
                try ForeignPart.open(place.path(of: "old"), remote: Int64(Self.size)) { false })
            let adoption = try Adoption(part, for: request, deciding: [])
            do throws(AssemblyError) {
                _ = try adoption.take(moves: false) {
                    // Another program takes the free space.
                    guard fills else { return false }
                    let filler = [UInt8](repeating: 1, count: 20 << 20)
                    _ = FileManager.default.createFile(
                        atPath: memory.path("filler"), contents: Data(filler))
                    return false
                }
                Issue.record("there was room")
            } catch {
                switch error {
                case .noSpace: #expect(!fills)
                case .io(_, _, ENOSPC): #expect(fills)
                default: Issue.record("\(error)")
                }
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: memory.path)
            #expect(names == (fills ? ["filler"] : []))
            #expect(try facts("old", in: place) == before)
        }
    }

    /// The same command succeeds after a killed run has left an intermediate state.
    @Test func adoptionRestartsAfterAKill() throws {
        let sample = try sample("old")
        let path = folder.path(of: "old")
        // Killed while copying: the manifest lists no extents.
        try sample.leave([])
        try folder.write([1, 2, 3], to: Sample.part)
        #expect(try !Adoption.isBegun(sample.request, path: path))
        #expect(try take(path, sample, moves: false)?.way == .copied)
        #expect(try Adoption.isBegun(sample.request, path: path))
        // Killed after the manifest was written, before the rename.
        try #require(unlink(folder.path(of: Sample.part)) == 0)
        #expect(try !Adoption.isBegun(sample.request, path: path))
        #expect(try take(path, sample, moves: true)?.way == .moved)
        try expectPart(sample)
    }

    @Test func onlyOneProcessAdoptsAFile() throws {
        let sample = try sample("old")
        let path = folder.path(of: "old")
        let other = open(path, O_RDONLY)
        try #require(flock(other, LOCK_EX) == 0)
        #expect(throws: AssemblyError.notAdopted(path: path, .inUse)) {
            try take(path, sample, moves: true)
        }
        close(other)
        let part = try PartialFile(folder: Folder(folder.path), name: Sample.part)
        #expect(throws: AssemblyError.busy(path: part.path)) {
            try take(path, sample, moves: true)
        }
        #expect(throws: AssemblyError.busy(path: part.path)) {
            try take(path, sample, moves: false)
        }
        #expect(folder.names == [Sample.part, "old"])
    }
}
