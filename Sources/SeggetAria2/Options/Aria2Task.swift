import Assembler
package import Segmenter

/// A download of the drop-in for aria2c.
package struct Aria2Task: Sendable {
    /// The reason why a task cannot start.
    package struct StartFailure: Sendable, Hashable {
        /// aria2's exit code.
        package var code: Int32
        /// The message.
        package var text: String
        /// Whether aria2 would start no download at all if the task were on the command line.
        var isFatal = false
    }

    /// aria2's identifier of the download, the GID.
    package var gid: Download.ID
    /// The URLs, at least one; several are mirrors of each other.
    package var urls: [String]
    /// The options; those of the list item override the common ones.
    package var options: Aria2Options
    /// Whether the task starts paused.
    package var isPaused = false
    /// The error in the given GID; `nil` for none.
    var gidProblem: String?

    /// Creates a task.
    package init(gid: Download.ID = Download.ID(), urls: [String], options: Aria2Options) {
        self.gid = gid
        self.urls = urls
        self.options = options
    }

    /// The reason why the task cannot start; other tasks can.
    package var problem: StartFailure? {
        if let gidProblem { return StartFailure(code: 1, text: gidProblem, isFatal: true) }
        guard !hasNoWebURL else {
            return urls.first.map(Self.problem) ?? StartFailure(code: 1, text: "There is no URL.")
        }
        if let out = options.text("out"), out.split(separator: "/").contains("..") {
            return StartFailure(code: 1, text: "--out points outside --dir: \(out)")
        }
        if let out = options.text("out"), out.hasSuffix("/") {
            return StartFailure(code: 16, text: "--out names no file: \(out)")
        }
        if let text = options.text("checksum"), (try? Digest(parsing: text)) == nil {
            let type = text.prefix { $0 != "=" }
            return StartFailure(
                code: Aria2Refusal.optionError,
                text: "--checksum: segget computes sha-1, sha-256, sha-512 and md5, not \(type)")
        }
        return nil
    }

    /// Whether none of the URLs is one that segget can download.
    package var hasNoWebURL: Bool { !urls.contains(where: Self.isWeb) }

    /// Returns whether the text is the URL of a file that segget can download.
    static func isWeb(_ text: String) -> Bool {
        if case .web = WebAddress(text) { true } else { false }
    }

    /// Returns whether the text is the URL of a file, with a supported scheme or not.
    static func isURL(_ text: String) -> Bool {
        switch WebAddress(text) {
        case .web, .other: true
        case .magnet, .none: false
        }
    }

    /// Returns a text that is not a URL, without parts that may be secret.
    private static func shown(_ text: String) -> String {
        text.contains("@")
            ? "(not shown: it may contain a password)"
            : String(text.prefix { $0 != "?" && $0 != "#" })
    }

    private static func problem(of text: String) -> StartFailure {
        switch WebAddress(text) {
        case .magnet: return StartFailure(code: 26, text: "This is BitTorrent: use aria2c for this")
        case .other(let scheme) where ["ftp", "sftp", "ftps"].contains(scheme):
            return StartFailure(
                code: 21, text: "This is \(scheme.uppercased()): use aria2c for this")
        case .other(let scheme):
            return StartFailure(code: 1, text: "\(scheme) is not supported.")
        case .web, .none:
            let name = text.lowercased()
            if name.hasSuffix(".torrent") {
                return StartFailure(code: 26, text: "This is BitTorrent: use aria2c for this")
            }
            if name.hasSuffix(".metalink") || name.hasSuffix(".meta4") {
                return StartFailure(code: 20, text: "This is Metalink: use aria2c for this")
            }
            return StartFailure(
                code: 1, text: "Unrecognized URI or unsupported protocol: \(shown(text))",
                isFatal: true)
        }
    }
}

extension Aria2Task {
    /// Returns the URL, destination and options of the download.
    ///
    /// - Parameters:
    ///   - home: The home folder.
    ///   - exists: Returns whether a file exists at a path.
    /// - Returns: The item for a batch; meaningless if there is a ``problem``.
    package func batchItem(home: String, exists: (String) -> Bool) -> BatchItem {
        let urls = Array(urls.lazy.filter(Self.isWeb).prefix(1 + Self.mostMirrors))
        let url = urls.first ?? ""
        var download = DownloadOptions()
        download.mirrors = Array(urls.dropFirst())
        setConnections(&download, urls)
        setFiles(&download)
        setLimits(&download)
        setAccess(&download.access, url, home, exists)
        download.headers = headers
        if let file = options.text("ca-certificate") { download.caCertificate = file }
        let folder = options.text("dir") ?? "."
        let destination: Destination =
            if let out = options.text("out") {
                // As in aria2, an absolute `out` is also relative to `dir`.
                .file(folder == "/" ? "/\(out)" : "\(folder)/\(out)")
            } else {
                .folder(folder)
            }
        return BatchItem(url, to: destination, options: download)
    }

    /// The maximum number of mirrors besides the first URL; further ones are ignored.
    private static let mostMirrors = 255

    private func setConnections(_ download: inout DownloadOptions, _ urls: [String]) {
        let hosts = Set(urls.compactMap { Self.host(of: $0) }).count
        let bounds = [
            options.number("split"),
            options.number("max-connection-per-server").map { $0 * Int64(max(1, hosts)) },
        ].compactMap(\.self)
        if let most = bounds.min() { download.connections = .upTo(Int(clamping: max(1, most))) }
        download.minSplitSize = options.number("min-split-size")
        download.singleRequest =
            options.flag("use-head") == false && options.number("split") == 1
            && options.number("max-connection-per-server") ?? 1 == 1 && download.mirrors.isEmpty
    }

    private func setFiles(_ download: inout DownloadOptions) {
        download.overwrite = options.flag("allow-overwrite") ?? false
        // A whole file is compared with a checksum only if `--check-integrity` or `--continue` is
        // given.
        download.takesOver =
            options.flag("continue") == true
            ? .begun
            : options.checksIntegrity && options.text("checksum") != nil ? .complete : .controlled
        download.naming.numbersTaken =
            !download.overwrite && options.flag("auto-file-renaming") ?? true
        download.resume = options.flag("remove-control-file") != true
        download.checksum = options.text("checksum").flatMap { try? Digest(parsing: $0) }
        download.files.missingFolders = .made
        download.files.attributes = .proof
        download.files.remoteTime = options.flag("remote-time") ?? false
        download.files.timestamping =
            download.overwrite && options.flag("conditional-get") ?? false
        if let method = options["file-allocation"] {
            // aria2's `prealloc` writes zeros if the file system does not support `falloc`.
            download.files.allocation =
                FileAllocation(rawValue: method == "prealloc" ? "falloc" : method) ?? .auto
        }
    }

    private func setLimits(_ download: inout DownloadOptions) {
        if let seconds = options.number("timeout") { download.stallTimeout = .seconds(seconds) }
        if let seconds = options.number("connect-timeout") {
            download.connectTimeout = .seconds(seconds)
        }
        if let tries = options.number("max-tries") {
            // aria2 also counts the first attempt, and takes 0 for no limit.
            download.retries = tries == 0 ? 1000 : Int(min(tries - 1, 1000))
        }
        if let seconds = options.number("retry-wait") { download.retryWait = .seconds(seconds) }
        download.limits.rate = Self.rate(options.number("max-download-limit"))
        download.limits.minRate = Self.rate(options.number("lowest-speed-limit"))
    }

    private static func rate(_ bytes: Int64?) -> Double? {
        bytes.flatMap { $0 > 0 ? Double($0) : nil }
    }

    private func setAccess(
        _ access: inout AccessOptions, _ url: String, _ home: String, _ exists: (String) -> Bool
    ) {
        // A user in the URL has priority; the given password belongs to another user.
        if let user = options.text("http-user"), !WebAddress.hasUser(url) {
            access.credentials = .init(user: user, password: options["http-passwd"] ?? "")
        }
        let netrc = options.text("netrc-path") ?? "\(home)/.netrc"
        if options.flag("no-netrc") != true, exists(netrc) {
            access.usesNetrc = true
            access.netrcFile = netrc
        }
        access.userAgent = options["user-agent"]
        access.referer = options.text("referer").map { $0 == "*" ? WebAddress.referer(url) : $0 }
        access.cookieFile = options.text("load-cookies")
        // Always set, so that segget ignores the environment: the options already include it by
        // aria2's rules.
        access.proxy = proxy(for: url) ?? ""
        access.noProxy = options["no-proxy"] ?? ""
        access.isInsecure = options.flag("check-certificate") == false
        access.clientCertificate = options.text("certificate")
        access.clientKey = options.text("private-key")
        if options["min-tls-version"] == "TLSv1.3" { access.minimumTLS = .tls13 }
        access.interface = options.text("interface")
        if options.flag("disable-ipv6") == true { access.addressFamily = .ipv4 }
    }

    /// The warnings about options without effect.
    package var warnings: [String] {
        let headers = options.all("header").filter {
            !Self.isSent($0) && !$0.lowercased().hasPrefix("accept-encoding:")
        }.map { line in
            "--header: segget does not send this field: "
                + Aria2List.printable(String(line.prefix { $0 != ":" }))
        }
        let mirrors = urls.count - 1
        guard mirrors > Self.mostMirrors else { return headers }
        return headers + ["\(mirrors - Self.mostMirrors) of \(mirrors) mirrors are ignored"]
    }

    /// Returns whether segget sends the header; it sets headers such as `Range` itself.
    private static func isSent(_ line: String) -> Bool {
        line.isEmpty || (try? DownloadOptions.check(header: line)) != nil
    }

    private var headers: [String] {
        var headers = options.all("header").filter { !$0.isEmpty && Self.isSent($0) }
        if options.flag("http-no-cache") == true {
            headers += ["Cache-Control: no-cache", "Pragma: no-cache"].filter {
                !headers.contains($0)
            }
        }
        return headers
    }

    /// Returns the proxy for the URL: that of its scheme, otherwise `all-proxy`, with user and
    /// password.
    private func proxy(for url: String) -> String? {
        let scheme = if case .web(_, isSecure: true) = WebAddress(url) { "https" } else { "http" }
        for name in ["\(scheme)-proxy", "all-proxy"] {
            guard let proxy = options.text(name) else { continue }
            return WebAddress.proxy(
                proxy, user: options["\(name)-user"], password: options["\(name)-passwd"]) ?? proxy
        }
        return nil
    }

    private static func host(of url: String) -> String? {
        if case .web(let host, _) = WebAddress(url) { host } else { nil }
    }
}
