import TestSupport
import Testing

@testable import Assembler

/// A remote file, and functions that assemble it in a folder.
struct Sample {
    static let name = "file.bin"
    static let part = "file.bin.part"
    static let manifest = "file.bin.segget"

    let data: [UInt8]
    let request: Assembly.Request

    /// Creates a file of `size` pseudo-random bytes, which depend only on the size.
    init(size: Int, in folder: TemporaryFolder) {
        var random = SplitMix64(seed: UInt64(size))
        data = random.bytes(size)
        request = Assembly.Request(
            folder: folder.path, name: Self.name, fullURL: "https://example.org/f?key=secret",
            url: "https://example.org/f",
            identity: RemoteIdentity(size: Int64(size), etag: "\"v1\""), servesRanges: true)
    }

    var whole: ByteRange { ByteRange(0, Int64(data.count)) }

    /// Returns the request with a change.
    func request(_ change: (inout Assembly.Request) -> Void) -> Assembly.Request {
        var request = request
        change(&request)
        return request
    }

    /// Returns the correct bytes of a range.
    func bytes(_ range: ByteRange) -> [UInt8] { Array(data[Int(range.start)..<Int(range.end)]) }

    /// Writes the correct bytes of a range with a separate writer.
    func write(_ range: ByteRange, with assembly: Assembly) {
        let writer = assembly.makeWriter(at: range.start)
        #expect(writer.put(bytes(range)) == 0)
        assembly.retire(writer)
    }

    /// Leaves a part and a manifest in which `ranges` have been received.
    func leave(_ ranges: [ByteRange], request: Assembly.Request? = nil) throws {
        let assembly = try Assembly(request ?? self.request)
        for range in ranges {
            write(range, with: assembly)
            try assembly.record()
        }
        try assembly.stop()
    }

    /// Returns the file's ranges, cut into pieces of random length.
    func pieces(upTo longest: Int64, _ random: inout SplitMix64) -> [ByteRange] {
        var result: [ByteRange] = []
        var start: Int64 = 0
        while start < whole.end {
            let end = min(whole.end, start + Int64.random(in: 1...longest, using: &random))
            result.append(ByteRange(start, end))
            start = end
        }
        return result
    }
}

extension ExtentWriter {
    /// Writes an array.
    func put(_ bytes: [UInt8]) -> Int32 {
        bytes.withUnsafeBytes { buffer in
            buffer.baseAddress.map { write($0, buffer.count) } ?? 0
        }
    }
}

extension Assembly {
    /// Verifies all extents of an earlier run, and records the results.
    func verifyAll() {
        struct Outcome: Sendable {
            var range: ByteRange
            var isIntact: Bool
        }
        let expected = unverified.count
        let outcomes = Monitor<[Outcome]>([])
        startVerifying { range, isIntact in
            outcomes.withLock { $0.append(Outcome(range: range, isIntact: isIntact)) }
        }
        let all = outcomes.wait(timeout: 120) { $0.count == expected ? $0 : nil }
        #expect(all != nil, "not every extent was reported")
        for outcome in all ?? [] { confirm(outcome.range, isIntact: outcome.isIntact) }
    }
}
