// Options: the catalogue of the options of a download, one row for each. Lists, the drop-in for
// aria2, the queue and the service parse options by these rows; a test compares the command line
// with them. A row never knows which of these parses its option.

package import Segmenter

/// An option of a download: its names, its values, and where it can be set.
///
/// A new option needs a property of ``Segmenter/DownloadOptions`` with its stored key, and a row
/// here.
package struct TransferOption: Sendable {
    /// The places where an option can be set, besides the command line.
    package struct Places: OptionSet, Sendable, Hashable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The options of a file in a list, and `segget set --option`.
        package static let list = Places(rawValue: 1)
        /// The configuration file and the environment.
        package static let configuration = Places(rawValue: 2)
        /// The API over the user's own socket.
        package static let socket = Places(rawValue: 8)
        /// The API over TCP.
        ///
        /// It excludes options that name a file, command or interface of this machine, replace a
        /// file, or weaken verification.
        package static let tcp = Places(rawValue: 16)
        /// aria2's RPC, under the option's name in aria2.
        package static let rpc = Places(rawValue: 32)

        /// The places that only the user of this machine controls.
        package static let own: Places = [.list, .configuration, .socket]
        /// All places.
        package static let all: Places = [own, .tcp, .rpc]
    }

    /// When a changed value takes effect on a task.
    package enum Effect: Sendable, Hashable {
        /// Immediately: an active download restarts with the value, and keeps its bytes.
        case atOnce
        /// At the next start of the task.
        case nextStart
        /// Never: the value is fixed from the start of the download.
        case never
    }

    /// The key under which the value is stored, with a dot between an object's key and its member's.
    package let key: String
    /// The values that the option takes.
    package let kind: OptionKind
    /// The help: one sentence.
    package let help: String
    /// The names on the command line, in lists and in aria2.
    package private(set) var names: [OptionName] = []
    /// The places where the option can be set, besides the command line.
    package let places: Places
    /// When a changed value takes effect.
    package let effect: Effect
    /// Whether the value may be a secret.
    package let isSecret: Bool
    /// Parses and stores a value; returns `false`, with the options unchanged, if the option does
    /// not take it.
    package let read: @Sendable (inout DownloadOptions, String) -> Bool
    /// Returns the value as text for ``read``: several if values accumulate, none if there is no
    /// value.
    package let texts: @Sendable (DownloadOptions) -> [String]

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

    /// Returns the option with a long name on the command line, and the name with its meaning.
    package static func typed(_ name: String) -> (option: TransferOption, name: OptionName)? {
        byTypedName[name]
    }

    /// Returns the option that is stored under a key.
    package static subscript(key: String) -> TransferOption? { byKey[key] }

    /// Returns the option with a long name on a surface, and the name with its meaning.
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

    /// Returns whether the value in `options` is in range and well-formed.
    package func accepts(_ options: DownloadOptions) -> Bool {
        var scratch = DownloadOptions()
        return texts(options).allSatisfy { read(&scratch, $0) }
    }

    /// Returns the first option of `keys` that has an invalid value.
    package static func misused(
        _ keys: some Sequence<String>, in options: DownloadOptions
    ) -> TransferOption? {
        keys.lazy.compactMap { self[$0] }.first { !$0.accepts(options) }
    }
}

/// A name of an option, and the meaning of a value under this name.
package struct OptionName: Sendable {
    /// The surfaces that use a name.
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

    /// The meaning of a value.
    package enum Meaning: Sendable {
        /// The option's value.
        case value
        /// A flag with the opposite value of the option.
        case opposite
        /// A value in another form.
        case other(
            OptionKind, read: @Sendable (inout DownloadOptions, String) -> Bool,
            texts: @Sendable (DownloadOptions) -> [String])
        /// A part of the value, or a value from a file descriptor. Only the program that parses
        /// the option has the rest.
        case part
    }

    /// The name, without dashes.
    package let text: String
    /// The surfaces that use the name.
    package let surfaces: Surfaces
    /// The meaning of a value under this name.
    package let meaning: Meaning
    /// The help for this name: one sentence; `nil` to use that of the option.
    package let help: String?

    /// Creates a name on the command line and in lists.
    static func own(
        _ text: String, _ meaning: Meaning = .value, help: String? = nil
    ) -> OptionName {
        OptionName(text: text, surfaces: [.commandLine, .list], meaning: meaning, help: help)
    }

    /// Creates a name on the command line only.
    static func typed(
        _ text: String, _ meaning: Meaning = .value, help: String? = nil
    ) -> OptionName {
        OptionName(text: text, surfaces: .commandLine, meaning: meaning, help: help)
    }

    /// Creates a name in lists only.
    static func list(_ text: String, _ meaning: Meaning = .value) -> OptionName {
        OptionName(text: text, surfaces: .list, meaning: meaning, help: nil)
    }

    /// Creates a name in aria2 that is also valid in lists.
    static func aria2(_ text: String, _ meaning: Meaning = .value) -> OptionName {
        OptionName(text: text, surfaces: [.list, .aria2], meaning: meaning, help: nil)
    }

    /// Creates a name in aria2 that is not valid in lists.
    static func onlyAria2(_ text: String, _ meaning: Meaning = .value) -> OptionName {
        OptionName(text: text, surfaces: .aria2, meaning: meaning, help: nil)
    }

    /// Creates a name on all surfaces.
    static func everywhere(_ text: String, _ meaning: Meaning = .value) -> OptionName {
        OptionName(
            text: text, surfaces: [.commandLine, .list, .aria2], meaning: meaning, help: nil)
    }

    /// Parses and stores a value of the option under this name.
    ///
    /// - Returns: `false`, with the options unchanged, if the option does not take the value under
    ///   this name.
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

    /// Returns the value of the option under this name; empty if it has none, or is not shown
    /// under this name.
    package func texts(_ option: TransferOption, _ options: DownloadOptions) -> [String] {
        switch meaning {
        case .value: option.texts(options)
        case .opposite: option.texts(options).compactMap { Bool($0) }.map { "\(!$0)" }
        case .other(_, _, let texts): texts(options)
        case .part: []
        }
    }

    /// Returns the values that the option takes under this name.
    package func kind(of option: TransferOption) -> OptionKind {
        if case .other(let kind, _, _) = meaning { kind } else { option.kind }
    }
}
