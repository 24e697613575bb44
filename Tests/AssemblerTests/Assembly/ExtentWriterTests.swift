import Testing

@testable import Assembler

struct ExtentWriterTests {
    /// One turn of the loop may receive more bytes than an extent may contain.
    @Test(arguments: [1 << 20, 3_000_000, 8 << 20])
    func extentsStayBelowTheMergeLimit(piece: Int) {
        let writer = ExtentWriter(samplingAt: 7)
        let bytes = (0..<piece).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8) }
        var crc: UInt32 = 0
        for _ in 0..<7 {
            bytes.withUnsafeBytes { buffer in
                guard let base = buffer.baseAddress else { return }
                #expect(writer.write(base, buffer.count) == 0)
                crc = CRC32.update(crc, base, buffer.count)
            }
        }
        #expect(writer.unrecorded == Int64(7 * piece))
        var (end, combined) = (Int64(7), UInt32(0))
        while let extent = writer.takeUnrecorded() {
            #expect(extent.range.start == end && extent.range.count <= ExtentMap.mergeLimit)
            combined = CRC32.combine(combined, extent.crc, length: extent.range.count)
            end = extent.range.end
        }
        #expect(end == Int64(7 + 7 * piece) && combined == crc)
        #expect(writer.unrecorded == 0)
    }
}
