import Glibc
import TestSupport
import Testing

@testable import Assembler

struct WholeFileTests {
    /// Publishes one file.
    private func publish(_ request: Assembly.Request, _ bytes: [UInt8]) -> WholeFilePublisher
        .Outcome?
    {
        let publisher = WholeFilePublisher()
        let outcome = Monitor<WholeFilePublisher.Outcome?>(nil)
        publisher.submit(
            .init(bytes: bytes, request: { _ in request }) { [outcome] reported, _ in
                outcome.withLock { $0 = reported }
            })
        publisher.finish()
        return outcome.withLock { $0 }
    }

    private func isDeclined(_ outcome: WholeFilePublisher.Outcome?) -> Bool {
        if case .declined? = outcome { true } else { false }
    }

    @Test(arguments: [0, 1, 20_000]) func publishes(size: Int) throws {
        let folder = TemporaryFolder()
        let sample = Sample(size: size, in: folder)
        let request = sample.request {
            $0.modified = 1_000_000
            $0.advertised = [Digest(crc32: CRC32.of(sample.data))]
        }
        guard case .published(let file)? = publish(request, sample.data) else {
            Issue.record("not published")
            return
        }
        #expect(file.size == Int64(size) && file.crc32 == CRC32.of(sample.data))
        #expect(file.verified == request.advertised)
        #expect(folder.names == [Sample.name] && folder.read(Sample.name) == sample.data)
        let status = try #require(folder.status(Sample.name))
        #expect(status.st_mode & 0o7777 == 0o666 & ~processUmask())
        #expect(status.st_mtim.tv_sec == 1_000_000)
    }

    @Test(arguments: [Sample.name, Sample.part, Sample.manifest, Sample.manifest + "~"])
    func declinesExistingDestination(name: String) throws {
        let folder = TemporaryFolder()
        let sample = Sample(size: 100, in: folder)
        try folder.write([1, 2, 3], to: name)
        #expect(isDeclined(publish(sample.request, sample.data)))
        #expect(folder.names == [name] && folder.read(name) == [1, 2, 3])
    }

    @Test func declinesUnsuitableRequests() {
        let folder = TemporaryFolder()
        let sample = Sample(size: 100, in: folder)
        let wrong = Digest(crc32: CRC32.of(sample.data) &+ 1)
        for request in [
            sample.request { $0.keepManifest = true }, sample.request { $0.checksum = wrong },
            sample.request { $0.required = [wrong] }, sample.request { $0.folder += "/none" },
            sample.request { $0.name = String(repeating: "n", count: 300) },
        ] {
            #expect(isDeclined(publish(request, sample.data)))
        }
        #expect(isDeclined(publish(sample.request, sample.data + [1])))
        #expect(folder.names.isEmpty)
    }

    /// A symbolic link occupies its name, whatever its target.
    @Test func doesNotFollowLinks() {
        let folder = TemporaryFolder()
        let sample = Sample(size: 100, in: folder)
        #expect(symlink("target", folder.path(of: Sample.name)) == 0)
        #expect(isDeclined(publish(sample.request, sample.data)))
        #expect(folder.names == [Sample.name])
    }
}
