import Assembler
import Glibc

/// What one download was asked to do.
///
/// Shared by all that works on it, and never changed: copies of the options would cost each small file of a
/// list.
final class DownloadJob: Sendable {
    let urlText: String
    /// The URL, if it is one.
    let url: WebURL?
    let destination: Destination
    let options: DownloadOptions
    /// Whether a file is repaired: only what its manifest vouches for is completed.
    let isRepair: Bool
    private let budget = DescriptorBudget.current
    /// The parts that earlier runs have left in the folders of the session.
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

    /// Whether the download fails rather than throw away what is there: that is what it builds on.
    var keepsPart: Bool { isRepair || options.continuesOtherURL || options.adopt != nil }

    /// Whether a URL is none of those that were given, but a link that took the place of one.
    func isRefreshed(_ url: WebURL) -> Bool { !urls.contains { $0.text == url.text } }

    /// The URLs of the file, as far as they are URLs: the one that was given first in front.
    var urls: [WebURL] { ([url] + options.mirrors.map { WebURL($0) }).compactMap { $0 } }

    /// Most connections at a time.
    var connections: Int {
        options.singleRequest ? 1 : min(options.connections.most, budget.connections)
    }

    /// Most connections at a time for so many bytes; `nil` is an unknown number of them.
    func connections(for size: Int64?) -> Int {
        guard let size, let least = options.minSplitSize, least > 0 else { return connections }
        return Int(min(Int64(connections), max(1, size / least)))
    }

    /// The URL, after all has been checked that can be before anything is asked.
    ///
    /// - Throws: `foreignURL`, `invalidURL`, `invalidHeader`, `certificateFile`, `access`, `addressDenied`.
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

    /// The URL that a text is, if it is one that can be fetched; `url` is what it was read as.
    ///
    /// - Throws: `foreignURL`, `invalidURL`.
    static func usable(_ url: WebURL?, _ text: String) throws(DownloadError.Reason) -> WebURL {
        if let url, text.contains("://") { return url }
        if let foreign = ForeignURL(text, isFile: isFile) {
            throw .foreignURL(foreign, shown: redactedGuess(text))
        }
        guard let url else { throw .invalidURL(redactedGuess(text)) }
        return url
    }

    /// Whether a path leads to a file.
    private static func isFile(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// A text that is no URL, without what may be a secret in it.
    private static func redactedGuess(_ text: String) -> String {
        guard !text.contains("@") else { return "(not shown: it may hold a password)" }
        return String(text.prefix { $0 != "?" && $0 != "#" })
    }

    // MARK: Where the file goes

    /// Whether the caller has named the file, and under no other name it goes.
    var namesFile: Bool {
        if case .file = destination { !options.naming.numbersTaken } else { false }
    }

    /// Whether a file that has the name which the URL suggests is skipped before anything is asked.
    var seeksExisting: Bool {
        if case .folder = destination { options.files.skipsExisting && !isRepair } else { false }
    }

    /// Whether there is a file that the bytes go to.
    var goesToFile: Bool {
        switch destination {
        case .file, .folder: true
        case .descriptor, .null: false
        }
    }

    /// Where the file goes, unless that is taken.
    ///
    /// - Parameters:
    ///   - file: What the server offers.
    ///   - url: The URL that was given first.
    /// - Returns: The place; `nil` for what goes to no file.
    func target(for file: RemoteFile, from url: WebURL) -> FileTarget? {
        switch destination {
        case .file(let path): FileTarget(path: path)
        case .folder(let folder): FileTarget(folder: folder, name: name(for: file, from: url))
        case .descriptor, .null: nil
        }
    }

    /// Where the file goes as far as that can be said before anything is asked.
    ///
    /// - Parameter url: The URL that was given first.
    /// - Returns: The place; `nil` for what goes to no file.
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

    /// Most numbers that are tried for a name that is taken.
    private static let highestNumber = 9999

    /// The first of the numbered names that is free, or that an earlier run of the same URL has begun;
    /// blocks.
    ///
    /// - Throws: `destinationExists` when none is.
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

    // MARK: Pages

    /// Whether what arrived is an HTML page in place of the file.
    ///
    /// - Parameters:
    ///   - file: What the server said.
    ///   - target: Where it goes.
    ///   - start: Its first bytes; `nil` where they are not known.
    /// - Returns: Whether it is one.
    func isPage(_ file: RemoteFile, for target: FileTarget?, start: [UInt8]?) -> Bool {
        promisesFile(file, for: target) && PageForFile.isOne(type: file.contentType, start: start)
    }

    /// Whether the name or the media type promises something else than a page.
    func promisesFile(_ file: RemoteFile, for target: FileTarget?) -> Bool {
        // Who knows the digest knows the file.
        guard options.checksum == nil, !isRepair else { return false }
        let names = [target?.name ?? file.suggestedName, url?.lastPathComponent ?? ""]
        return PageForFile.isPromised(names: names, type: file.contentType)
    }

    // MARK: Limits

    /// Whether a file is larger than it may be.
    func isTooLarge(_ file: RemoteFile) -> Bool {
        guard let size = file.size, let most = options.limits.maxSize else { return false }
        return size > most
    }

    /// Refuses a file that is larger than it may be.
    ///
    /// - Throws: `tooLarge`.
    func checkSize(of file: RemoteFile) throws(DownloadError.Reason) {
        guard isTooLarge(file), let most = options.limits.maxSize else { return }
        throw .tooLarge(size: file.size, limit: most)
    }
}
