import Assembler
public import Segmenter

/// The result of a probe, as text and as JSON: the remote file, and how segget would download it.
public struct ProbeReport: Encodable {
    var url: String
    var finalURL: String
    var redirects: Int
    var name: String
    var size: Int64?
    var type: String?
    var etag: String?
    var lastModified: String?
    var acceptsRanges: Bool?
    var digests: [String]
    var probedBy: String
    var headProblem: String?
    var transfer: String
    var identity: String
    var coding: String?
    var decoded: Bool?

    private enum CodingKeys: String, CodingKey {
        // The key strategy would turn `finalURL` into `final_ur_l`.
        case finalURL = "finalUrl"
        case url, redirects, name, size, type, etag, lastModified, acceptsRanges, digests
        case probedBy, headProblem, transfer, identity, coding, decoded
    }

    /// Whether the ETag is strong, weak or not usable, as text.
    private var etagWorth: String
    /// Whether `Last-Modified` can distinguish versions.
    private var provesDate: Bool

    /// Creates the report of a probe.
    public init(_ file: RemoteFile) {
        etagWorth =
            file.identity.strongETag != nil
            ? "strong"
            : file.identity.blank.contains(.etag)
                ? "not usable"
                : file.identity.wellFormedETag != nil ? "weak" : "malformed: not usable"
        provesDate = !file.identity.blank.contains(.lastModified)
        url = file.url
        finalURL = file.effectiveURL
        redirects = file.redirects
        name = file.suggestedName
        size = file.size
        type = file.contentType
        etag = file.etag
        lastModified = file.lastModified
        acceptsRanges = file.acceptsRanges
        digests = file.digests.map(\.description)
        probedBy = file.probedBy
        headProblem = file.headProblem
        transfer = file.transfer.name
        identity = file.identity.kind
        coding = file.identity.coding
        decoded = file.isDecoded ? true : nil
    }

    /// Returns the report as text, one line per fact, without control characters.
    public func lines(connections: Int) -> [String] {
        let moves = redirects == 0 ? "" : " (\(Units.count(Int64(redirects), "redirect")))"
        let ranges = acceptsRanges.map { $0 ? "served" : "not served" } ?? "not advertised"
        var facts = [
            ("url", url),
            ("final url", finalURL + moves),
            ("name", name),
            ("size", size.map { "\(Units.size($0)) (\(Units.count($0, "byte")))" } ?? "not stated"),
            ("type", type ?? "not stated"),
            ("etag", etag.map { "\($0) (\(etagWorth))" } ?? "none"),
            (
                "last modified",
                (lastModified ?? "not stated") + (provesDate ? "" : " (not usable)")
            ),
            ("ranges", ranges),
            ("digests", digests.isEmpty ? "none" : digests.joined(separator: ", ")),
            ("probed by", probedBy + (headProblem.map { " (`HEAD` was not usable: \($0))" } ?? "")),
            ("fetch", fetch(connections)),
            ("resume", resume),
        ]
        if let coding {
            let what = decoded == true ? "decoded" : "saved as it is sent"
            facts.insert(("coding", "\(coding) (\(what))"), at: 5)
        }
        return facts.map { name, value in
            let padding = String(repeating: " ", count: 14 - name.count)
            return PrintableText.escape("\(name):\(padding)\(value)")
        }
    }

    private func fetch(_ connections: Int) -> String {
        switch transfer {
        case RemoteFile.Transfer.segments.name:
            "in segments, over up to \(Units.count(Int64(connections), "connection"))"
        case RemoteFile.Transfer.oneStreamNoRanges.name:
            "in one stream, because the server serves no byte ranges"
        case RemoteFile.Transfer.singleRequest.name: "with one request"
        default: "in one stream, because the server does not state the size"
        }
    }

    private var resume: String {
        guard [RemoteFile.Transfer.segments, .singleRequest].map(\.name).contains(transfer) else {
            return "not possible: a stopped download starts over"
        }
        return switch identity {
        case "etag": "by the ETag (identity: etag)"
        case "last-modified": "by `Last-Modified` (identity: last-modified)"
        default:
            digests.isEmpty
                ? "starts over, unless `--checksum` or `--resume-unverified` is given (identity: none)"
                : "by the checksum that the server states (identity: none)"
        }
    }
}

extension RemoteFile.Transfer {
    /// A stable name for programs; `docs/json.md` lists them all.
    public var name: String {
        switch self {
        case .segments: "segments"
        case .oneStreamNoRanges: "one_stream_no_ranges"
        case .oneStreamUnknownSize: "one_stream_unknown_size"
        case .singleRequest: "single_request"
        }
    }
}
