import Glibc
import Testing

@testable import Assembler

/// Which download owns a name.
struct AssemblyNamesTests {
    private let folder: TemporaryFolder
    private let sample: Sample

    init() {
        folder = TemporaryFolder()
        sample = Sample(size: 10_000, in: folder)
    }

    private func isFree(url: String? = nil) throws -> Bool {
        try Assembly.isFree(
            Sample.name, folder: folder.path, urls: [url ?? sample.request.fullURL])
    }

    @Test func emptyFolderHasEveryName() throws {
        #expect(try isFree())
        #expect(folder.names.isEmpty)
    }

    @Test func existingFileTakesTheName() throws {
        try folder.write([1], to: Sample.name)
        #expect(try !isFree())
    }

    @Test func partBelongsToItsURL() throws {
        try sample.leave([ByteRange(0, 100)])
        #expect(try isFree())
        #expect(try !isFree(url: "https://example.org/f?key=other"))
        // This also applies before the first byte has arrived.
        try folder.write([], to: "other.part")
        #expect(try Assembly.isFree("other", folder: folder.path, urls: ["u"]))
    }

    @Test func foreignFilesStay() throws {
        try folder.write([1], to: Sample.part)
        #expect(try !isFree())
        try folder.write([1], to: "other.segget")
        #expect(try !Assembly.isFree("other", folder: folder.path, urls: ["u"]))
        try #require(symlink("nowhere", folder.path(of: "third.segget")) == 0)
        #expect(try !Assembly.isFree("third", folder: folder.path, urls: ["u"]))
        try #require(mkdir(folder.path(of: "fourth.part"), 0o700) == 0)
        #expect(try !Assembly.isFree("fourth", folder: folder.path, urls: ["u"]))
    }

    @Test func missingFolderIsAnError() {
        #expect(throws: AssemblyError.self) {
            try Assembly.isFree("f", folder: folder.path(of: "nowhere"), urls: ["u"])
        }
    }
}
