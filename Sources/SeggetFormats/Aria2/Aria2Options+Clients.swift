package import Segmenter

/// Options as clients give them over aria2's JSON-RPC, and get them.
extension Aria2Option {
    /// Why a client's value is not taken.
    package struct Refused: Error {
        /// The option's long name.
        package var name: String
    }

    /// What clients may say of a task.
    ///
    /// An allow-list: nothing on it names a command or a file of this machine but by `dir` and `out`, which are looked
    /// at where they are used. What is not on it is passed over, as clients replay whole maps of options.
    package static let forClients: Set = [
        "all-proxy", "all-proxy-passwd", "all-proxy-user", "allow-overwrite", "auto-file-renaming",
        "checksum", "conditional-get", "connect-timeout", "continue", "dir", "gid", "header",
        "http-no-cache", "http-passwd", "http-proxy", "http-proxy-passwd", "http-proxy-user",
        "http-user", "https-proxy", "https-proxy-passwd", "https-proxy-user", "lowest-speed-limit",
        "max-connection-per-server", "max-download-limit", "max-tries", "min-split-size",
        "no-proxy", "out", "parameterized-uri", "pause", "referer", "remote-time", "retry-wait",
        "split", "timeout", "use-head", "user-agent",
    ]

    /// What clients may say of the queue beside that.
    package static let forQueues: Set = ["max-concurrent-downloads", "max-overall-download-limit"]

    /// What clients may say of a task where they are programs of this user's: no option for one file names a command.
    package static let forOwnClients = Set(table.filter(\.isForItems).map(\.name)).union([
        "gid", "pause",
    ])

    /// What they may say of the queue beside that.
    package static let forOwnQueues = forQueues.union(["save-session"])

    /// What is a secret, whatever its value.
    private static let secret: Set = [
        "all-proxy-passwd", "http-passwd", "http-proxy-passwd", "https-proxy-passwd",
    ]

    /// Request headers that are secrets, in lower case.
    private static let secretHeaders: Set = ["authorization", "cookie", "proxy-authorization"]

    /// A value without secrets; `nil` where nothing is left.
    static func shown(_ name: String, _ value: String) -> String? {
        guard !secret.contains(name) else { return nil }
        switch name {
        case "header":
            let field = value.prefix { $0 != ":" }.lowercased()
            return secretHeaders.contains(field) ? nil : value
        case "all-proxy", "http-proxy", "https-proxy": return WebAddress.withoutSecrets(value)
        default: return value
        }
    }
}

extension Aria2Options {
    /// Takes what a client gives for an option; what clients may not say is passed over.
    ///
    /// - Parameters:
    ///   - name: The option's long name.
    ///   - values: Its values; only `header` has several.
    ///   - allowed: The names that count.
    /// - Throws: `Aria2Option.Refused`, for a value that the option does not take.
    package mutating func take(
        client name: String, _ values: [String], allowed: Set<String> = Aria2Option.forClients
    ) throws(Aria2Option.Refused) {
        guard allowed.contains(name), let option = Aria2Option.named(name) else { return }
        if option.addsUp { remove(name) }
        for value in values {
            // `getOption` gives headers line by line, and clients give them back so.
            let parts = option.addsUp ? value.split(separator: "\n").map(String.init) : [value]
            for part in parts {
                do throws(Aria2Option.BadValue) {
                    try take(option, part, home: "")
                } catch {
                    throw Aria2Option.Refused(name: name)
                }
            }
        }
    }

    /// The values as clients get them: headers line by line, and nothing secret.
    package var shown: [String: String] {
        var result: [String: String] = [:]
        for (name, values) in values {
            let kept = values.compactMap { Aria2Option.shown(name, $0) }
            guard let last = kept.last else { continue }
            result[name] = name == "header" ? kept.map { $0 + "\n" }.joined() : last
        }
        return result
    }

    /// Forgets what others say, too.
    package func differences(from others: Aria2Options) -> Aria2Options {
        var options = self
        options.values = values.filter { others.all($0.key) != $0.value }
        return options
    }

    /// The options that say of a task what a download's options say.
    ///
    /// - Parameters:
    ///   - download: The download's options.
    ///   - folder: Path of the folder.
    ///   - name: The name that was given; `nil` for none.
    package init(of download: DownloadOptions, folder: String, name: String?) {
        self.init()
        func set(_ name: String, _ value: String?) {
            if let value { replace(name, with: value) }
        }
        func set(_ name: String, _ flag: Bool) { replace(name, with: flag ? "true" : "false") }
        set("dir", folder)
        set("out", name)
        set("split", String(download.connections.most))
        if download.singleRequest { set("use-head", "false") }
        // aria2 takes no more; whoever gives all of them back must not be refused.
        set("max-connection-per-server", String(min(16, download.connections.most)))
        set("min-split-size", download.minSplitSize.map(String.init))
        set("max-download-limit", String(Int64(download.limits.rate ?? 0)))
        set("lowest-speed-limit", String(Int64(download.limits.minRate ?? 0)))
        set("checksum", download.checksum.map { "\($0.algorithm.rawValue)=\($0.hex)" })
        set("allow-overwrite", download.overwrite)
        set("auto-file-renaming", download.naming.numbersTaken)
        set("continue", true)
        set("remote-time", download.files.remoteTime)
        set("conditional-get", download.files.timestamping)
        set("max-tries", String(download.retries >= 1000 ? 0 : download.retries + 1))
        set("retry-wait", String(Int64(download.retryWait / .seconds(1))))
        set("timeout", String(Int64(download.stallTimeout / .seconds(1))))
        set("connect-timeout", String(Int64(download.connectTimeout / .seconds(1))))
        set("referer", download.access.referer)
        set("user-agent", download.access.userAgent)
        set("http-user", download.access.credentials?.user)
        set("http-passwd", download.access.credentials?.password)
        set("all-proxy", download.access.proxy.flatMap { $0.isEmpty ? nil : $0 })
        set("no-proxy", download.access.noProxy.flatMap { $0.isEmpty ? nil : $0 })
        for header in download.headers { add("header", header) }
    }
}
