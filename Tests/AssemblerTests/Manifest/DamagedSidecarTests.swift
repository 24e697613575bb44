import TestSupport
import Testing

@testable import Assembler

/// A damaged manifest on the disk never makes a wrong byte count as downloaded.
@Suite struct DamagedSidecarTests {
    private let folder = TemporaryFolder(under: "/dev/shm")
    private let sidecar = DamageableManifest(endsInVerdict: false)
    /// The offset of the wrong byte of the part, inside an extent that the manifest lists.
    private let wrong = 4096 * 5 + 77

    private enum Outcome: Hashable {
        case refused
        case startedOver
        case resumed(Int64)
    }

    /// Opens an assembly on this manifest and a part with one wrong byte, and verifies all extents.
    private func outcome(of manifest: [UInt8], _ context: Comment) throws -> Outcome {
        var part = [UInt8](repeating: 0, count: sidecar.data.count)
        for extent in sidecar.extents {
            let range = Int(extent.range.start)..<Int(extent.range.end)
            part.replaceSubrange(range, with: sidecar.data[range])
        }
        part[wrong] ^= 1
        try folder.write(part, to: Sample.part)
        try folder.write(manifest, to: Sample.manifest)
        let request = Assembly.Request(
            folder: folder.path, name: Sample.name, fullURL: sidecar.header.url + "?key=secret",
            url: sidecar.header.url, identity: sidecar.header.identity, servesRanges: true)
        let assembly: Assembly
        do {
            assembly = try Assembly(request)
        } catch {
            guard case .foreignPart = error else { throw error }
            #expect(folder.read(Sample.part) == part, context)
            return .refused
        }
        assembly.verifyAll()
        let onDisk = try #require(folder.read(Sample.part))
        for range in assembly.recorded.covered.ranges {
            let bytes = Int(range.start)..<Int(range.end)
            #expect(onDisk[bytes] == sidecar.data[bytes], context)
            #expect(!bytes.contains(wrong), context)
        }
        #expect(assembly.unverified.isEmpty, context)
        let count = assembly.recorded.covered.count
        try assembly.stop()
        return assembly.startedOver == nil ? .resumed(count) : .startedOver
    }

    /// The number of bytes that count if the manifest is intact: all but the extent with the wrong
    /// byte.
    private var most: Int64 { Int64(sidecar.extents.count - 1) * 2048 }

    @Test func wholeSidecarExcludesOnlyDamagedData() throws {
        #expect(try outcome(of: sidecar.bytes, "whole") == .resumed(most))
    }

    @Test func truncatedSidecarNeverCountsWrongBytes() throws {
        var outcomes: Set<Outcome> = []
        for length in stride(from: 0, to: sidecar.bytes.count, by: 3) {
            outcomes.insert(
                try outcome(of: Array(sidecar.bytes[..<length]), "cut to \(length) bytes"))
        }
        #expect(outcomes.contains(.startedOver))
        #expect(outcomes.contains(.resumed(0)), "a header alone is resumed from")
        #expect(outcomes.count > 4, "each line that survives brings its bytes")
    }

    @Test func bitFlipNeverCountsWrongBytes() throws {
        var outcomes: Set<Outcome> = []
        try forEachSeed(500) { seed, random in
            var bytes = sidecar.bytes
            let index = Int.random(in: bytes.indices, using: &random)
            bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let outcome = try outcome(of: bytes, "seed \(seed): byte \(index)")
            outcomes.insert(outcome)
            if case .resumed(let count) = outcome { #expect(count <= most, "seed \(seed)") }
        }
        #expect(outcomes.contains(.startedOver), "flips in the header")
        #expect(outcomes.contains { if case .resumed(1...) = $0 { true } else { false } })
    }
}
