// Options: the catalogue of the options of a download, a row for each. Lists, the drop-in for aria2, the queue and the
// service read their options by these rows; the command line is compared with them by a test. They know the
// names and the forms of values; they never know who asks.

package import Segmenter

/// An option of a download: what it is called, which values it takes, and who may set it.
///
/// Adding one takes a property of ``Segmenter/DownloadOptions`` with its stored key, and a row here.
package struct TransferOption: Sendable {
    /// Where an option can be set, beside the command line.
    package struct Places: OptionSet, Sendable, Hashable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The options of a file in a list, and `segget set --option`.
        package static let list = Places(rawValue: 1)
        /// The configuration file and the environment.
        package static let configuration = Places(rawValue: 2)
        /// The API over the user's own socket.
        package static let socket = Places(rawValue: 8)
        /// The API over TCP: nothing that names a file, a command or an interface of this machine, replaces a file, or
        /// weakens what is verified.
        package static let tcp = Places(rawValue: 16)
        /// aria2's RPC, under the option's name in aria2.
        package static let rpc = Places(rawValue: 32)

        /// The places for which the machine's user decides alone.
        package static let own: Places = [.list, .configuration, .socket]
        /// All places.
        package static let all: Places = [own, .tcp, .rpc]
    }

    /// When a changed value takes effect on a task.
    package enum Effect: Sendable, Hashable {
        /// At once: a running download starts again with it, and keeps its bytes.
        case atOnce
        /// When the task starts next.
        case nextStart
        /// Never: the value belongs to what the download has begun with.
        case never
    }

    /// The key under which the value is stored, with a dot between an object's key and its member's.
    package let key: String
    /// Which values it takes.
    package let kind: OptionKind
    /// One sentence about what it does.
    package let help: String
    /// Its names on the command line, in lists and in aria2.
    package private(set) var names: [OptionName] = []
    /// Where it can be set, beside the command line.
    package let places: Places
    /// When a changed value takes effect.
    package let effect: Effect
    /// Whether its value may be a secret.
    package let isSecret: Bool
    /// Stores a value given as text; `false`, with the options unchanged, where the option takes no such value.
    package let read: @Sendable (inout DownloadOptions, String) -> Bool
    /// The value as text that ``read`` takes; more than one where values add up, none for no value.
    package let texts: @Sendable (DownloadOptions) -> [String]

    /// Makes a row.
    init(
        _ key: String, _ kind: OptionKind, _ names: [OptionName], _ places: Places,
        _ effect: Effect = .atOnce, isSecret: Bool = false, help: String,
        read: @escaping @Sendable (inout DownloadOptions, String) -> Bool,
        texts: @escaping @Sendable (DownloadOptions) -> [String]
    ) {
        (self.key, self.kind, self.places, self.effect) = (key, kind, places, effect)
        (self.isSecret, self.help) = (isSecret, help)
        (self.read, self.texts) = (read, texts)
        self.names = names
    }

    /// All options of a download, in the order of their stored keys.
    package static let table = transfer + naming + access + limits + files

    private static let byKey = Dictionary(uniqueKeysWithValues: table.map { ($0.key, $0) })

    private static let byTypedName = Dictionary(
        uniqueKeysWithValues: table.flatMap { option in
            option.names.filter { $0.surfaces.contains(.commandLine) }.map {
                ($0.text, (option: option, name: $0))
            }
        })

    /// The option with a long name on the command line, and what the name means there.
    package static func typed(_ name: String) -> (option: TransferOption, name: OptionName)? {
        byTypedName[name]
    }

    /// The option that is stored under a key.
    package static subscript(key: String) -> TransferOption? { byKey[key] }

    /// The option with a long name on a surface, and what the name means there.
    package static func named(
        _ name: String, on surface: OptionName.Surfaces
    ) -> (option: TransferOption, name: OptionName)? {
        for option in table {
            if let found = option.names.first(where: {
                $0.text == name && !$0.surfaces.isDisjoint(with: surface)
            }) {
                return (option, found)
            }
        }
        return nil
    }

    /// Whether a value can be used: it is in range, and of the right form.
    package func accepts(_ options: DownloadOptions) -> Bool {
        var scratch = DownloadOptions()
        return texts(options).allSatisfy { read(&scratch, $0) }
    }

    /// The first option of some keys that has a value it does not take.
    package static func misused(
        _ keys: some Sequence<String>, in options: DownloadOptions
    ) -> TransferOption? {
        keys.lazy.compactMap { self[$0] }.first { !$0.accepts(options) }
    }
}

/// A name of an option, and what a value means under it.
package struct OptionName: Sendable {
    /// Where names are used.
    package struct Surfaces: OptionSet, Sendable, Hashable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// segget's command line, configuration file and environment.
        package static let commandLine = Surfaces(rawValue: 1)
        /// Lists of files.
        package static let list = Surfaces(rawValue: 2)
        /// aria2's command line, lists and RPC.
        package static let aria2 = Surfaces(rawValue: 4)
    }

    /// What a value means.
    package enum Meaning: Sendable {
        /// The option's own value.
        case value
        /// A flag that is on where the option is off.
        case opposite
        /// A value of another form.
        case other(
            OptionKind, read: @Sendable (inout DownloadOptions, String) -> Bool,
            texts: @Sendable (DownloadOptions) -> [String])
        /// A part of the value, or one that comes from a file descriptor: only the program that takes it knows the
        /// rest.
        case part
    }

    /// The name, without dashes.
    package let text: String
    /// Where it is used.
    package let surfaces: Surfaces
    /// What a value means.
    package let meaning: Meaning
    /// One sentence about what it does under this name; `nil` for that of the option.
    package let help: String?

    /// A name on the command line and in lists.
    static func own(
        _ text: String, _ meaning: Meaning = .value, help: String? = nil
    ) -> OptionName {
        OptionName(text: text, surfaces: [.commandLine, .list], meaning: meaning, help: help)
    }

    /// A name on the command line only.
    static func typed(
        _ text: String, _ meaning: Meaning = .value, help: String? = nil
    ) -> OptionName {
        OptionName(text: text, surfaces: .commandLine, meaning: meaning, help: help)
    }

    /// A name in lists only.
    static func list(_ text: String, _ meaning: Meaning = .value) -> OptionName {
        OptionName(text: text, surfaces: .list, meaning: meaning, help: nil)
    }

    /// A name in aria2, which lists know too.
    static func aria2(_ text: String, _ meaning: Meaning = .value) -> OptionName {
        OptionName(text: text, surfaces: [.list, .aria2], meaning: meaning, help: nil)
    }

    /// A name in aria2 that lists do not know.
    static func onlyAria2(_ text: String, _ meaning: Meaning = .value) -> OptionName {
        OptionName(text: text, surfaces: .aria2, meaning: meaning, help: nil)
    }

    /// The same name on all surfaces.
    static func everywhere(_ text: String, _ meaning: Meaning = .value) -> OptionName {
        OptionName(
            text: text, surfaces: [.commandLine, .list, .aria2], meaning: meaning, help: nil)
    }

    /// Stores a value of an option that has this name.
    ///
    /// - Returns: `false`, with the options unchanged, where the option takes no such value under this name.
    package func read(
        _ option: TransferOption, _ options: inout DownloadOptions, _ value: String
    ) -> Bool {
        switch meaning {
        case .value: return option.read(&options, value)
        case .opposite:
            guard let isOn = Bool(value) else { return false }
            return option.read(&options, "\(!isOn)")
        case .other(_, let read, _): return read(&options, value)
        case .part: return false
        }
    }

    /// The value of an option under this name; none where it has no value, or is not shown under it.
    package func texts(_ option: TransferOption, _ options: DownloadOptions) -> [String] {
        switch meaning {
        case .value: option.texts(options)
        case .opposite: option.texts(options).compactMap { Bool($0) }.map { "\(!$0)" }
        case .other(_, _, let texts): texts(options)
        case .part: []
        }
    }

    /// Which values an option takes under this name.
    package func kind(of option: TransferOption) -> OptionKind {
        if case .other(let kind, _, _) = meaning { kind } else { option.kind }
    }
}
