public import Segmenter

/// The result of a dry run, as text and as JSON.
public struct PreviewReport: Encodable {
    var action: String
    var reason: String?
    var path: String
    var bytesKept: Int64
    var connections: Int
    var probed: ProbeReport?
    var makesFolder: String?

    /// The action as text.
    private var words: String

    private enum CodingKeys: CodingKey {
        case action, reason, path, bytesKept, connections, probed, makesFolder
    }

    /// Creates the report of a preview.
    public init(_ preview: DownloadPreview) {
        path = preview.path
        bytesKept = preview.bytesKept
        connections = preview.connections
        probed = preview.file.map(ProbeReport.init)
        makesFolder = preview.missingFolder
        let size = preview.file?.size
        let all = size.map { Units.size($0) } ?? "a file whose size is not stated"
        switch preview.action {
        case .begin:
            (action, words) = ("begin", "download \(all)")
        case .resume:
            let rest = size.map { Units.size(max(0, $0 - preview.bytesKept)) } ?? "the rest"
            (action, words) = (
                "resume",
                "resume: \(Units.size(preview.bytesKept)) of \(all) are present, download \(rest)"
            )
        case .adopt:
            let rest = size.map { Units.size(max(0, $0 - preview.bytesKept)) } ?? "the rest"
            (action, words) = (
                "adopt",
                "take over \(Units.size(preview.bytesKept)) of \(all) from another program's file, "
                    + "download \(rest)"
            )
        case .startOver(let why):
            (action, reason) = ("start_over", why.kind)
            words = "start over, download \(all): \(why.text)"
        case .leave(.alreadyComplete):
            (action, words) = (
                "leave", "nothing: the file is complete (\(Units.size(preview.bytesKept)))"
            )
        case .leave(.notNewer):
            (action, words) = ("leave", "nothing: the remote file is not newer")
        case .leave(.skipped):
            (action, words) = ("leave", "skip: the file exists; it is not checked")
        case .finish:
            (action, words) = (
                "finish",
                "verify the \(Units.size(preview.bytesKept)) that a killed run completed, and rename "
                    + "the part; download nothing"
            )
        }
    }

    /// Returns the report as text, one line per fact, without control characters.
    public func lines(connections: Int) -> [String] {
        var own = ["would:        \(words)", "to:           \(path)"]
        if let makesFolder { own.append("creates:      the folder \(makesFolder)") }
        own = own.map(PrintableText.escape)
        return own + (probed?.lines(connections: connections) ?? [])
    }
}
