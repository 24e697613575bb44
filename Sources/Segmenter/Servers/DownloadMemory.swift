/// What one download learns of the servers that it asks, for all its requests.
///
/// Nothing of it reaches another download, or the disk.
struct DownloadMemory: Sendable {
    /// Who has asked for digest authentication.
    let digests = DigestMemory()
    /// What cookies there are.
    let cookies = CookieMemory()
    /// Who does not speak HTTP/1.1.
    let versions = VersionMemory()
}
