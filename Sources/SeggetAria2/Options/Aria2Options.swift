// Options: the options, configuration file and list of aria2c, and the download that they describe. This
// folder never starts a download.

import SeggetFormats
package import Segmenter

/// The given options of aria2 with their values.
///
/// All values are valid.
package struct Aria2Options: Sendable, Hashable {
    /// The values of each given option, by its long name; only options that accumulate (`header`)
    /// have several.
    internal(set) package var values: [String: [String]] = [:]
    /// The values from a configuration file or the environment, which have lower priority.
    private var inherited: [String: [String]] = [:]

    /// Creates an empty set of options.
    package init() {}

    /// The long names of the given options, sorted.
    package var names: [String] { values.keys.sorted() }

    /// Returns the last value of an option; `nil` if it is not given.
    package subscript(name: String) -> String? { all(name).last }

    /// Returns all values of an option.
    package func all(_ name: String) -> [String] { values[name] ?? inherited[name] ?? [] }

    /// Returns the value of a flag; `nil` if it is not given.
    package func flag(_ name: String) -> Bool? { self[name].map { $0 == "true" } }

    /// Returns the value of a number; `nil` if it is not given.
    package func number(_ name: String) -> Int64? { self[name].flatMap { Int64($0) } }

    /// Returns the value of a text; `nil` if it is empty or not given.
    package func text(_ name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Checks and stores a value.
    ///
    /// - Throws: `BadValue`, if the option does not take the value.
    mutating func take(
        _ option: Aria2Option, _ text: String, home: String
    ) throws(Aria2Option.BadValue) {
        let value = try option.value(of: text, home: home)
        values[option.name] = (option.addsUp ? all(option.name) : []) + [value]
    }

    /// Sets an option without a check of the value.
    package mutating func set(_ name: String, _ value: String) { values[name] = [value] }

    /// Adds a value to an option.
    mutating func add(_ name: String, _ value: String) { values[name, default: []].append(value) }

    /// Gives all present values a lower priority than all later ones.
    mutating func inherit() {
        inherited.merge(values) { _, new in new }
        values = [:]
    }

    /// Removes the given values of an option, but not the inherited ones.
    mutating func remove(_ name: String) { values[name] = nil }

    /// Replaces the given values of an option.
    mutating func replace(_ name: String, with value: String) { values[name] = [value] }

    /// Removes all values of an option.
    mutating func removeAll(_ name: String) {
        values[name] = nil
        inherited[name] = nil
    }

    /// Returns the common options with those of a list item in their place.
    package func replaced(by item: Aria2Options) -> Aria2Options {
        var options = self
        for (name, values) in item.values where Aria2Option.named(name)?.isForItems == true {
            options.values[name] = values
        }
        return options
    }
}

extension Aria2Options {
    /// Whether an existing file is compared with its digest before a download
    /// (`--check-integrity`).
    package var checksIntegrity: Bool { flag("check-integrity") ?? false }

    /// Whether that comparison is all that happens (`--hash-check-only`).
    package var onlyChecks: Bool { flag("hash-check-only") ?? false }

    /// Whether segget only checks that the file exists on the server (`--dry-run`).
    package var isDryRun: Bool { flag("dry-run") ?? false }

    /// Whether the session file also records completed downloads (`--force-save`).
    package var forceSave: Bool { flag("force-save") ?? false }

    /// Whether the session file records downloads that the server does not have
    /// (`--save-not-found`).
    package var saveNotFound: Bool { flag("save-not-found") ?? true }
}

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
