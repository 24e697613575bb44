/// What one download learns of the servers that it asks, for all its requests.
///
/// Of it nothing reaches the disk but hashes of dates and tags; and nothing reaches another download but these and
/// cookies, which only downloads of one run share that ask in the same way.
struct DownloadMemory: Sendable {
    /// Who has asked for digest authentication.
    var digests = DigestMemory()
    /// What cookies there are.
    var cookies: CookieMemory
    /// Who does not speak HTTP/1.1.
    var versions = VersionMemory()
    /// Which dates and tags distinguish versions.
    var validators: ValidatorTrust

    /// - Parameters:
    ///   - validators: What the session has seen of dates and tags, to which is added what this download sees.
    ///   - cookies: Those that it shares with others of its run.
    init(validators: ValidatorBook = ValidatorBook(), cookies: CookieMemory = CookieMemory()) {
        self.validators = ValidatorTrust(validators)
        self.cookies = cookies
    }

    /// The same for requests to a mirror, which has cookies of its own.
    func forMirror(at origin: String) -> DownloadMemory {
        var copy = self
        copy.cookies = cookies.mirror(at: origin)
        return copy
    }
}
