/// The facts that one download learns about servers, for all of its requests.
///
/// Only hashes of dates and entity tags are written to disk, and only these and cookies are shared
/// with other downloads. Cookies are shared by downloads of one run that have the same access
/// options.
package struct DownloadMemory: Sendable {
    /// The servers that require digest authentication.
    package var digests = DigestMemory()
    /// The known cookies.
    package var cookies: CookieMemory
    /// The servers that do not support HTTP/1.1.
    package var versions = VersionMemory()
    /// The dates and entity tags that distinguish versions.
    package var validators: ValidatorTrust

    /// Creates the memory of a download.
    ///
    /// - Parameters:
    ///   - validators: The dates and tags that the session has seen; the download adds its own.
    ///   - cookies: The cookies that the download shares with others of its run.
    package init(
        validators: ValidatorBook = ValidatorBook(), cookies: CookieMemory = CookieMemory()
    ) {
        self.validators = ValidatorTrust(validators)
        self.cookies = cookies
    }

    /// Returns the memory for requests to a mirror, which has separate cookies.
    package func forMirror(at origin: String) -> DownloadMemory {
        var copy = self
        copy.cookies = cookies.mirror(at: origin)
        return copy
    }
}
