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
    package static let forClients: Set<String> = Set(
        TransferOption.table.filter { $0.places.contains(.rpc) }.flatMap(\.namesInAria2)
    ).union(together).union(atStart).union(["dir", "out"])

    /// What says how a task begins, and is not changed later.
    private static let atStart: Set = ["continue", "gid", "parameterized-uri", "pause"]

    /// What says something of a download together with other options.
    private static let together: Set = [
        "all-proxy-passwd", "all-proxy-user", "http-no-cache", "http-proxy", "http-proxy-passwd",
        "http-proxy-user", "https-proxy", "https-proxy-passwd", "https-proxy-user",
    ]

    /// Whether a client can change the option of an existing task.
    ///
    /// - Parameter isOwn: Whether the client is a program of this user; others cannot have files replaced.
    /// - Returns: `nil` where the option has no effect in segget.
    package func canChange(isOwn: Bool) -> Bool? {
        if Self.atStart.contains(name) { return false }
        if case .accepted = treatment { return nil }
        if Self.together.contains(name) || ["dir", "out"].contains(name) { return true }
        guard let option = TransferOption.named(name, on: .aria2)?.option else { return false }
        return option.effect != .never && (isOwn || option.places.contains(.tcp))
    }

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

    /// The options whose values differ from others; a flag that is not among those is off, and a text is empty.
    package func changes(from present: Aria2Options) -> Aria2Options {
        var options = self
        options.values = values.filter { name, values in
            let old = present.all(name)
            guard old.isEmpty else { return old != values }
            // Without it, segget sends `HEAD`.
            if name == "use-head" { return values != ["true"] }
            let isFlag = Aria2Option.named(name)?.value == .flag
            return values != [isFlag ? "false" : ""]
        }
        return options
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
    ///   - isOwn: Whether they are for programs of this user, who may know of its files.
    package init(
        of download: DownloadOptions, folder: String, name: String?, isOwn: Bool = false
    ) {
        self.init()
        func set(_ name: String, _ value: String?) {
            if let value { replace(name, with: value) }
        }
        set("dir", folder)
        set("out", name)
        set("continue", "true")
        for option in TransferOption.table where isOwn || option.places.contains(.rpc) {
            for name in option.names where name.surfaces.contains(.aria2) {
                let texts = name.texts(option, download)
                if !texts.isEmpty { values[name.text] = texts }
            }
        }
    }
}

extension TransferOption {
    /// The option's names in aria2.
    fileprivate var namesInAria2: [String] {
        names.filter { $0.surfaces.contains(.aria2) }.map(\.text)
    }
}
