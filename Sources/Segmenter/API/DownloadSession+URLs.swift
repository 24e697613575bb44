import SegmenterRules

extension DownloadSession {
    /// Returns why a URL cannot be downloaded, judged without a request; `nil` if nothing prevents
    /// it.
    package static func problem(with url: String) -> DownloadError.Reason? {
        do throws(DownloadError.Reason) {
            _ = try DownloadJob.usable(WebURL(url), url)
            return nil
        } catch {
            return error
        }
    }

    /// Returns a name with a number before its extension: `big.1.iso`.
    package static func numbered(_ name: String, _ number: Int) -> String {
        FileName.numbered(name, number)
    }

    /// Returns scheme, host and port of a URL (RFC 6454 §4); empty if it is not an http or https
    /// URL.
    package static func origin(of url: String) -> String { WebURL(url)?.origin ?? "" }
}
