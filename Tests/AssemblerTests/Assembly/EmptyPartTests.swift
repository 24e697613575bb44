import Testing

@testable import Assembler

/// Which files `removeIfEmpty` removes.
@Suite struct EmptyPartTests {
    private let folder = TemporaryFolder()
    private var sample: Sample { Sample(size: 10_000, in: folder) }

    private func remove(_ generation: String) throws {
        try Assembly.removeIfEmpty(Sample.name, folder: folder.path, generation: generation)
    }

    @Test func emptyPartIsRemoved() throws {
        let assembly = try Assembly(sample.request)
        // Another process uses the part.
        try remove(assembly.generation)
        #expect(folder.names == [Sample.part, Sample.manifest])
        try assembly.stop()
        // The generation is that of another part.
        try remove("0")
        #expect(folder.names == [Sample.part, Sample.manifest])
        try remove(assembly.generation)
        #expect(folder.names == [])
        try remove(assembly.generation)
    }

    @Test func partWithRecordedBytesStays() throws {
        let assembly = try Assembly(sample.request)
        sample.write(ByteRange(0, 1), with: assembly)
        try assembly.stop()
        try remove(assembly.generation)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }

    @Test func partWithoutManifestStays() throws {
        let assembly = try Assembly(sample.request)
        try assembly.stop()
        try folder.write([1], to: Sample.manifest)
        try remove(assembly.generation)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }

    @Test func partWithWrongDigestStays() throws {
        let request = sample.request {
            $0.identity.size = 0
            $0.checksum = try? Digest(parsing: "md5:" + String(repeating: "0", count: 32))
        }
        let assembly = try Assembly(request)
        #expect(throws: AssemblyError.self) { try assembly.publish(size: 0) }
        try remove(assembly.generation)
        #expect(folder.names == [Sample.part, Sample.manifest])
    }
}
