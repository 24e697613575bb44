/// Returns a new link to a file whose link the server refuses.
///
/// The arguments are the refused URL in full and the reason: `refused` (401, 403), or a `transfer`
/// with status 404 or 410. The result is the new URL, or `nil` if there is none. The closure is
/// called at most once a minute for each download, on any thread. After 30 seconds its task is
/// cancelled, and the result counts as `nil`.
///
/// Headers, credentials and cookies for the old URL are sent to the same origin only. A strong
/// validator, a digest or, with ``DownloadOptions/resumeUnverified``, a sample has to show that the
/// new link leads to the same file.
public typealias RefreshURL = @Sendable (String, DownloadError.Reason) async -> String?

/// The reason why no new link replaces a refused one.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum LinkFault: Error, Sendable, Hashable {
    /// The closure returned no link.
    case none
    /// The closure did not return in time.
    case late(after: Duration)
    /// The new link equals the refused one.
    case same
    /// The new link is not an http or https URL; carries the part of it that may be shown.
    case unusable(String)
    /// This number of new links in a row led to no received bytes.
    case inVain(Int)
}
