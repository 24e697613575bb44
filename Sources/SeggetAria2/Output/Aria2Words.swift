package import Segmenter
import SeggetReports

/// The fixed messages of aria2c, and segget's messages in aria2c's format.
package enum Aria2Words {
    /// The version of aria2 that segget emulates.
    package static let version = "1.37.0"

    /// The output of `--version`: the text that programs look for, and the name segget.
    package static let versionText = """
        aria2 version \(version)
        This is segget \(seggetVersion), which takes the command line of aria2c.

        ** Configuration **
        Enabled Features: Async DNS, GZip, HTTPS, Message Digest
        Hash Algorithms: sha-1, sha-256, sha-512, md5

        """

    /// The closing message if files are incomplete.
    package static let ending = """

        aria2 will resume download if the transfer is restarted.
        If there are any errors, then see the log file. See '-l' option in help/man page for details.

        """

    /// Returns the lines for standard error if a run cannot start.
    package static func refusal(_ code: Aria2ErrorCode, _ text: String) -> [String] {
        ["Exception caught", exception(code, text), ""]
    }

    /// Returns the log lines of a failed download.
    ///
    /// `code` is its error code, `number` aria2's number of the command (CUID).
    package static func failure(
        _ error: DownloadError, _ code: Aria2ErrorCode, number: Int, path: String
    ) -> [Aria2LogLine] {
        if error.reason == .cancelled { return [] }
        let diagnostic = Diagnostic(error)
        let kept = diagnostic.kept.map { ["  -> \(place) kept: \($0)"] } ?? []
        if code == .checksum {
            return [
                Aria2LogLine(
                    .error, "Checksum error detected. file=\(path)",
                    below: [exception(code, diagnostic.message)] + kept)
            ]
        }
        let mirrors = error.mirrors.map { mirror in
            Aria2LogLine(
                .error, aborted(number, mirror.url),
                below: [exception(Aria2ErrorCode(mirror.fault), Diagnostic.describe(mirror.fault))])
        }
        let end = Aria2LogLine(
            .error, aborted(number, error.url),
            below: [
                exception(code, "URI=\(error.url)"),
                "  -> \(place) errorCode=\(code.rawValue) \(renamed(diagnostic.message))",
            ] + kept)
        return mirrors + [end]
    }

    /// Returns the log line of a file that was never requested.
    package static func refused(
        _ url: String, _ code: Aria2ErrorCode, number: Int, why: String
    ) -> Aria2LogLine {
        Aria2LogLine(.error, aborted(number, url), below: [exception(code, why)])
    }

    /// Returns the log line of an incomplete file.
    package static func notComplete(_ gid: Download.ID, path: String) -> Aria2LogLine {
        Aria2LogLine(.notice, "Download GID#\(gid) not complete: \(path)")
    }

    /// segget's option names in messages, each with the equivalent option of aria2.
    private static let names = [
        ("insecure", "check-certificate=false"), ("no-resume", "remove-control-file"),
        ("proxy", "all-proxy"), ("cookie", "load-cookies"), ("user", "http-user"),
        ("netrc", "netrc-path"), ("client-certificate", "certificate"),
        ("client-key", "private-key"), ("min-rate", "lowest-speed-limit"),
        ("overwrite", "allow-overwrite"), ("stall-timeout", "timeout"),
        ("single-request", "use-head=false -s1 -x1"),
    ]

    /// Returns the message with aria2's option names.
    static func renamed(_ text: String) -> String {
        let text = text.replacing(" of `--xattr`", with: "")
            .replacing(", and `--resume-unverified` compares a sample", with: "")
        return names.reduce(text) { $0.replacing("`--\($1.0)`", with: "`--\($1.1)`") }
    }

    private static let place = "[segget:0]"

    private static func aborted(_ number: Int, _ url: String) -> String {
        "CUID#\(number) - Download aborted. URI=\(url)"
    }

    private static func exception(_ code: Aria2ErrorCode, _ text: String) -> String {
        "Exception: \(place) errorCode=\(code.rawValue) \(renamed(text))"
    }
}

extension DownloadNotice {
    /// The message of the notice, with aria2's option names.
    package var aria2Text: String { Aria2Words.renamed(text) }

    /// The level of the notice in aria2's log.
    ///
    /// A notice is a warning if the user might want to act on it.
    package var aria2Level: Aria2Console.Level {
        switch self {
        case .startedOver, .resumedUnverified, .serversDisagree, .damaged, .endUnproven,
            .downgraded,
            .linkNotRefreshed, .mirrorDropped, .waitingForNetwork, .networkOccupied,
            .attributesNotWritten, .notFinished, .resting:
            .warn
        case .partAgreed, .linkRefreshed, .linkRefreshDelayed, .adopted, .certificatesUnchecked,
            .changingConnections, .limitChanged, .decoding, .endUnchecked, .mirrorIsPrimary,
            .networkIsBack:
            .notice
        case .retrying, .resolvingAgain, .rangesIgnored, .replyRefused, .ifRangeUnusable, .stalled,
            .stallOver, .headUnusable, .needsHTTP2, .serverLimit, .connections, .sampleAgreed,
            .mirrorJoined, .mirrorOnStandby, .spaceNotReserved, .namedByLink, .namedUnguarded,
            .modeNotSet, .timeNotSet, .addressUsed, .addressLeft, .rescued:
            .info
        case .stole, .outpaced, .hedged: .debug
        }
    }
}
