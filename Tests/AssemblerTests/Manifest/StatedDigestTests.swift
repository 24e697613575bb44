import Testing

@testable import Assembler

/// A part without validators, and a server that states a digest of the whole file.
@Suite struct StatedDigestTests {
    private static let url = "https://example.org/f"
    private static let old = digest(1)
    private static let other = digest(2)

    private static func digest(_ byte: UInt8) -> Digest {
        Digest(.sha256, [UInt8](repeating: byte, count: 32)) ?? Digest(crc32: 0)
    }

    /// Decides about a part with 10 of 100 bytes, given the digests that the server stated earlier
    /// and states now.
    private func decide(
        _ required: [Digest], _ advertised: [Digest], etag: String? = nil,
        change: (inout Manifest.Header) -> Void = { _ in }
    ) throws -> String {
        var identity = RemoteIdentity(size: 100, etag: etag)
        var header = Manifest.Header(
            identity: identity, url: Self.url, fullURL: Self.url, generation: 1)
        header.require(required)
        change(&header)
        var manifest = try Manifest(
            reading: SealedLine.of(header, seed: Manifest.seed(generation: header.generation)))
        manifest.extents.add(Extent(ByteRange(0, 10), crc: 1))
        identity.distrust(.etag)
        let decision = ResumeDecision(
            .init(
                manifest: .success(manifest), partSize: 100, offered: identity,
                fullURL: Self.url, url: Self.url, servesRanges: true, checksum: nil,
                wantsResume: true, mayOverwrite: false, advertised: advertised),
            partPath: "f.part", manifestPath: "f.segget")
        return switch decision {
        case .begin: "begin"
        case .resume: "resume"
        case .startOver(let reason): reason == .noValidator ? "nothing proves it" : "\(reason)"
        case .refuse: "refuse"
        }
    }

    @Test func statedDigestAllowsResuming() throws {
        #expect(try decide([], []) == "nothing proves it")
        #expect(try decide([], [Self.old]) == "resume")
        #expect(try decide([Self.old], [Self.old]) == "resume")
        // The server states no digest any more; the file must still match the earlier one.
        #expect(try decide([Self.old], []) == "resume")
        #expect(try decide([Self.old], [Self.old], etag: "\"0\"") == "resume")
    }

    @Test func otherDigestIsAnotherFile() throws {
        let change = StartOverReason.digestChanged(was: Self.old, now: Self.other)
        #expect(try decide([Self.old], [Self.other]) == "\(change)")
    }

    @Test func mixedPartRequiresTheChecksum() throws {
        #expect(
            try decide([], [Self.old]) { $0.needsChecksum = true } == "nothing proves it")
        #expect(try decide([], [Self.old]) { $0.isSampled = true } == "nothing proves it")
    }
}
