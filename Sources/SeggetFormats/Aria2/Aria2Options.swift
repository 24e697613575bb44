/// Options of aria2's with their values, as they were given.
///
/// All values are ones that the option takes.
package struct Aria2Options: Sendable, Hashable {
    /// The values of each option that was given, by its long name; more than one only where the option
    /// adds up (`header`).
    internal(set) package var values: [String: [String]] = [:]
    /// The same of what a configuration file or the environment says, which comes after those.
    private var inherited: [String: [String]] = [:]

    /// Makes no options.
    package init() {}

    /// The long names of the options that were given, in order.
    package var names: [String] { values.keys.sorted() }

    /// The value of an option; the last one where it adds up, `nil` where it is not given.
    package subscript(name: String) -> String? { all(name).last }

    /// All values of an option.
    package func all(_ name: String) -> [String] { values[name] ?? inherited[name] ?? [] }

    /// A flag; `nil` where it is not given.
    package func flag(_ name: String) -> Bool? { self[name].map { $0 == "true" } }

    /// A number; `nil` where it is not given.
    package func number(_ name: String) -> Int64? { self[name].flatMap { Int64($0) } }

    /// A text that is not empty.
    package func text(_ name: String) -> String? {
        self[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Takes a value.
    ///
    /// - Throws: `BadValue`.
    mutating func take(
        _ option: Aria2Option, _ text: String, home: String
    ) throws(Aria2Option.BadValue) {
        let value = try option.value(of: text, home: home)
        values[option.name] = (option.addsUp ? all(option.name) : []) + [value]
    }

    /// Sets an option, whatever it takes.
    package mutating func set(_ name: String, _ value: String) { values[name] = [value] }

    /// Adds a value to those of an option.
    mutating func add(_ name: String, _ value: String) { values[name, default: []].append(value) }

    /// Makes all that was given until now what comes after all that is given from now on.
    mutating func inherit() {
        inherited.merge(values) { _, new in new }
        values = [:]
    }

    /// Forgets what was given for an option, but not what it inherits.
    mutating func remove(_ name: String) { values[name] = nil }

    /// Puts a value in place of what was given for an option.
    mutating func replace(_ name: String, with value: String) { values[name] = [value] }

    /// Forgets an option.
    mutating func removeAll(_ name: String) {
        values[name] = nil
        inherited[name] = nil
    }

    /// Puts what an item of a list says of itself in place of what holds for all.
    package func replaced(by item: Aria2Options) -> Aria2Options {
        var options = self
        for (name, values) in item.values where Aria2Option.named(name)?.isForItems == true {
            options.values[name] = values
        }
        return options
    }
}

extension Aria2Options {
    /// Whether a file that is there is compared with its digest before anything is fetched
    /// (`--check-integrity`).
    package var checksIntegrity: Bool { flag("check-integrity") ?? false }

    /// Whether nothing but that is done (`--hash-check-only`).
    package var onlyChecks: Bool { flag("hash-check-only") ?? false }

    /// Whether the server is only asked (`--dry-run`).
    package var isDryRun: Bool { flag("dry-run") ?? false }

    /// Whether the session file gets what is done too (`--force-save`).
    package var forceSave: Bool { flag("force-save") ?? false }

    /// Whether the session file gets what the server does not have (`--save-not-found`).
    package var saveNotFound: Bool { flag("save-not-found") ?? true }
}
