extension DownloadSession {
    /// Why a URL cannot be fetched, as far as that can be said before anything is asked; `nil` when it can.
    package static func problem(with url: String) -> DownloadError.Reason? {
        do throws(DownloadError.Reason) {
            _ = try DownloadJob.usable(WebURL(url), url)
            return nil
        } catch {
            return error
        }
    }

    /// A name with a number in front of its extension: `big.1.iso`.
    package static func numbered(_ name: String, _ number: Int) -> String {
        FileName.numbered(name, number)
    }

    /// Scheme, host and port of a URL (RFC 6454 §4); empty for what is no http or https URL.
    package static func origin(of url: String) -> String { WebURL(url)?.origin ?? "" }
}
