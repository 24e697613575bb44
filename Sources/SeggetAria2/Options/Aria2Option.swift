/// An option of aria2: its syntax, its values, and how segget treats it.
package struct Aria2Option: Sendable {
    /// Whether an option has an argument.
    package enum Arity: Int32, Sendable {
        case none, required, optional
    }

    /// The values that an option takes.
    package enum Value: Sendable, Hashable {
        /// `true` or `false`; no value means `true`.
        case flag
        /// A whole number: the minimum, and the maximum if there is one.
        case number(Int64, Int64?)
        /// A number of bytes, optionally with `K` or `M`: the minimum, and the maximum if there is
        /// one.
        case size(Int64, Int64?)
        /// A decimal number with this minimum.
        case decimal(Double)
        /// One of these words.
        case choice([String])
        case text
        /// A path; `${HOME}` in it is the home folder.
        case path
        /// `TYPE=HEX`, a digest of a file.
        case checksum
        /// `TYPE=HEX`, a digest of a server's key.
        case hostKey
        /// The URL of a proxy; empty for none.
        case proxy
        /// Numbers and ranges of numbers within these bounds, separated by commas.
        case ranges(Int64, Int64)
        /// `INDEX=PATH`.
        case indexPath
        /// `HOST:PORT`.
        case hostPort
        /// `head[=SIZE],tail[=SIZE]`.
        case pieces
        /// `true`, `false` or `A:B`.
        case concurrency
        /// A tag or a word to search for, or nothing.
        case keyword
        case nothing
    }

    /// How segget treats an option.
    package enum Treatment: Sendable, Hashable {
        /// The option works as in aria2; the text is its help.
        case honoured(String)
        /// The option has no effect, for this reason.
        case accepted(String)
        /// The option has no effect, for this reason, and segget prints a warning.
        case warned(String)
        /// segget refuses the option, for this reason.
        case refused(String)
        /// The option starts the service; the text is its help.
        case service(String)
    }

    /// The long name, without dashes.
    package let name: String
    /// The short name.
    package let letter: Character?
    /// The placeholder of the value in aria2's help.
    package let placeholder: String
    /// The values that the option takes.
    package let value: Value
    /// Whether an item of a list can have the option; the session file then records it.
    package let isForItems: Bool
    /// Whether only a configuration file can have the option.
    package let isHidden: Bool
    /// How segget treats the option.
    package let treatment: Treatment

    init(
        _ name: String, _ letter: Character? = nil, as placeholder: String = "", takes value: Value,
        isForItems: Bool = false, isHidden: Bool = false, here treatment: Treatment
    ) {
        self.name = name
        self.letter = letter
        self.placeholder = value == .flag ? "true|false" : placeholder
        self.value = value
        self.isForItems = isForItems
        self.isHidden = isHidden
        self.treatment = treatment
    }

    /// Whether the option has an argument.
    package var arity: Arity {
        switch value {
        case .nothing: .none
        case .flag, .concurrency, .keyword: .optional
        default: .required
        }
    }

    /// Whether several values accumulate instead of replacing each other.
    package var addsUp: Bool { name == "header" || name == "index-out" }

    /// All options, in aria2's order.
    package static let table = files + http + torrents

    private static let places = Dictionary(
        uniqueKeysWithValues: table.enumerated().map { ($1.name, $0) })

    /// Returns the option with a name.
    package static func named(_ name: String) -> Aria2Option? { places[name].map { table[$0] } }

    /// The usage: `-s, --split=N`.
    package var usage: String {
        let text = letter.map { "-\($0), --\(name)" } ?? "--\(name)"
        switch arity {
        case .none: return text
        case .required: return "\(text)=\(placeholder)"
        case .optional: return "\(text)[=\(placeholder)]"
        }
    }
}
