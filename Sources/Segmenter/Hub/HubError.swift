public import SegmenterValues

/// The reason why a repository on the Hugging Face Hub cannot be listed.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum HubError: Error, Sendable, Hashable {
    /// A request failed.
    case request(DownloadError)
    /// There is no such repository, or the token does not allow to see it; carries its name.
    case noRepository(String, hasToken: Bool)
    /// Access must be requested on the repository's page; carries its URL.
    case gated(String, page: String)
    /// The repository has no such revision.
    case noRevision(String, repository: String)
    /// The revision has no such file or folder; carries the most similar paths.
    case noFile(String, nearest: [String])
    /// No file of the model has this quantization; carries those that there are.
    case noQuantization(String, others: [String])
    /// The response to a request cannot be used; carries the URL without its query.
    case unusable(url: String, Fault)

    /// The fault of a response.
    #if hasAttribute(nonexhaustive)
        @nonexhaustive
    #endif
    public enum Fault: Sendable, Hashable {
        /// It is not the JSON that the Hub's API documents.
        case notJSON
        /// It is longer than segget accepts.
        case tooLong
        /// The commit is not 40 hexadecimal digits.
        case noCommit
        /// An entry has no size, or no digest; carries its path.
        case entry(String)
        /// The path of an entry cannot be one of a file below a folder.
        case path(String)
        /// The next page is one that was already read, or is on another server.
        case nextPage
    }
}
