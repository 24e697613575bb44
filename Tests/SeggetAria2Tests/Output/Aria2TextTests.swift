import Glibc
import Segmenter
import Testing

@testable import SeggetAria2

struct Aria2TextTests {
    /// The texts are those of aria2c 1.36.
    @Test(
        arguments: [
            (0, "0B"), (-1, "0B"), (921, "921B"), (922, "0.9KiB"), (1000, "0.9KiB"),
            (1023, "0.9KiB"),
            (1024, "1.0KiB"), (10_137, "9.8KiB"), (10_239, "9.9KiB"), (10_240, "10KiB"),
            (49_152, "48KiB"), (100_000, "97KiB"), (200_000, "195KiB"), (944_127, "921KiB"),
            (944_128, "0.9MiB"), (2_000_000, "1.9MiB"), (33 << 20, "33MiB"),
            (966_787_071, "921MiB"),
            (966_787_072, "0.9GiB"), (999 << 30, "999GiB"), (1 << 40, "1,024GiB"),
            (1_030_792_151_041, "960GiB"), (Int64.max, "8,589,934,591GiB"),
        ] as [(Int64, String)])
    func sizesAreThoseOfAria2(_ bytes: Int64, _ text: String) {
        #expect(Aria2Text.size(bytes) == text)
    }

    @Test func sizesCanBeInBytes() {
        #expect(Aria2Text.size(100_000, isHumanReadable: false) == "100000B")
    }

    @Test(
        arguments: [
            (0, "0s"), (59, "59s"), (60, "1m"), (101, "1m41s"), (195, "3m15s"), (3600, "1h"),
            (3601, "1h1s"), (3723, "1h2m3s"), (360_000, "100h"),
        ] as [(Int64, String)])
    func durationsAreThoseOfAria2(_ seconds: Int64, _ text: String) {
        #expect(Aria2Text.duration(seconds) == text)
    }

    @Test(
        arguments: [
            (0, 1, 0), (48, 195, 24), (29, 100, 29), (1, 1, 100), (2_000_000 - 1, 2_000_000, 99),
            (.max - 1, .max, 100), (.max / 2, .max, 50), (-5, 10, 0),
        ] as [(Int64, Int64, Int64)])
    func percentageIsRoundedDown(_ done: Int64, _ size: Int64, _ percent: Int64) {
        #expect(Aria2Text.percent(done, of: size) == percent)
    }

    @Test(arguments: [
        ("f.1.bin", "f.bin", true), ("f.12.tar.gz", "f.tar.gz", true), ("f.1", "f", true),
        ("f.tar.1.gz", "f.tar.gz", true), ("f.bin", "f.bin", false), ("g.1.bin", "f.bin", false),
        ("f.x.bin", "f.bin", false), ("f..bin", "f.bin", false), ("1", "", false),
    ])
    func numberInANameIsRecognised(_ name: String, _ original: String, _ isNumbered: Bool) {
        #expect(Aria2Text.isNumbered(name, of: original) == isNumbered)
    }

    @Test func gidIsAbbreviated() throws {
        let gid = try #require(Download.ID("2089b05ecca3d829"))
        #expect(Aria2Text.short(gid) == "2089b0")
    }

    @Test func timesHaveThreeForms() {
        var parts = tm()
        (parts.tm_year, parts.tm_mon, parts.tm_mday) = (126, 10, 6)
        (parts.tm_hour, parts.tm_min, parts.tm_sec, parts.tm_isdst) = (0, 41, 9, -1)
        let time = Aria2Time(Double(mktime(&parts)) + 0.03125)
        #expect(time.console == "11/06 00:41:09")
        #expect(time.log == "2026-11-06 00:41:09.031250")
        #expect(time.summary == "Fri Nov  6 00:41:09 2026")
    }
}
