import Assembler
public import Segmenter
import SegmenterRules

extension LinkFault {
    /// A stable name for programs; `docs/json.md` lists them all.
    public var kind: String {
        switch self {
        case .none: "none"
        case .late: "late"
        case .same: "same"
        case .unusable: "unusable"
        case .inVain: "in_vain"
        }
    }
}

// Messages about links that expire.
extension Diagnostic {
    /// Returns the reason why there is no new link.
    static func describe(_ fault: LinkFault) -> String {
        switch fault {
        case .none: "none was given"
        case .late(let time): "none was given within \(Units.elapsed(time))"
        case .same: "the new one is the same"
        case .unusable(let text):
            "\(quote(PrintableText.escape(text))) is not a URL that can be used"
        case .inVain(let count):
            "\(Units.count(Int64(count), "new link")) in a row delivered no data"
        }
    }

    /// Creates the message for a part that cannot be continued from a new link.
    init(notContinued reason: StartOverReason, url: String, path: String) {
        let hint =
            switch reason {
            case .noValidator, .urlChanged, .otherServer:
                "give `--checksum`, or `--resume-unverified` to compare only a sample"
            case .noRanges: "get a link that serves byte ranges"
            default: "get a link to the same version of the file"
            }
        self.init(
            .remoteChanged, "not_continued",
            "\(Self.quote(path)) cannot be continued from \(url): \(Self.describe(reason)); it is left unchanged",
            hint: hint)
    }

    /// Creates the message for an expired link.
    init(expiredLink error: DownloadError, _ code: Int, url: String) {
        let isRefusal = SegmenterRules.isRefusal(code)
        self.init(
            isRefusal ? .refused : .unavailable, isRefusal ? "refused" : "status",
            "the link \(url) has expired: the server answered \(Self.describe(status: code))",
            hint: Self.hint(freshLink: error)
                ?? "get a new link to the same file, and run the same command with it")
    }

    /// Creates the message for a link that fails after it has delivered data of the file.
    init(usedUpLink code: Int, url: String) {
        self.init(
            .unavailable, "status",
            "\(url) could not be downloaded: the server answered \(Self.describe(status: code)) after it had "
                + "sent all or part of the file; perhaps the link allows only a few requests",
            hint: "if the link works only once or a few times, get a new one and download it with "
                + "`--single-request`")
    }

    /// Returns the hint for a refused link if a part of its file can be continued; `nil`
    /// otherwise.
    static func hint(freshLink error: DownloadError) -> String? {
        switch error.reason {
        case .refused(401), .refused(403), .transfer(.status(404), _), .transfer(.status(410), _):
            break
        default: return nil
        }
        guard error.bytesKept > 0, error.bytesWritten == nil, error.startsOver != .noRanges,
            let path = error.path
        else { return nil }
        let proof =
            error.startsOver == .noValidator ? " and `--checksum` or `--resume-unverified`" : ""
        let part = PrintableText.escape(PartNames(path).part)
        return
            "get a new link to the same file, and continue with `--continue-from \(part)`\(proof); "
            + "`--refresh-url` runs a command that gets one"
    }
}
