import Assembler
import Glibc
import SegmenterRules
import SegmenterTransport

/// The request of a caller for one download.
///
/// Immutable and shared, because each small file of a list would otherwise copy the options.
final class DownloadJob: Sendable {
    let urlText: String
    /// The URL; `nil` if the text is not a URL.
    let url: WebURL?
    let destination: Destination
    let options: DownloadOptions
    /// Whether a file is repaired: only a part that its manifest describes is completed.
    let isRepair: Bool
    /// The parts of earlier runs in the folders of the session.
    let parts: BegunParts

    init(
        urlText: String, url: WebURL?, destination: Destination, options: DownloadOptions,
        isRepair: Bool = false, parts: BegunParts = BegunParts()
    ) {
        self.parts = parts
        self.urlText = urlText
        self.url = url
        self.destination = destination
        self.options = options
        self.isRepair = isRepair
    }

    /// Whether the download fails if it would discard the existing bytes, because it is based on
    /// them.
    var keepsPart: Bool { isRepair || options.continuesOtherURL || options.adopt != nil }

    /// Returns whether a URL is a new link that replaced one of the caller's URLs.
    func isRefreshed(_ url: WebURL) -> Bool { !urls.contains { $0.text == url.text } }

    /// The valid URLs of the file, in the caller's order.
    var urls: [WebURL] { ([url] + options.mirrors.map { WebURL($0) }).compactMap { $0 } }

    /// The maximum number of connections.
    var connections: Int {
        options.singleRequest
            ? 1 : min(options.connections.most, DescriptorBudget.current.connections)
    }

    /// Returns the maximum number of connections for a file of `size` bytes; `nil`: unknown size.
    func connections(for size: Int64?) -> Int {
        guard let size, let least = options.minSplitSize, least > 0 else { return connections }
        return Int(min(Int64(connections), max(1, size / least)))
    }

    /// Returns the URL, after all checks that need no request.
    ///
    /// - Throws: `foreignURL`, `invalidURL`, `invalidHeader`, `certificateFile`, `access`,
    ///   `addressDenied`.
    func checkedURL() throws(DownloadError.Reason) -> WebURL {
        let url = try Self.usable(url, urlText)
        for header in options.headers {
            do throws(HeaderSyntaxError) {
                try DownloadOptions.check(header: header)
            } catch {
                throw .invalidHeader(error)
            }
        }
        if let file = options.caCertificate, access(file, R_OK) != 0 {
            throw .certificateFile(path: file)
        }
        do throws(AccessProblem) {
            try options.access.check()
        } catch {
            throw .access(error)
        }
        if options.access.deniesPrivate, options.access.mayUseProxy {
            throw .addressDenied(.proxy)
        }
        return url
    }

    /// Returns the URL of a text, if it can be downloaded; `url` is the parsed text.
    ///
    /// - Throws: `foreignURL`, `invalidURL`.
    static func usable(_ url: WebURL?, _ text: String) throws(DownloadError.Reason) -> WebURL {
        // The search in a text takes longer than all other checks of a small file's options.
        let isURL = ["http://", "https://"].contains(where: text.hasPrefix) || text.contains("://")
        if let url, isURL { return url }
        if let foreign = ForeignURL(text, isFile: isFile) {
            throw .foreignURL(foreign, shown: redactedGuess(text))
        }
        guard let url else { throw .invalidURL(redactedGuess(text)) }
        return url
    }

    /// Returns whether a regular file exists at the path.
    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// Returns a text that is not a URL, without parts that may be secret.
    private static func redactedGuess(_ text: String) -> String {
        guard !text.contains("@") else { return "(not shown: it may hold a password)" }
        return String(text.prefix { $0 != "?" && $0 != "#" })
    }

    // MARK: Destination

    /// Whether the caller chose the name of the file, without an alternative if it is taken.
    var namesFile: Bool {
        if case .file = destination { !options.naming.numbersTaken } else { false }
    }

    /// Whether the download ends, before any request, if a file with the name from the URL exists.
    var seeksExisting: Bool {
        if case .folder = destination { options.files.skipsExisting && !isRepair } else { false }
    }

    /// Whether the bytes are written to a file with a name.
    var goesToFile: Bool {
        switch destination {
        case .file, .folder: true
        case .descriptor, .null: false
        }
    }

    /// Returns the destination, regardless of whether the name is taken.
    ///
    /// - Parameters:
    ///   - file: The server's offer.
    ///   - url: The URL given first.
    /// - Returns: The destination; `nil` if the bytes are not written to a file with a name.
    func target(for file: RemoteFile, from url: WebURL) -> FileTarget? {
        switch destination {
        case .file(let path): FileTarget(path: path)
        case .folder(let folder): FileTarget(folder: folder, name: name(for: file, from: url))
        case .descriptor, .null: nil
        }
    }

    /// Returns the destination that is expected before the first request.
    ///
    /// - Parameter url: The URL given first.
    /// - Returns: The destination; `nil` if the bytes are not written to a file with a name.
    func expectedTarget(from url: WebURL) -> FileTarget? {
        switch destination {
        case .file(let path): FileTarget(path: path)
        case .folder(let path):
            FileTarget(folder: path, name: FileName.suggested(disposition: nil, url: url))
        case .descriptor, .null: nil
        }
    }

    private func name(for file: RemoteFile, from url: WebURL) -> String {
        options.naming.usesURL
            ? FileName.suggested(disposition: nil, url: url) : file.suggestedName
    }

    /// The highest number that is tried if a name is taken.
    private static let highestNumber = 9999

    /// Returns the first numbered name that is free or that an earlier run of the same URL has
    /// begun.
    ///
    /// Blocks.
    ///
    /// - Throws: `destinationExists` if all names are taken; `folderUnavailable`, `cannotCreate`,
    ///   `io`.
    func numbered(_ wanted: FileTarget) throws(AssemblyError) -> FileTarget {
        let urls = urls.map(\.text)
        for number in 0...Self.highestNumber {
            let name = FileName.numbered(wanted.name, number)
            if try Assembly.isFree(name, folder: wanted.folder, urls: urls) {
                return FileTarget(folder: wanted.folder, name: name)
            }
        }
        throw .destinationExists(path: wanted.path)
    }

    // MARK: HTML pages

    /// Returns whether the response is an HTML page in place of the file.
    ///
    /// - Parameters:
    ///   - file: The server's offer.
    ///   - target: The destination.
    ///   - start: The first bytes of the body; `nil` if they are not known.
    /// - Returns: Whether the response is a page.
    func isPage(_ file: RemoteFile, for target: FileTarget?, start: [UInt8]?) -> Bool {
        PageForFile.isOne(type: file.contentType, start: start) && promisesFile(file, for: target)
    }

    /// Returns whether the name or the media type suggests that the file is not a page.
    func promisesFile(_ file: RemoteFile, for target: FileTarget?) -> Bool {
        // An expected digest decides whether the bytes are the file.
        guard options.checksum == nil, !isRepair else { return false }
        let names = [target?.name ?? file.suggestedName, url?.lastPathComponent ?? ""]
        return PageForFile.isPromised(names: names, type: file.contentType)
    }

    // MARK: Limits

    /// Returns how the server's offer differs from the pinned version; `nil` if it does not.
    ///
    /// A response in a content coding does not state the size; the expected digest then decides.
    func difference(of file: RemoteFile) -> ContractBreach? {
        guard !file.isDecoded || options.checksum == nil else { return nil }
        return options.pin?.difference(of: file.identity)
    }

    /// Returns whether a file is larger than the limit.
    func isTooLarge(_ file: RemoteFile) -> Bool {
        guard let size = file.size, let most = options.limits.maxSize else { return false }
        return size > most
    }

    /// Throws if a file is larger than the limit.
    ///
    /// - Throws: `tooLarge`.
    func checkSize(of file: RemoteFile) throws(DownloadError.Reason) {
        guard isTooLarge(file), let most = options.limits.maxSize else { return }
        throw .tooLarge(size: file.size, limit: most)
    }
}
