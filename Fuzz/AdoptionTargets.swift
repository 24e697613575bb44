@testable import Assembler

/// The reader of what other programs have left.
enum AdoptionTargets {
    /// Any bytes as a control file of aria2.
    static func controlFile(_ bytes: [UInt8]) {
        guard let file = try? Aria2ControlFile(reading: bytes) else { return }
        expect(file.total >= 0, "a negative length")
        expect(file.done.ranges.first?.start ?? 0 >= 0, "bytes before the beginning")
        expect(file.done.ranges.last?.end ?? 0 <= file.total, "bytes behind the end")
        // Two ranges differ by a bit at least, and a bit is in the file.
        expect(file.done.ranges.count <= bytes.count * 8, "more ranges than bits")
        let fewer = try? Aria2ControlFile(reading: Array(bytes.dropLast()))
        expect(fewer == nil, "one byte less reads as well")
        expect((try? Aria2ControlFile(reading: bytes + [0])) == nil, "one byte more reads as well")
    }
}
