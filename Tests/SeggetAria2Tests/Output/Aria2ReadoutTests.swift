import Testing

@testable import SeggetAria2
@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport

struct Aria2ReadoutTests {
    private func lane(
        _ gid: String, _ done: Int64, of size: Int64?, rate: Double = 0, connections: Int = 1,
        phase: DownloadProgress.Phase = .downloading
    ) throws -> Aria2Readout.Lane {
        let progress = DownloadProgress(
            phase: phase, bytesDone: done, size: size, bytesVerifying: 0, bytesReceived: done,
            bytesPerSecond: rate, connections: connections, map: [], elapsed: .seconds(1),
            limit: nil)
        return Aria2Readout.Lane(
            gid: try #require(Download.ID(gid + "0123456789")), place: "/d/\(gid)",
            progress: progress)
    }

    private func line(_ lanes: [Aria2Readout.Lane], isHumanReadable: Bool = true) -> String {
        Aria2Readout(lanes, isHumanReadable: isHumanReadable).line(isColoured: false)
    }

    @Test func oneFileHasTheLongForm() throws {
        #expect(
            line([try lane("e22e0a", 49_152, of: 200_000, rate: 59_700)])
                == "[#e22e0a 48KiB/195KiB(24%) CN:1 DL:58KiB ETA:2s]")
        // An ETA below one second is not shown.
        #expect(
            line([try lane("e22e0a", 163_840, of: 200_000, rate: 59_000)])
                == "[#e22e0a 160KiB/195KiB(81%) CN:1 DL:57KiB]")
        #expect(
            line([try lane("2089b0", 409_600, of: 33 << 20, rate: 118_000, connections: 16)])
                == "[#2089b0 400KiB/33MiB(1%) CN:16 DL:115KiB ETA:4m49s]")
    }

    @Test func unknownSizeIsZero() throws {
        #expect(
            line([try lane("a1ece6", 47_104, of: nil, rate: 48_200)])
                == "[#a1ece6 46KiB/0B CN:1 DL:47KiB]")
        let gid = try #require(Download.ID("88d0a6e13396b543"))
        #expect(line([Aria2Readout.Lane(gid: gid, place: "")]) == "[#88d0a6 0B/0B CN:1 DL:0B]")
        #expect(
            line([Aria2Readout.Lane(gid: gid, place: "", size: 2_000_000)])
                == "[#88d0a6 0B/1.9MiB(0%) CN:1 DL:0B]")
    }

    @Test func sizesCanBeInBytes() throws {
        #expect(
            line([try lane("ac7a91", 49_152, of: 100_000, rate: 59_820)], isHumanReadable: false)
                == "[#ac7a91 49152B/100000B(49%) CN:1 DL:59820B]")
    }

    @Test func severalFilesHaveTheShortForm() throws {
        let two = [
            try lane("a9eace", 49_152, of: 150_000, rate: 59_400),
            try lane("3b148e", 49_152, of: 200_000, rate: 59_400),
        ]
        #expect(line(two) == "[DL:116KiB][#a9eace 48KiB/146KiB(32%)][#3b148e 48KiB/195KiB(24%)]")
        let eight = try (0..<8).map { try lane("aaaaa\($0)", 1024, of: nil) }
        #expect(
            line(eight)
                == "[DL:0B][#aaaaa0 1.0KiB/0B][#aaaaa1 1.0KiB/0B][#aaaaa2 1.0KiB/0B]"
                + "[#aaaaa3 1.0KiB/0B][#aaaaa4 1.0KiB/0B](+3)")
    }

    @Test func digestingIsShown() throws {
        #expect(
            line([try lane("aaaaaa", 4096, of: 4096, connections: 0, phase: .verifying)])
                == "[#aaaaaa 4.0KiB/4.0KiB(100%) CN:0] [Checksum:#aaaaaa 4.0KiB/4.0KiB(100%)]")
    }

    @Test func coloursAreThoseOfAria2() throws {
        let readout = Aria2Readout(
            [try lane("5285af", 49_152, of: 200_000, rate: 59_000)], isHumanReadable: true)
        #expect(
            readout.line(isColoured: true)
                == "\u{1b}[35m[\u{1b}[0m#5285af 48KiB/195KiB\u{1b}[36m(24%)\u{1b}[0m CN:1 DL:"
                + "\u{1b}[32m57KiB\u{1b}[0m ETA:\u{1b}[33m2s\u{1b}[0m\u{1b}[35m]\u{1b}[0m\u{1b}[0m")
        #expect(
            readout.line(isColoured: true, columns: 29)
                == "\u{1b}[35m[\u{1b}[0m#5285af 48KiB/195KiB\u{1b}[36m(24%)\u{1b}[0m CN\u{1b}[0m")
        // A colour that is cut is reset at the end of the line.
        #expect(
            readout.line(isColoured: true, columns: 23)
                == "\u{1b}[35m[\u{1b}[0m#5285af 48KiB/195KiB\u{1b}[36m(2\u{1b}[0m")
    }

    @Test func linesFitTheWidth() throws {
        let lanes = try (0..<8).map { try lane("aaaaa\($0)", 1 << 62, of: .max, rate: 1e300) }
        for count in 0...8 {
            let readout = Aria2Readout(Array(lanes.prefix(count)), isHumanReadable: false)
            for columns in 0...200 {
                #expect(readout.line(isColoured: false, columns: columns).count <= columns)
            }
        }
    }

    @Test func summaryIsABlock() throws {
        let readout = Aria2Readout(
            [
                try lane("a9eace", 114_688, of: 150_000, rate: 59_000),
                try lane("3b148e", 114_688, of: 200_000, rate: 59_000),
            ], isHumanReadable: true)
        let time = Aria2Time(1_764_117_671)
        #expect(
            readout.summary(at: time, columns: 79)
                == """
                 *** Download Progress Summary as of \(time.summary) ***\u{20}
                \(String(repeating: "=", count: 79))
                [#a9eace 112KiB/146KiB(76%) CN:1 DL:57KiB]
                FILE: /d/a9eace
                \(String(repeating: "-", count: 79))
                [#3b148e 112KiB/195KiB(57%) CN:1 DL:57KiB ETA:1s]
                FILE: /d/3b148e
                \(String(repeating: "-", count: 79))


                """)
    }

    /// The regular expressions of programs that call aria2c.
    @Test func callersRecogniseTheLines() throws {
        let text = line([
            try lane("2089b0", 409_600, of: 33 << 20, rate: 118_000, connections: 16)
        ])
        let all =
            /\[#\w+ ([\d.]+[KMG]?i?B)\/([\d.]+[KMG]?i?B)\((\d+)%\) CN:(\d+) DL:([\d.]+[KMG]?i?B) ETA:(\w+)\]/
        let found = try #require(try all.wholeMatch(in: text))
        #expect(found.1 == "400KiB" && found.2 == "33MiB" && found.3 == "1" && found.4 == "16")
        #expect(found.5 == "115KiB" && found.6 == "4m49s")
        #expect(try /\((\d+)%\)/.firstMatch(in: text)?.1 == "1")
        #expect(try /DL:(\S+?)(?: |\])/.firstMatch(in: text)?.1 == "115KiB")
    }
}
