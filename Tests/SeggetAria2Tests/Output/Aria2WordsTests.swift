import Assembler
import ReportExamples
import SeggetFormats
import Testing

@testable import SeggetAria2
@testable import Segmenter
@testable import SegmenterRules
@testable import SegmenterTransport
import SeggetReports

struct Aria2WordsTests {
    private static var time: Aria2Time { Aria2Time(1_764_117_671) }

    private func text(_ lines: [Aria2LogLine]) -> String {
        lines.map { $0.console(at: Self.time, isColoured: false) }.joined()
    }

    @Test func firstLineFollowsAnEmptyOne() {
        let line = Aria2LogLine(.notice, "Downloading 1 item(s)")
        let time = Self.time
        #expect(
            line.console(at: time, isColoured: false)
                == "\n\(time.console) [NOTICE] Downloading 1 item(s)\n")
        #expect(
            line.console(at: time, isColoured: true)
                == "\n\(time.console) [\u{1b}[1;32mNOTICE\u{1b}[0m] Downloading 1 item(s)\n")
        #expect(line.file(at: time) == "\(time.log) [NOTICE] [segget:0] Downloading 1 item(s)\n")
    }

    @Test func levelsAreInOrder() {
        let all = Aria2Console.Level.allCases
        for (place, level) in all.enumerated() {
            #expect(all.map { level.reaches($0) } == all.indices.map { $0 <= place })
        }
    }

    @Test func failureHasItsCode() {
        let error = Examples.error(.transfer(.status(404), attempts: 1), path: nil)
        let lines = Aria2Words.failure(error, .resourceNotFound, number: 7, path: "")
        #expect(
            text(lines) == """

                \(Self.time.console) [ERROR] CUID#7 - Download aborted. URI=\(Examples.url)
                Exception: [segget:0] errorCode=3 URI=\(Examples.url)
                  -> [segget:0] errorCode=3 `\(Examples.url)` could not be downloaded: the \
                server answered 404 (Not Found)

                """)
    }

    @Test func eachFailedMirrorHasALine() {
        var error = Examples.error(
            .transfer(.status(404), attempts: 1), path: "/d/f", bytesKept: 1 << 20)
        error.mirrors = [FailedMirror(url: "http://m/f", fault: .wrongDigest)]
        let shown = text(Aria2Words.failure(error, .resourceNotFound, number: 8, path: "/d/f"))
        #expect(
            shown.contains(
                "CUID#8 - Download aborted. URI=http://m/f\nException: [segget:0] errorCode=32 "))
        #expect(shown.contains("errorCode=3 `\(Examples.url)`"))
        #expect(shown.hasSuffix("\n  -> [segget:0] kept: 1.00 MiB in `/d/f.part`\n"))
    }

    @Test func wrongChecksumHasAria2Message() throws {
        let error = Examples.error(
            .assembly(
                .digestMismatch(
                    expected: Digest(crc32: 1), actual: Digest(crc32: 2), part: "/d/f.part")))
        let shown = text(Aria2Words.failure(error, .checksum, number: 7, path: "/d/f"))
        #expect(
            shown.hasPrefix(
                "\n\(Self.time.console) [ERROR] Checksum error detected. file=/d/f\nException: "))
    }

    @Test func stoppedDownloadIsNotAFailure() {
        #expect(
            Aria2Words.failure(Examples.error(.cancelled), .inProgress, number: 7, path: "").isEmpty
        )
    }

    @Test func linesHaveNoControlCharacters() {
        for reason in Examples.reasons {
            let error = Examples.error(reason, path: Examples.hostile)
            let shown = text(
                Aria2Words.failure(
                    error, Aria2ErrorCode(error), number: 7, path: Examples.hostile))
            for line in shown.split(separator: "\n") {
                #expect(!line.unicodeScalars.contains(where: PrintableText.isUnsafe), "\(reason)")
            }
        }
    }

    /// Notices that change the file are warnings, so that a log of warnings contains them.
    @Test func noticesHaveLevels() {
        #expect(
            DownloadNotice.retrying(
                range: nil, attempt: 1, delay: .seconds(1), cause: .status(503)
            ).aria2Level == .info)
        #expect(DownloadNotice.startedOver(.urlChanged).aria2Level == .warn)
        #expect(DownloadNotice.certificatesUnchecked.aria2Level == .notice)
        for notice in Examples.notices where notice.aria2Level.reaches(.warn) {
            #expect(notice.isAlwaysShown, "\(notice)")
        }
    }

    /// apt-fast, nf-core's modules and OpenWrt's download.pl read the version text with these
    /// commands and expressions.
    @Test func versionHasTheExpectedForm() throws {
        let lines = Aria2Words.versionText.split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        #expect(lines[0].hasPrefix("aria2 "))
        let named = lines.filter { $0.contains("aria2 version") }
        #expect(named.map { $0.split(separator: " ")[2] } == ["1.37.0"])
        #expect(lines[1].contains("segget \(seggetVersion)"))
        let hashes = lines.filter { $0.hasPrefix("Hash Algorithms:") }
        #expect(hashes == ["Hash Algorithms: sha-1, sha-256, sha-512, md5"])
        for name in hashes[0].dropFirst("Hash Algorithms: ".count).split(separator: ", ") {
            #expect(DigestAlgorithm(name: name)?.rawValue == String(name))
        }
        #expect(Aria2Words.versionText.hasSuffix("md5\n"))
    }

    @Test func refusalHasAria2Message() {
        #expect(
            Aria2Words.refusal(.unknown, "Unrecognized URI or unsupported protocol: foo")
                == [
                    "Exception caught",
                    "Exception: [segget:0] errorCode=1 Unrecognized URI or unsupported protocol: foo",
                    "",
                ])
    }

    /// Callers of aria2c do not know segget's options.
    @Test(arguments: Examples.notices)
    func noticesNameOptionsOfAria2(notice: DownloadNotice) {
        // aria2's command line has no equivalent of these options, so notices about them never
        // appear.
        let others = [
            "allow-downgrade", "max-size", "max-time", "bearer-fd", "password-fd",
            "pinned-public-key", "client-key-password-fd", "resolve", "cookie-text",
        ]
        for match in notice.aria2Text.matches(of: /`--([a-z0-9-]+)/)
        where !others.contains(String(match.1)) {
            #expect(Aria2Option.named(String(match.1)) != nil, "\(notice.aria2Text)")
        }
    }
}
