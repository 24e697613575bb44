import ReportExamples
import Segmenter
import Testing

@testable import SeggetReports
@testable import SeggetCommand

struct ProgressLineTests {
    private func line(
        _ progress: DownloadProgress, name: String = "file.iso", unicode: Bool = true, width: Int
    ) -> String {
        ProgressLine(progress: progress, name: name, unicode: unicode).text(width: width)
    }

    @Test func lineFitsTheWidth() {
        var random = SystemRandomNumberGenerator()
        let names = ["", "a", "file.iso", String(repeating: "x", count: 300), "文字列文字列.iso"]
        for _ in 0..<100 {
            let size = Bool.random() ? Int64.random(in: 0...Int64.max, using: &random) : nil
            let done =
                Int64.random(in: 0...(size ?? .max), using: &random) >> Int64.random(in: 0...40)
            let progress = Examples.progress(
                done: done, size: size, speed: .random(in: 0...1e12),
                phase: [.downloading, .verifying, .publishing].randomElement() ?? .downloading,
                connections: .random(in: 0...64),
                map: (0..<Int.random(in: 0...80)).map { _ in .random(in: 0...8) })
            let name = names.randomElement() ?? ""
            let unicode = Bool.random()
            for width in -1...200 {
                let text = line(progress, name: name, unicode: unicode, width: width)
                #expect(PrintableText.width(text) <= max(0, width), "\(progress) \(name)")
                if !unicode { #expect(text.utf8.allSatisfy { $0 < 0x80 }) }
            }
        }
    }

    @Test(arguments: [
        (3, ""), (4, " 50%"), (10, " 50%"), (15, " 50%"), (16, " 50%   128 MiB/s"),
        (40, " 50%   128 MiB/s   512 MiB of 1.00 GiB"),
        (52, " 50%   128 MiB/s   512 MiB of 1.00 GiB  ETA    4 s"),
        (61, " 50%   128 MiB/s   512 MiB of 1.00 GiB  ETA    4 s   8 conn"),
        (71, " 50%   128 MiB/s   512 MiB of 1.00 GiB  ETA    4 s   8 conn  [███▄█   ]"),
        (
            82,
            "file.iso   50%   128 MiB/s   512 MiB of 1.00 GiB  ETA    4 s   8 conn  [███▅▆▅   ]"
        ),
    ])
    func narrowLineDropsParts(width: Int, text: String) {
        let shown = line(Examples.progress(), width: width)
        #expect(shown == text)
    }

    /// Otherwise lines of several files with a limit would lack names on a terminal of 80 columns.
    @Test func limitIsDroppedBeforeTheName() {
        var progress = Examples.progress()
        progress.limit = 10_485_760
        #expect(line(progress, width: 82) == line(Examples.progress(), width: 82))
        let wide = line(progress, width: 100)
        #expect(wide.hasPrefix("file.iso") && wide.contains("8 conn  max 10.0 MiB/s  ["), "\(wide)")
    }

    @Test func drawsASCIIMapWithoutUnicode() {
        let map: [UInt8] = [0, 1, 2, 3, 4, 5, 6, 7, 8]
        #expect(ProgressMap.draw(map, columns: 9, unicode: false) == " ..::++*#")
        #expect(ProgressMap.draw(map, columns: 9, unicode: true) == " ▁▂▃▄▅▆▇█")
    }

    @Test func unknownSizeHasNoPercentageTimeOrMap() {
        let progress = Examples.progress(done: 3 << 20, size: nil, map: [])
        #expect(line(progress, width: 10) == "3.00 MiB")
        #expect(line(progress, width: 60) == "file.iso  3.00 MiB   128 MiB/s   8 conn")
    }

    @Test func stalledDownloadHasNoSpeedAndNoTimeLeft() {
        let text = line(Examples.progress(speed: 0), width: 61)
        #expect(text == " 50%       0 B/s   512 MiB of 1.00 GiB  ETA      -   8 conn")
    }

    @Test func namesVerifyingPhase() {
        let text = line(Examples.progress(done: 1 << 30, phase: .verifying), width: 60)
        #expect(text.hasPrefix("file.iso  100%   verifying  1.00 GiB of 1.00 GiB"))
    }

    @Test func plainLineHasSameParts() {
        let plain = ProgressLine(
            progress: Examples.progress(), name: Examples.hostile, unicode: true
        ).plain
        #expect(plain.hasSuffix(": 50%, 128 MiB/s, 512 MiB of 1.00 GiB, ETA 4 s, 8 conn"))
        #expect(!plain.unicodeScalars.contains(where: PrintableText.isUnsafe))
    }

    @Test(arguments: 1...40)
    func mapsAreExactWhereBlankOrFull(columns: Int) {
        for cells in 1...40 {
            var map = [UInt8](repeating: 8, count: cells)
            #expect(
                ProgressMap.resample(map, columns: columns) == .init(repeating: 8, count: columns))
            map[cells / 2] = 7
            #expect(ProgressMap.resample(map, columns: columns).contains { $0 < 8 })
            map = [UInt8](repeating: 0, count: cells)
            #expect(ProgressMap.resample(map, columns: columns).allSatisfy { $0 == 0 })
            map[cells / 2] = 1
            #expect(ProgressMap.resample(map, columns: columns).contains { $0 > 0 })
        }
    }
}
