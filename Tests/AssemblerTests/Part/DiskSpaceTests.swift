import Glibc
import Testing

@testable import Assembler

/// A file system of limited size, mounted for one test; needs root.
private final class SmallDisk: Sendable {
    let folder = TemporaryFolder()

    init(bytes: Int) throws {
        let status = mount("tmpfs", folder.path, "tmpfs", 0, "size=\(bytes)")
        try #require(status == 0, "cannot mount a tmpfs: errno \(errno)")
    }

    deinit { umount2(folder.path, Int32(MNT_DETACH)) }
}

@Suite struct DiskSpaceTests {
    private let disk: SmallDisk
    private var folder: TemporaryFolder { disk.folder }
    private let capacity = 1 << 20

    init() throws { disk = try SmallDisk(bytes: 1 << 20) }

    @Test(arguments: [1 << 21, 1 << 40])
    func tooLittleSpaceChangesNothing(size: Int64) throws {
        let request = Sample(size: 0, in: folder).request { $0.identity.size = size }
        let error = AssemblyError.noSpace(
            path: folder.path(of: Sample.part), needed: size, free: Int64(capacity))
        #expect(throws: error) { try Assembly(request) }
        #expect(folder.names.isEmpty)
    }

    @Test func noSpaceForManifestChangesNothing() throws {
        // The file uses all space, and no page remains for the manifest.
        let request = Sample(size: capacity, in: folder).request { $0.allocation = .falloc }
        let error = #expect(throws: AssemblyError.self) { try Assembly(request) }
        guard case .noSpace(folder.path(of: Sample.part), needed: 1 << 20, free: _) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(folder.names.isEmpty)
    }

    @Test func keepsReceivedBytesWhenTheRestDoesNotFit() throws {
        let sample = Sample(size: 600_000, in: folder)
        try sample.leave([ByteRange(0, 100_000)])
        let path = folder.path(of: Sample.part)
        // A copy that skipped the holes would look like this.
        try #require(truncate(path, 100_000) == 0)
        try folder.write([UInt8](repeating: 0, count: 800_000), to: "other")
        #expect(throws: AssemblyError.self) { try Assembly(sample.request) }
        #expect(folder.names == [Sample.part, Sample.manifest, "other"].sorted())
        try #require(unlink(folder.path(of: "other")) == 0)
        let assembly = try Assembly(sample.request)
        assembly.verifyAll()
        #expect(assembly.recorded.covered.ranges == [ByteRange(0, 100_000)])
        try assembly.stop()
    }

    @Test func reportsFullDiskForUnknownSize() throws {
        let request = Sample(size: 0, in: folder).request {
            $0.identity = RemoteIdentity(size: nil)
        }
        let assembly = try Assembly(request)
        let writer = assembly.makeWriter(at: 0)
        let block = [UInt8](repeating: 1, count: 64 << 10)
        var error: Int32 = 0
        while error == 0, writer.position <= Int64(capacity) { error = writer.put(block) }
        #expect(error == ENOSPC)
        #expect(writer.position > 900_000, "what was written before counts")
        #expect(assembly.unrecorded == writer.position)
        assembly.retire(writer)
    }
}
