import Glibc
import Testing

@testable import Assembler

/// Files that an assembly refuses to change, and the errors that it throws.
@Suite struct AssemblyRefusalTests {
    private let folder = TemporaryFolder()
    private let sample: Sample

    init() { sample = Sample(size: 10_000, in: folder) }

    private func open(
        _ change: (inout Assembly.Request) -> Void = { _ in }
    ) throws -> Assembly { try Assembly(sample.request(change)) }

    private func path(_ name: String) -> String { folder.path(of: name) }

    @Test func refusesAnExistingDestination() throws {
        try folder.write([1], to: Sample.name)
        #expect(throws: AssemblyError.destinationExists(path: path(Sample.name))) { try open() }
        #expect(folder.names == [Sample.name])
        #expect(folder.read(Sample.name) == [1])
    }

    @Test(arguments: [false, true])
    func refusesIrregularDestination(isLink: Bool) throws {
        if isLink {
            try #require(symlink("/nowhere", path(Sample.name)) == 0)
        } else {
            try #require(mkdir(path(Sample.name), 0o700) == 0)
        }
        for overwrite in [false, true] {
            #expect(throws: AssemblyError.notARegularFile(path: path(Sample.name))) {
                try open { $0.overwrite = overwrite }
            }
        }
        #expect(folder.names == [Sample.name])
    }

    @Test func refusesDestinationOfAnotherRun() throws {
        let first = try open()
        sample.write(ByteRange(0, 5000), with: first)
        try first.record()
        let before = folder.read(Sample.manifest)
        #expect(throws: AssemblyError.busy(path: path(Sample.part))) { try open() }
        #expect(throws: AssemblyError.busy(path: path(Sample.part))) {
            try open { $0.resume = false }
        }
        #expect(folder.read(Sample.manifest) == before)
        sample.write(ByteRange(5000, 10_000), with: first)
        #expect(try first.publish(size: 10_000) != nil, "the first goes on undisturbed")
        #expect(folder.read(Sample.name) == sample.data)
    }

    @Test func nextRunStartsAfterTheFirstEnds() throws {
        try sample.leave([ByteRange(0, 10)])
        let assembly = try open()
        #expect(assembly.unverified.count == 1)
        try assembly.stop()
    }

    @Test(arguments: [Sample.part, Sample.manifest, Sample.manifest + "~"])
    func doesNotFollowSymbolicLink(name: String) throws {
        try folder.write(Array("precious".utf8), to: "target")
        try #require(symlink(path("target"), path(name)) == 0)
        for overwrite in [false, true] {
            #expect(throws: AssemblyError.notARegularFile(path: path(name))) {
                try open { $0.overwrite = overwrite }
            }
        }
        #expect(folder.names == [name, "target"].sorted(), "nothing is left over")
        #expect(folder.read("target") == Array("precious".utf8))
    }

    @Test(
        arguments: [Sample.part, Sample.manifest, Sample.manifest + "~"],
        [mode_t(S_IFDIR), mode_t(S_IFIFO)])
    func refusesIrregularPart(name: String, type: mode_t) throws {
        let status = type == S_IFDIR ? mkdir(path(name), 0o700) : mkfifo(path(name), 0o600)
        try #require(status == 0)
        #expect(throws: AssemblyError.notARegularFile(path: path(name))) { try open() }
        #expect(folder.names == [name])
    }

    @Test func refusesAForeignPart() throws {
        try folder.write([1, 2, 3], to: Sample.part)
        #expect(throws: AssemblyError.foreignPart(path: path(Sample.part))) { try open() }
        #expect(folder.names == [Sample.part])
        #expect(folder.read(Sample.part) == [1, 2, 3])
        let assembly = try open { $0.overwrite = true }
        #expect(assembly.startedOver == .manifestUnreadable)
        #expect(folder.read(Sample.part) == Array(repeating: 0, count: 10_000))
        try assembly.stop()
    }

    @Test func refusesAForeignManifest() throws {
        try folder.write(Array("{\"name\":\"config\"}".utf8), to: Sample.manifest)
        #expect(throws: AssemblyError.foreignPart(path: path(Sample.manifest))) { try open() }
        #expect(folder.names == [Sample.manifest])
    }

    @Test func reportsMissingFolder() {
        let missing = path("no/such")
        #expect(throws: AssemblyError.folderUnavailable(path: missing, errno: ENOENT)) {
            try open { $0.folder = missing }
        }
    }

    @Test func reportsFileInPlaceOfFolder() throws {
        try folder.write([], to: "plain")
        #expect(throws: AssemblyError.folderUnavailable(path: path("plain"), errno: ENOTDIR)) {
            try open { $0.folder = path("plain") }
        }
    }

    @Test func unwritableManifestLeavesNoFiles() throws {
        // A folder with the manifest's temporary name is not removed.
        try #require(mkdir(path(Sample.manifest + "~"), 0o700) == 0)
        #expect(throws: AssemblyError.self) { try open() }
        #expect(folder.names == [Sample.manifest + "~"], "no part without a manifest")
    }

    @Test func previewChangesNothing() throws {
        try sample.leave([ByteRange(0, 4000)])
        let before = [folder.read(Sample.part), folder.read(Sample.manifest)]
        let decision = try Assembly.preview(sample.request { $0.identity.etag = "\"v2\"" })
        guard case .startOver(.etagChanged(was: "\"v1\"", now: "\"v2\"")) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect([folder.read(Sample.part), folder.read(Sample.manifest)] == before)
        #expect(Assembly.bytesRecorded(folder: folder.path, name: Sample.name) == 4000)
        #expect(Assembly.bytesRecorded(folder: folder.path, name: "other") == 0)
    }
}
