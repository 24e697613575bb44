import Assembler
package import Segmenter

/// A download of the drop-in for aria2c.
package struct Aria2Task: Sendable {
    /// The reason why a task cannot start.
    package struct StartFailure: Sendable, Hashable {
        /// aria2's exit code.
        package var code: Int32
        /// The message.
        package var text: String
        /// Whether aria2 would start no download at all if the task were on the command line.
        var isFatal = false
    }

    /// aria2's identifier of the download, the GID.
    package var gid: Download.ID
    /// The URLs, at least one; several are mirrors of each other.
    package var urls: [String]
    /// The options; those of the list item override the common ones.
    package var options: Aria2Options
    /// Whether the task starts paused.
    package var isPaused = false
    /// The error in the given GID; `nil` for none.
    var gidProblem: String?

    /// Creates a task.
    package init(gid: Download.ID = Download.ID(), urls: [String], options: Aria2Options) {
        self.gid = gid
        self.urls = urls
        self.options = options
    }

    /// The reason why the task cannot start; other tasks can.
    package var problem: StartFailure? {
        if let gidProblem { return StartFailure(code: 1, text: gidProblem, isFatal: true) }
        guard !hasNoWebURL else {
            return urls.first.map(Self.problem) ?? StartFailure(code: 1, text: "There is no URL.")
        }
        if let out = options.text("out"), out.split(separator: "/").contains("..") {
            return StartFailure(code: 1, text: "--out points outside --dir: \(out)")
        }
        if let out = options.text("out"), out.hasSuffix("/") {
            return StartFailure(code: 16, text: "--out names no file: \(out)")
        }
        if let text = options.text("checksum"), (try? Digest(parsing: text)) == nil {
            let type = text.prefix { $0 != "=" }
            return StartFailure(
                code: Aria2Refusal.optionError,
                text: "--checksum: segget computes sha-1, sha-256, sha-512 and md5, not \(type)")
        }
        return nil
    }

    /// Whether none of the URLs is one that segget can download.
    package var hasNoWebURL: Bool { !urls.contains(where: Self.isWeb) }

    /// Returns whether the text is the URL of a file that segget can download.
    static func isWeb(_ text: String) -> Bool {
        if case .web = WebAddress(text) { true } else { false }
    }

    /// Returns whether the text is the URL of a file, with a supported scheme or not.
    static func isURL(_ text: String) -> Bool {
        switch WebAddress(text) {
        case .web, .other: true
        case .magnet, .none: false
        }
    }

    /// Returns a text that is not a URL, without parts that may be secret.
    private static func shown(_ text: String) -> String {
        text.contains("@")
            ? "(not shown: it may contain a password)"
            : String(text.prefix { $0 != "?" && $0 != "#" })
    }

    private static func problem(of text: String) -> StartFailure {
        switch WebAddress(text) {
        case .magnet: return StartFailure(code: 26, text: "This is BitTorrent: use aria2c for this")
        case .other(let scheme) where ["ftp", "sftp", "ftps"].contains(scheme):
            return StartFailure(
                code: 21, text: "This is \(scheme.uppercased()): use aria2c for this")
        case .other(let scheme):
            return StartFailure(code: 1, text: "\(scheme) is not supported.")
        case .web, .none:
            let name = text.lowercased()
            if name.hasSuffix(".torrent") {
                return StartFailure(code: 26, text: "This is BitTorrent: use aria2c for this")
            }
            if name.hasSuffix(".metalink") || name.hasSuffix(".meta4") {
                return StartFailure(code: 20, text: "This is Metalink: use aria2c for this")
            }
            return StartFailure(
                code: 1, text: "Unrecognized URI or unsupported protocol: \(shown(text))",
                isFatal: true)
        }
    }
}
