/// What one download learns of the servers that it asks, for all its requests.
///
/// Nothing of it reaches another download, or the disk, but hashes of dates and tags.
struct DownloadMemory: Sendable {
    /// Who has asked for digest authentication.
    let digests = DigestMemory()
    /// What cookies there are.
    let cookies = CookieMemory()
    /// Who does not speak HTTP/1.1.
    let versions = VersionMemory()
    /// Which dates and tags distinguish versions.
    let validators: ValidatorTrust

    /// - Parameter validators: What the session has seen of dates and tags, to which is added what this
    ///   download sees.
    init(_ validators: ValidatorBook = ValidatorBook()) {
        self.validators = ValidatorTrust(validators)
    }
}
