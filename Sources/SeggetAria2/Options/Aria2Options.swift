// Options: the options, configuration file and list of aria2c, and the download that they describe. This
// folder never starts a download.

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
