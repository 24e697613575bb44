import Segmenter
import SegmenterRules

// Messages about URLs.
extension Diagnostic {
    /// Creates the message for a text that is not a URL that segget supports.
    init(_ foreign: ForeignURL, shown: String) {
        let text = Self.quote(shown)
        let (message, hint) =
            switch foreign {
            case .magnet:
                (
                    "\(text) is a magnet link of BitTorrent, which segget does not support",
                    "give it to a BitTorrent client, or give segget an `https://` URL of the file"
                )
            case .scheme("hf"):
                (
                    "\(text) is an address of the Hugging Face Hub, which only `segget get`, "
                        + "`segget add` and `segget plan` take, alone",
                    "for the queue, use `segget add hf://…` on the machine itself"
                )
            case .scheme(let scheme):
                (
                    "\(text) is a \(Self.quote(scheme + ":")) URL; segget supports only `https://` and "
                        + "`http://`",
                    "check whether the server offers the same file over `https://`"
                )
            case .object(let scheme):
                (
                    "\(text) names an object in a store (\(Self.quote(scheme + ":"))); it is not a "
                        + "web address",
                    "give the object's `https://` URL, signed if it is not public (as `aws s3 "
                        + "presign` makes it)"
                )
            case .localFile:
                (
                    "\(text) is a file on this machine, not a URL",
                    "give an `https://` URL; for a file with a list of URLs, use `--input-file`; for a "
                        + "host of that name, write `http://`"
                )
            case .controlCharacter:
                (
                    "there is a line break or another control character in the URL \(text)",
                    "give each URL as one argument, without line breaks"
                )
            }
        self.init(.usage, "invalid_url", message, hint: hint)
    }

    /// Adds a hint if the server refused a URL that the shell may have truncated.
    ///
    /// An unquoted URL ends at its first `&`, so it has exactly one query parameter.
    ///
    /// - Parameters:
    ///   - typed: The URL of the command line; `nil` for a URL from a list.
    ///   - reason: Why the download failed.
    mutating func addHint(at typed: String?, _ reason: DownloadError.Reason) {
        guard let typed, Self.isRefusal(reason), Self.hasOneParameter(typed) else { return }
        hint += "; if the URL continues after `&`, quote it: the shell ends the command there"
    }

    private static func isRefusal(_ reason: DownloadError.Reason) -> Bool {
        switch reason {
        case .refused(let status), .transfer(.status(let status), _):
            [400, 401, 403, 404, 410].contains(status)
        default: false
        }
    }

    private static func hasOneParameter(_ url: String) -> Bool {
        let text = url.prefix { $0 != "#" }.drop { $0 != "?" }.dropFirst()
        return !text.isEmpty && !text.contains("&")
    }
}
