/// Gets a new link to a file in place of one that is refused.
///
/// Called with the URL that is refused, in full, and why: `refused` (401, 403), or a `transfer` with the status
/// 404 or 410. Answers with the new URL; `nil` when there is none. It is asked at most once a minute for one
/// download, on any thread, and has 30 seconds: then its task is cancelled, and it counts as `nil`.
///
/// Headers, credentials and cookies that were meant for the old URL go only to the same origin. Whether the new
/// link leads to the same file is not taken from it: a strong validator, a digest or, with
/// ``DownloadOptions/resumeUnverified``, a sample has to show it.
public typealias RefreshURL = @Sendable (String, DownloadError.Reason) async -> String?

/// Why no new link takes the place of one that is refused.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum LinkFault: Error, Sendable, Hashable {
    /// There was none.
    case none
    /// There was no answer in time.
    case late(after: Duration)
    /// It is the same as the one that is refused.
    case same
    /// It is no http or https URL; carries what of it may be shown.
    case unusable(String)
    /// So many new links in a row have brought nothing.
    case inVain(Int)
}
