/// An option of aria2's: how it is written, what it takes, and what becomes of it here.
package struct Aria2Option: Sendable {
    /// Whether an option has an argument.
    package enum Arity: Int32, Sendable {
        case none, required, optional
    }

    /// What an option takes.
    package enum Value: Sendable, Hashable {
        /// `true` or `false`; with nothing it is `true`.
        case flag
        /// A whole number of at least the first, at most the second.
        case number(Int64, Int64?)
        /// Bytes, where `K` and `M` may stand behind the number, within bounds.
        case size(Int64, Int64?)
        /// A number with a fraction, of at least this.
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
        /// Numbers and ranges of numbers between these, separated by commas.
        case ranges(Int64, Int64)
        /// `INDEX=PATH`.
        case indexPath
        /// `HOST:PORT`.
        case hostPort
        /// `head[=SIZE],tail[=SIZE]`.
        case pieces
        /// `true`, `false` or `A:B`.
        case concurrency
        /// A tag or a word to look for, or nothing.
        case keyword
        case nothing
    }

    /// What becomes of an option.
    package enum Treatment: Sendable, Hashable {
        /// It does what it does in aria2: this.
        case honoured(String)
        /// It changes nothing, for this reason.
        case accepted(String)
        /// It changes nothing, and whoever gives it is told so.
        case warned(String)
        /// It asks for what segget does not do.
        case refused(String)
        /// It asks for the service: this.
        case service(String)
    }

    /// The long name, without dashes.
    package let name: String
    /// The short name.
    package let letter: Character?
    /// What it takes, in a word, as aria2's help has it.
    package let placeholder: String
    /// What it takes.
    package let value: Value
    /// Whether one item of a list can have it, and the session file says it.
    package let isForItems: Bool
    /// Whether only a configuration file can have it.
    package let isHidden: Bool
    /// What becomes of it.
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

    /// Whether it has an argument.
    package var arity: Arity {
        switch value {
        case .nothing: .none
        case .flag, .concurrency, .keyword: .optional
        default: .required
        }
    }

    /// Whether its values add up, rather than replace one another.
    package var addsUp: Bool { name == "header" || name == "index-out" }

    /// All options, in aria2's order.
    package static let table = files + http + torrents

    private static let places = Dictionary(
        uniqueKeysWithValues: table.enumerated().map { ($1.name, $0) })

    /// The option with a name.
    package static func named(_ name: String) -> Aria2Option? { places[name].map { table[$0] } }

    /// How it is written: `-s, --split=N`.
    package var usage: String {
        let text = letter.map { "-\($0), --\(name)" } ?? "--\(name)"
        switch arity {
        case .none: return text
        case .required: return "\(text)=\(placeholder)"
        case .optional: return "\(text)[=\(placeholder)]"
        }
    }
}
