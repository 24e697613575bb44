import Foundation
import Glibc
import TestSupport
import Testing

@testable import Assembler

/// Whether segget may continue the files of other programs, and which of their bytes it keeps.
@Suite struct ForeignPartTests {
    private static let size = 100_000
    private static let remote: Int64 = 150_000

    private let folder = TemporaryFolder()
    private var path: String { folder.path(of: "old") }

    private func open(remote: Int64 = remote) throws(AssemblyError) -> ForeignPart? {
        try ForeignPart.open(path, remote: remote) { false }
    }

    /// Writes the file, without any zero byte.
    private func write(_ count: Int = size) throws {
        try folder.write([UInt8](repeating: 7, count: count), to: "old")
    }

    private func write(_ control: ControlFileParts) throws {
        try folder.write(control.bytes, to: "old.aria2")
    }

    /// aria2's control file with pieces of 50,000 bytes.
    private func control(_ bits: UInt8, total: Int64 = remote) -> ControlFileParts {
        var parts = ControlFileParts()
        (parts.pieceLength, parts.total, parts.bits) = (50_000, UInt64(total), [bits])
        return parts
    }

    private func expect(
        _ obstacle: AdoptionObstacle, remote: Int64 = remote,
        at location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            throws: AssemblyError.notAdopted(path: path, obstacle), sourceLocation: location
        ) { try open(remote: remote) }
    }

    // MARK: Files that are not adopted

    @Test func irregularFilesAreRefused() throws {
        expect(.missing)
        try #require(mkdir(path, 0o700) == 0)
        expect(.notARegularFile)
        try #require(rmdir(path) == 0)
        try #require(mkfifo(path, 0o600) == 0)
        expect(.notARegularFile)
        try #require(unlink(path) == 0)
        try folder.write([1], to: "elsewhere")
        try #require(symlink(folder.path(of: "elsewhere"), path) == 0)
        expect(.notARegularFile)
        try #require(unlink(path) == 0)
        try #require(link(folder.path(of: "elsewhere"), path) == 0)
        expect(.hasOtherNames)
    }

    @Test func fileOfAnotherUserIsRefused() throws {
        try write()
        try #require(chown(path, geteuid() + 1, getegid()) == 0)
        expect(.otherOwner)
    }

    @Test func fileOpenForWritingIsRefused() throws {
        try write()
        let writer = Glibc.open(path, O_WRONLY | O_CLOEXEC)
        expect(.inUse)
        close(writer)
        let reader = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        defer { close(reader) }
        #expect(try open() != nil)
        // The lease was released: the file can be opened for writing again.
        let again = Glibc.open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
        #expect(again >= 0)
        close(again)
    }

    @Test func impossiblePrefixIsRefused() throws {
        try write(0)
        expect(.nothingInIt)
        try write()
        expect(
            .longerThanRemote(size: Int64(Self.size), remote: Int64(Self.size) - 1),
            remote: Int64(Self.size) - 1)
    }

    @Test func mismatchingControlFileIsRefused() throws {
        try write()
        try write(control(0b1000_0000, total: Self.remote + 1))
        expect(.otherSize(stated: Self.remote + 1, remote: Self.remote))
        try write(control(0b0010_0000))
        expect(.shorterThanControlFile(size: Int64(Self.size), stated: Self.remote))
        try write(control(0))
        expect(.nothingInIt)
        var old = control(0b1000_0000)
        old.version = 0
        try write(old)
        expect(.controlFile(.version(0)))
        let whole = control(0b1000_0000).bytes
        for count in whole.indices {
            try folder.write(Array(whole.prefix(count)), to: "old.aria2")
            expect(.controlFile(.truncated))
        }
        try folder.write(whole, to: "old.aria2")
        #expect(try open()?.ranges == RangeSet(ByteRange(0, 50_000)))
    }

    @Test func foreignControlFileIsRefused() throws {
        try write()
        let path = folder.path(of: "old.aria2")
        try #require(mkdir(path, 0o700) == 0)
        expect(.controlFile(.unusable))
        try #require(rmdir(path) == 0)
        try write(control(0b1000_0000))
        try #require(chown(path, geteuid() + 1, getegid()) == 0)
        expect(.controlFile(.unusable))
        try #require(unlink(path) == 0)
        try folder.write([1], to: "elsewhere")
        try #require(symlink("elsewhere", path) == 0)
        expect(.controlFile(.unusable))
    }

    // MARK: Bytes that are kept

    @Test func prefixIsAdopted() throws {
        try write()
        let part = try #require(try open())
        #expect(part.ranges == RangeSet(ByteRange(0, Int64(Self.size))))
        #expect(!part.isOfFullLength)
    }

    @Test func trailingZerosAreNotAdopted() throws {
        try folder.write([1] + [UInt8](repeating: 0, count: Self.size - 1), to: "old")
        #expect(try open()?.ranges.count == Int64(Self.size))
    }

    @Test func controlFileDeterminesTheExtents() throws {
        try write(Int(Self.remote))
        try write(control(0b1010_0000))
        let part = try #require(try open())
        #expect(
            part.ranges.ranges == [ByteRange(0, 50_000), ByteRange(100_000, 150_000)])
        #expect(!part.isOfFullLength)
    }

    /// Exactly the ranges that were written to a sparse file are found.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func holesAreNotAdopted(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let size: Int64 = 4 << 20
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(descriptor >= 0 && ftruncate(descriptor, off_t(size)) == 0)
        defer { close(descriptor) }
        var written = RangeSet()
        var start: Int64 = 0
        while true {
            start += Int64.random(in: 20_000...300_000, using: &random)
            let end = start + Int64.random(in: 1...200_000, using: &random)
            guard end < size - 20_000 else { break }
            let bytes = (start..<end).map { _ in UInt8.random(in: 1...255, using: &random) }
            try #require(pwrite(descriptor, bytes, bytes.count, off_t(start)) == bytes.count)
            written.insert(ByteRange(start, end))
            start = end
        }
        // Written zeros count as holes: some programs allocate space that way.
        if seed > 2 {
            let zeros = [UInt8](repeating: 0, count: Int(size))
            for gap in written.gaps(in: ByteRange(0, size)).ranges {
                let count = pwrite(descriptor, zeros, Int(gap.count), off_t(gap.start))
                try #require(count == Int(gap.count))
            }
        }
        let found = WrittenRanges(descriptor: descriptor, size: size)
            .found(isOfFullLength: true) { false }
        #expect(found == written, "seed \(seed)")
        // If the file is shorter than the remote file, its end was written last.
        if seed <= 2 {
            let last = try #require(written.ranges.last)
            try #require(ftruncate(descriptor, off_t(last.end - 1)) == 0)
            var shorter = written
            shorter.remove(ByteRange(last.end - 1, last.end))
            let part = WrittenRanges(descriptor: descriptor, size: last.end - 1)
            #expect(part.found(isOfFullLength: false) { false } == shorter)
        }
    }

    @Test func holeContradictsTheControlFile() throws {
        let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 7, count: 4096)
        try #require(pwrite(descriptor, bytes, 4096, 8192) == 4096)
        try #require(ftruncate(descriptor, off_t(Self.remote)) == 0)
        try write(control(0b1000_0000))
        let data = WrittenRanges(descriptor: descriptor, size: Self.remote)
        #expect(
            data.within(RangeSet(ByteRange(0, 50_000))) == RangeSet(ByteRange(8192, 12288)))
    }

    @Test func readingCanBeStopped() throws {
        try write()
        let stopped = try ForeignPart.open(path, remote: Int64(Self.size)) { true }
        #expect(stopped == nil)
    }
}
