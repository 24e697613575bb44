import Testing

@testable import Assembler

/// A part that was begun with one mirror of a redirector, which now redirects to another.
@Suite struct OtherServerTests {
    private static let url = "https://example.org/f"
    private static let date = "Mon, 01 Jan 2024 00:00:00 GMT"
    private static let here = LandingPlace(url: "https://a.example/f", hasQuery: false)
    private static let there = LandingPlace(url: "https://b.example/f", hasQuery: false)

    private static func identity(
        _ etag: String? = "\"a\"", date: String? = date, size: Int64 = 100
    ) -> RemoteIdentity {
        RemoteIdentity(size: size, etag: etag, lastModified: date, lastModifiedIsStrong: true)
    }

    private func decide(
        _ begun: LandingPlace?, _ landing: LandingPlace?, _ offered: RemoteIdentity,
        sampled: Bool = false, checksum: Digest? = nil, advertised: [Digest] = [],
        needsChecksum: Bool = false
    ) throws -> String {
        var header = Manifest.Header(
            identity: Self.identity(), url: Self.url, fullURL: Self.url, generation: 1,
            needsChecksum: needsChecksum)
        header.mirror = begun?.stored
        var manifest = try Manifest(
            reading: SealedLine.of(header, seed: Manifest.seed(generation: header.generation)))
        #expect(manifest.header == header)
        manifest.extents.add(Extent(ByteRange(0, 10), crc: 1))
        let decision = ResumeDecision(
            .init(
                manifest: .success(manifest), partSize: 100, offered: offered,
                fullURL: Self.url, url: Self.url, servesRanges: true, checksum: checksum,
                wantsResume: true, mayOverwrite: false,
                sampled: sampled ? header.generation : nil, advertised: advertised,
                landing: landing),
            partPath: "f.part", manifestPath: "f.segget")
        return switch decision {
        case .begin: "begin"
        case .resume(let manifest):
            manifest.header.needsChecksum == true ? "resume, by the checksum only" : "resume"
        case .startOver(let reason): reason.isOtherServer ? "other server" : "start over"
        case .refuse: "refuse"
        }
    }

    @Test func tagsOfOneServerAreComparable() throws {
        #expect(try decide(Self.here, Self.here, Self.identity()) == "resume")
        #expect(try decide(Self.here, Self.here, Self.identity("\"b\"")) == "start over")
        let elsewhere = LandingPlace(url: "https://a.example/other/f", hasQuery: false)
        #expect(try decide(Self.here, elsewhere, Self.identity()) == "resume")
        #expect(try decide(nil, nil, Self.identity()) == "resume")
    }

    @Test(arguments: ["\"a\"", "\"b\"", nil] as [String?])
    func tagsOfTwoServersAreNotComparable(etag: String?) throws {
        let offered = Self.identity(etag)
        for landing in [Self.there, nil] {
            #expect(try decide(Self.here, landing, offered) == "other server")
            #expect(try decide(Self.here, landing, offered, sampled: true) == "resume")
            let otherDate = Self.identity(etag, date: "Tue, 02 Jan 2024 00:00:00 GMT")
            #expect(try decide(Self.here, landing, otherDate, sampled: true) == "start over")
            let otherSize = Self.identity(etag, size: 99)
            #expect(try decide(Self.here, landing, otherSize, sampled: true) == "start over")
        }
    }

    @Test func digestKeepsThePart() throws {
        let digest = Digest(crc32: 7)
        for begun in [Self.here, nil] {
            let offered = Self.identity("\"b\"", date: nil)
            #expect(
                try decide(begun, Self.there, offered, checksum: digest)
                    == "resume, by the checksum only")
            #expect(try decide(begun, Self.there, offered, advertised: [digest]) == "resume")
            #expect(
                try decide(
                    begun, Self.there, offered, advertised: [digest], needsChecksum: true)
                    != "resume")
        }
    }

    /// If the manifest names no server, it may be the same one: its ETags are trusted as usual.
    @Test func unknownServerCountsAsTheSame() throws {
        #expect(try decide(nil, Self.there, Self.identity()) == "resume")
        #expect(try decide(nil, Self.there, Self.identity("\"b\"")) == "start over")
    }

    @Test func queryIsNotRecorded() {
        #expect(LandingPlace(url: "https://a.example/f", hasQuery: true).stored == nil)
        #expect(LandingPlace.server(of: "https://a.example:8443/x/y") == "https://a.example:8443")
        #expect(LandingPlace.server(of: "https://a.example") == "https://a.example")
    }
}

extension StartOverReason {
    fileprivate var isOtherServer: Bool { self == .otherServer }
}
