/// What one download learns of the servers that it asks, for all its requests.
///
/// Nothing of it reaches the disk; nothing but cookies reaches another download, and these only those of one run
/// that ask in the same way.
struct DownloadMemory: Sendable {
    /// Who has asked for digest authentication.
    var digests = DigestMemory()
    /// What cookies there are.
    var cookies = CookieMemory()
    /// Who does not speak HTTP/1.1.
    var versions = VersionMemory()

    /// The same for requests to a mirror, which has cookies of its own.
    func forMirror(at origin: String) -> DownloadMemory {
        var copy = self
        copy.cookies = cookies.mirror(at: origin)
        return copy
    }
}
