/// The result of following the redirects of the original URL again.
package enum LinkResolution: Sendable {
    /// The redirects lead to the same version of the file, at this URL.
    case same(WebURL)
    /// The redirects lead to another version.
    case changed(ContractBreach)
    /// The request failed.
    case failed(DownloadError.Reason)
}
