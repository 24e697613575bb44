package import Segmenter
import SeggetFormats

/// The options that clients send and receive over aria2's JSON-RPC.
extension Aria2Option {
    /// The error for a client's invalid value.
    package struct Refused: Error {
        /// The option's long name.
        package var name: String
    }

    /// The options that clients may set for a task.
    ///
    /// This is an allow-list. No option on it names a command or a file of this machine, except
    /// `dir` and `out`, which are checked where they are used. Other options are ignored, because
    /// clients send back whole maps of options.
    package static let forClients: Set<String> = Set(
        TransferOption.table.filter { $0.places.contains(.rpc) }.flatMap(\.namesInAria2)
    ).union(together).union(atStart).union(["dir", "out"])

    /// The options that apply at the start of a task and cannot be changed later.
    private static let atStart: Set = ["continue", "gid", "parameterized-uri", "pause"]

    /// The options that determine a property of a download together with other options.
    private static let together: Set = [
        "all-proxy-passwd", "all-proxy-user", "http-no-cache", "http-proxy", "http-proxy-passwd",
        "http-proxy-user", "https-proxy", "https-proxy-passwd", "https-proxy-user",
    ]

    /// Returns whether a client can change the option of an existing task.
    ///
    /// - Parameter isOwn: Whether the client is a program of this user. Other clients cannot
    ///   replace files.
    /// - Returns: `nil` if the option has no effect in segget.
    package func canChange(isOwn: Bool) -> Bool? {
        if Self.atStart.contains(name) { return false }
        if case .accepted = treatment { return nil }
        if Self.together.contains(name) || ["dir", "out"].contains(name) { return true }
        guard let option = TransferOption.named(name, on: .aria2)?.option else { return false }
        return option.effect != .never && (isOwn || option.places.contains(.tcp))
    }

    /// The options that clients may set for the queue.
    package static let forQueues: Set = ["max-concurrent-downloads", "max-overall-download-limit"]

    /// The options that programs of this user may set for a task.
    ///
    /// No option for one file names a command.
    package static let forOwnClients = Set(table.filter(\.isForItems).map(\.name)).union([
        "gid", "pause",
    ])

    /// The options that programs of this user may set for the queue.
    package static let forOwnQueues = forQueues.union(["save-session"])

    /// The options whose values are always secret.
    private static let secret: Set = [
        "all-proxy-passwd", "http-passwd", "http-proxy-passwd", "https-proxy-passwd",
    ]

    /// The request headers whose values are secret, in lower case.
    private static let secretHeaders: Set = ["authorization", "cookie", "proxy-authorization"]

    /// Returns a value without secrets; `nil` if nothing remains.
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
    /// Stores a client's values of an option; ignores options that are not allowed.
    ///
    /// - Parameters:
    ///   - name: The option's long name.
    ///   - values: The values; only `header` has several.
    ///   - allowed: The names of the allowed options.
    /// - Throws: `Aria2Option.Refused`, if the option does not take a value.
    package mutating func take(
        client name: String, _ values: [String], allowed: Set<String> = Aria2Option.forClients
    ) throws(Aria2Option.Refused) {
        guard allowed.contains(name), let option = Aria2Option.named(name) else { return }
        if option.addsUp { remove(name) }
        for value in values {
            // `getOption` returns headers separated by line feeds, and clients send them back in
            // that form.
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

    /// The values for clients: headers separated by line feeds, without secrets.
    package var shown: [String: String] {
        var result: [String: String] = [:]
        for (name, values) in values {
            let kept = values.compactMap { Aria2Option.shown(name, $0) }
            guard let last = kept.last else { continue }
            result[name] = name == "header" ? kept.map { $0 + "\n" }.joined() : last
        }
        return result
    }

    /// Returns the options whose values differ from those in `present`.
    ///
    /// An option that `present` lacks counts as `false` for a flag, and as empty for others.
    package func changes(from present: Aria2Options) -> Aria2Options {
        var options = self
        options.values = values.filter { name, values in
            let old = present.all(name)
            guard old.isEmpty else { return old != values }
            // The default of `use-head` is `true`.
            if name == "use-head" { return values != ["true"] }
            let isFlag = Aria2Option.named(name)?.value == .flag
            return values != [isFlag ? "false" : ""]
        }
        return options
    }

    /// Returns the options without those that `others` has with the same values.
    package func differences(from others: Aria2Options) -> Aria2Options {
        var options = self
        options.values = values.filter { others.all($0.key) != $0.value }
        return options
    }

    /// Creates the aria2 options that correspond to a download's options.
    ///
    /// - Parameters:
    ///   - download: The download's options.
    ///   - folder: The path of the folder.
    ///   - name: The given name of the file; `nil` for none.
    ///   - isOwn: Whether the options are for programs of this user, which may see its files'
    ///     paths.
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
    /// The names of the option in aria2.
    fileprivate var namesInAria2: [String] {
        names.filter { $0.surfaces.contains(.aria2) }.map(\.text)
    }
}
