import Assembler
import SegmenterTransport
import SegmenterValues

/// Lists the files of a repository on the Hugging Face Hub.
///
/// The first request pins the revision to its commit; all later ones name that commit.
struct HubLister {
    /// The longest response that is read, in bytes.
    static let longest = 64 << 20
    /// The number of similar paths that an error names.
    private static let mostNearest = 3

    let address: HubAddress
    let access: HubAccess
    /// Requests a URL, and returns the response with its whole body.
    let ask: (WebURL) async throws(HubError) -> (reply: Reply, body: [UInt8])
    /// Called after each page with the number of files so far.
    var found: @Sendable (Int) -> Void = { _ in }

    /// Returns the listing, in the order of the Hub; and the list of all files, if all were listed.
    func callAsFunction() async throws(HubError) -> (Listing, HubTree?) {
        let repository = "\(access.endpoint)/api/\(address.type)/\(address.name)"
        let pin = try await revision(repository)
        let entries = try await entries(repository, pin.sha)
        let listing = try listing(of: entries, commit: pin.sha, name: pin.id)
        return (listing, address.path.isEmpty ? HubTree(entries) : nil)
    }

    /// Returns the listing of all files that a tree has and the address means, without a request.
    ///
    /// - Parameters:
    ///   - tree: The list of all files of a commit.
    ///   - commit: The commit.
    /// - Returns: The listing.
    /// - Throws: `HubError`.
    func listing(of tree: HubTree, commit: String) throws(HubError) -> Listing {
        let path = address.path
        let entries = tree.entries.filter {
            path.isEmpty || $0.path == path || $0.path.hasPrefix(path + "/")
        }
        guard !entries.isEmpty || path.isEmpty else {
            let paths = tree.entries.map(\.path)
            throw .noFile(path, nearest: Self.nearest(to: path, among: paths))
        }
        return try listing(of: entries, commit: commit, name: nil)
    }

    private func listing(
        of entries: [HubReplies.Entry], commit: String, name: String?
    ) throws(HubError) -> Listing {
        let repository = "\(access.endpoint)/api/\(address.type)/\(address.name)"
        var entries = entries
        if let quantization = address.quantization {
            let chosen = HubReplies.files(of: entries, quantization: quantization)
            guard !chosen.isEmpty else {
                throw .noQuantization(
                    quantization, others: HubReplies.quantizations(of: entries))
            }
            entries = chosen
        }
        let prefix = address.type == .models ? "" : "\(address.type)/"
        let base = "\(access.endpoint)/\(prefix)\(name ?? address.name)/resolve/\(commit)/"
        var listing = Listing(
            Listing.Source(.hub, address: address.text, pin: commit), files: [])
        for entry in entries {
            guard let size = entry.lfs?.size ?? entry.size, size >= 0,
                let digest = HubReplies.digest(of: entry)
            else { throw unusable(repository, .entry(entry.path)) }
            guard HubPath.isUsable(entry.path) else {
                throw unusable(repository, .path(entry.path))
            }
            listing.files.append(
                Listing.File(
                    path: entry.path, address: base + Self.quoted(entry.path), size: size,
                    digests: [digest], renewal: entry.lfs == nil ? .stable : .resolved))
        }
        return listing
    }

    /// Pins the revision.
    private func revision(_ repository: String) async throws(HubError) -> HubReplies.Revision {
        let url = "\(repository)/revision/\(percentEncoded(address.revision))"
        let (reply, body) = try await request(url)
        guard reply.status == 200 else { throw refusal(reply, url) }
        guard let pin = HubReplies.read(body, as: HubReplies.Revision.self) else {
            throw unusable(url, .notJSON)
        }
        guard pin.sha.utf8.count == 40, (try? Digest(parsing: pin.sha)) != nil else {
            throw unusable(url, .noCommit)
        }
        return pin
    }

    /// Returns the entries of files that the address means.
    private func entries(
        _ repository: String, _ commit: String
    ) async throws(HubError) -> [HubReplies.Entry] {
        let tree = "\(repository)/tree/\(commit)"
        guard !address.path.isEmpty else { return try await pages(tree, isRecursive: true) ?? [] }
        let folder = "\(tree)/\(Self.quoted(address.path))"
        if !address.isFolder {
            // A single file is found in the list of its folder.
            let parent = address.path.lastIndex(of: "/").map { address.path[..<$0] }
            let list = parent.map { "\(tree)/\(Self.quoted(String($0)))" } ?? tree
            let siblings = try await pages(list, isRecursive: false) ?? []
            guard let entry = siblings.first(where: { $0.path == address.path }) else {
                let paths = siblings.map(\.path)
                throw .noFile(address.path, nearest: Self.nearest(to: address.path, among: paths))
            }
            guard entry.type == "directory" else { return [entry] }
        }
        guard let entries = try await pages(folder, isRecursive: true) else {
            throw .noFile(address.path, nearest: [])
        }
        return entries
    }

    /// Returns the entries of all pages of a tree; `nil` if there is no such folder.
    private func pages(
        _ tree: String, isRecursive: Bool
    ) async throws(HubError) -> [HubReplies.Entry]? {
        var url = tree + "?recursive=\(isRecursive)&expand=false"
        var seen: Set<String> = []
        var entries: [HubReplies.Entry] = []
        while true {
            let (reply, body) = try await request(url)
            if reply.status == 404, reply["x-error-code"] == "EntryNotFound" { return nil }
            guard reply.status == 200 else { throw refusal(reply, tree) }
            guard let page = HubReplies.read(body, as: [HubReplies.Entry].self) else {
                throw unusable(tree, .notJSON)
            }
            entries += page.filter { !isRecursive || $0.type == "file" }
            if isRecursive { found(entries.count) }
            seen.insert(url)
            guard let here = WebURL(url), let link = reply["link"],
                let next = HubReplies.next(link, at: here, endpoint: access.endpoint)
            else { return entries }
            guard next.origin == here.origin, !seen.contains(next.text) else {
                throw unusable(tree, .nextPage)
            }
            url = next.text
        }
    }

    private func request(
        _ url: String
    ) async throws(HubError) -> (reply: Reply, body: [UInt8]) {
        guard let url = WebURL(url) else { throw unusable(url, .nextPage) }
        return try await ask(url)
    }

    /// Returns the error for a response that is not 200.
    private func refusal(_ reply: Reply, _ url: String) -> HubError {
        let page = address.page(at: access.endpoint)
        switch reply["x-error-code"] {
        case "GatedRepo": return .gated(address.name, page: page)
        case "RevisionNotFound":
            return .noRevision(address.revision, repository: address.name)
        case "EntryNotFound": return .noFile(address.path, nearest: [])
        case "RepoNotFound":
            return .noRepository(address.name, hasToken: access.token(for: url) != nil)
        default:
            // Without a token, the Hub does not tell whether the repository exists.
            if [401, 404].contains(reply.status) {
                return .noRepository(address.name, hasToken: access.token(for: url) != nil)
            }
            let reason: DownloadError.Reason =
                reply.status == 403
                ? .refused(status: 403) : .transfer(.status(reply.status), attempts: 1)
            return .request(
                DownloadError(
                    reason: reason, url: WebURL(url)?.redacted ?? "", path: nil, bytesKept: 0))
        }
    }

    private func unusable(_ url: String, _ fault: HubError.Fault) -> HubError {
        .unusable(url: WebURL(url)?.redacted ?? access.endpoint, fault)
    }

    /// Quotes a path for a URL; slashes remain.
    static func quoted(_ path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false)
            .map { percentEncoded($0) }.joined(separator: "/")
    }

    /// Returns the paths that are most similar to one that does not exist.
    private static func nearest(to path: String, among paths: [String]) -> [String] {
        let name = path.lowercased()
        func likeness(_ other: String) -> Int {
            let other = other.lowercased()
            return zip(name, other).prefix { $0 == $1 }.count
                + zip(name.reversed(), other.reversed()).prefix { $0 == $1 }.count
                - abs(name.count - other.count)
        }
        return paths.map { (likeness($0), $0) }.sorted { ($1.0, $0.1) < ($0.0, $1.1) }
            .prefix(mostNearest).map(\.1)
    }
}
