import Assembler
import SegmenterRules
public import SegmenterValues

extension DownloadSession {
    /// The number of files whose servers are asked at a time.
    private static let probes = 16

    /// Returns the files of a list as a listing has them, in the order of the list.
    ///
    /// Names that the URLs or servers suggest are numbered (`big.1.iso`) if an earlier file has
    /// them.
    ///
    /// - Parameters:
    ///   - count: The number of files.
    ///   - probes: Whether servers are asked for sizes, validators and digests, with one request
    ///     for each file as a rule. Without it, these remain open.
    ///   - item: Returns the file at an index of the list, from 0; relative paths are those in the
    ///     set.
    /// - Returns: A file or an error for each file of the list.
    public func listing(
        count: Int, probes: Bool = true, item: @escaping @Sendable (Int) -> BatchItem
    ) -> AsyncStream<(index: Int, result: Result<Listing.File, DownloadError>)> {
        AsyncStream { continuation in
            let task = Task {
                var names = PlannedNames()
                await withTaskGroup(of: (Int, Result<RemoteFile?, DownloadError>).self) { group in
                    var (next, turn) = (0, 0)
                    var found: [Int: Result<RemoteFile?, DownloadError>] = [:]
                    while turn < count, !Task.isCancelled {
                        while next < count, next < turn + Self.probes {
                            let index = next
                            group.addTask {
                                guard probes else { return (index, .success(nil)) }
                                return (index, await self.offer(of: item(index)))
                            }
                            next += 1
                        }
                        guard let (index, result) = await group.next() else { break }
                        found[index] = result
                        while let result = found.removeValue(forKey: turn) {
                            let file = result.flatMap { names.file(item(turn), $0) }
                            continuation.yield((turn, file))
                            turn += 1
                        }
                    }
                    group.cancelAll()
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    private func offer(of item: BatchItem) async -> Result<RemoteFile?, DownloadError> {
        do throws(DownloadError) {
            return .success(try await probe(item.url, options: item.options))
        } catch {
            return .failure(error)
        }
    }
}

/// The names that the files of a set have so far.
private struct PlannedNames {
    private var folders: [String: FolderNames] = [:]

    /// Returns a file of the set; `offer`: what its server states.
    mutating func file(
        _ item: BatchItem, _ offer: RemoteFile?
    ) -> Result<Listing.File, DownloadError> {
        guard let url = WebURL(item.url) else {
            return .failure(error(.invalidURL(item.url), item))
        }
        let path: String
        switch item.destination {
        case .file(let named): path = Self.relative(named)
        case .folder(let folder):
            let folder = Self.relative(folder)
            let suggested =
                offer?.suggestedName ?? FileName.suggested(disposition: nil, url: url)
            let name = folders[folder, default: FolderNames()].claim(suggested) { _ in .nobody }
            path = folder.isEmpty ? name : "\(folder)/\(name)"
        case .descriptor, .null: return .failure(error(.nameTaken(path: "-"), item))
        }
        var file = Listing.File(path: path, address: url.text, size: offer?.size)
        file.mirrors = item.options.mirrors.compactMap { WebURL($0)?.text }
        if let digest = item.options.checksum { file.digests.append(digest) }
        for digest in offer?.digests ?? [] where !file.digests.contains(digest) {
            file.digests.append(digest)
        }
        (file.etag, file.lastModified) = (offer?.etag, offer?.lastModified)
        if url.isSignedLink {
            file.renewal = .signed(until: LinkExpiry(url).map { Int64($0.time) })
        } else if offer?.redirects ?? 0 > 0 {
            file.renewal = .resolved
        }
        return .success(file)
    }

    private func error(_ reason: DownloadError.Reason, _ item: BatchItem) -> DownloadError {
        DownloadError(
            reason: reason, url: WebURL(item.url)?.redacted ?? "", path: nil, bytesKept: 0)
    }

    /// Returns a path without `./` at its beginning.
    private static func relative(_ path: String) -> String {
        var path = path[...]
        while path.hasPrefix("./") { path = path.dropFirst(2) }
        return path == "." ? "" : String(path)
    }
}
