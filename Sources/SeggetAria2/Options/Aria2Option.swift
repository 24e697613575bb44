import Glibc
import Segmenter

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

extension Aria2Option {
    /// The error for an invalid value, with aria2's message.
    struct BadValue: Error {
        var text: String
    }

    /// Returns a value in its stored form: sizes in bytes, flags as `true` or `false`.
    ///
    /// - Parameters:
    ///   - text: The given value; empty for none.
    ///   - home: The home folder.
    /// - Returns: The value.
    /// - Throws: `BadValue`, if the option does not take the value.
    func value(of text: String, home: String) throws(BadValue) -> String {
        switch value {
        case .flag:
            switch text {
            case "", "true": return "true"
            case "false": return "false"
            default: throw BadValue(text: "\(name) must be either 'true' or 'false'.")
            }
        case .number(let least, let most):
            guard let number = Int64(text) else { throw BadValue(text: "Bad number \(text)") }
            return try within(number, least, most)
        case .size(let least, let most):
            return try within(try Self.size(text), least, most)
        case .decimal(let least):
            // A text that is not a number counts as 0, as in aria2.
            guard strtod(text, nil) >= least else {
                throw BadValue(text: "\(name) must be greater than or equal to \(least).")
            }
        case .choice(let words):
            guard words.contains(text) else {
                let list = words.map { "'\($0)' " }.joined()
                throw BadValue(text: "\(name) must be one of the following:\(list)")
            }
        case .path:
            return text.replacing("${HOME}", with: home)
        case .checksum:
            guard Self.isDigest(text) else { throw BadValue(text: "Unrecognized checksum") }
        case .hostKey:
            let type = text.prefix { $0 != "=" }
            guard type == "sha-1" || type == "md5" else {
                throw BadValue(text: "Checksum type \(type) is not acceptable")
            }
            guard Self.isDigest(text) else { throw BadValue(text: "Unrecognized checksum") }
        case .proxy:
            return try Self.proxy(text)
        case .ranges(let least, let most):
            for part in text.split(separator: ",") { try check(range: part, least, most) }
        case .indexPath:
            let parts = text.split(separator: "=", maxSplits: 1).map(Self.trimmed)
            guard let index = parts.first, UInt32(index) != nil else {
                throw BadValue(text: "Bad path index")
            }
            guard parts.count == 2, !parts[1].isEmpty else {
                throw BadValue(text: "Path with index=\(index) is empty.")
            }
        case .hostPort:
            guard case .web = WebAddress("http://\(text)") else {
                throw BadValue(text: "Unrecognized format")
            }
        case .pieces:
            for part in text.split(separator: ",") {
                let words = part.split(separator: "=", maxSplits: 1).map(String.init)
                guard let word = words.first, word == "head" || word == "tail" else {
                    throw BadValue(text: "Unrecognized token \(part)")
                }
                if words.count > 1 { _ = try Self.size(words[1]) }
            }
        case .concurrency:
            return try concurrency(text)
        case .text where name == "rpc-secret" && text.isEmpty:
            throw BadValue(text: "Empty string is not allowed")
        case .text, .keyword, .nothing:
            break
        }
        return text
    }

    private func within(_ number: Int64, _ least: Int64, _ most: Int64?) throws(BadValue) -> String
    {
        guard number >= least, number <= most ?? .max else {
            let bounds =
                most.map { "between \(least) and \($0)" } ?? "greater than or equal to \(least)"
            throw BadValue(text: "\(name) must be \(bounds).")
        }
        return String(number)
    }

    private func check(range: Substring, _ least: Int64, _ most: Int64) throws(BadValue) {
        let ends = range.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard !ends.contains("") else {
            throw BadValue(text: "Incomplete range specified. \(range)")
        }
        for end in ends {
            guard let number = Int64(end) else { throw BadValue(text: "Bad range \(range)") }
            guard (least...most).contains(number) else {
                throw BadValue(text: "\(name) must be between \(least) and \(most).")
            }
        }
    }

    private func concurrency(_ text: String) throws(BadValue) -> String {
        if text.isEmpty || text == "true" { return "true" }
        if text == "false" { return text }
        let parts = text.split(separator: ":", maxSplits: 1)
        guard parts.count == 2 else {
            throw BadValue(
                text: "\(name) must be either 'true', 'false' or a pair numeric coefficients A and "
                    + "B under the form 'A:B'.")
        }
        for part in parts where Double(part) == nil {
            throw BadValue(text: "Bad number '\(part)'")
        }
        return "true"
    }

    /// Returns a number of bytes; text after `K` or `M` is ignored, as in aria2.
    private static func size(_ text: String) throws(BadValue) -> Int64 {
        let digits = text.prefix { !"KMkm".contains($0) }
        let factor: Int64 =
            switch text.dropFirst(digits.count).first {
            case "K", "k": 1 << 10
            case "M", "m": 1 << 20
            default: 1
            }
        guard let number = Int64(digits), number >= 0 else {
            throw BadValue(text: "Bad or negative value detected: \(text)")
        }
        let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: factor)
        guard !isTooLarge else {
            throw BadValue(text: "Failed to convert string into value: overflow/underflow")
        }
        return bytes
    }

    /// The number of hexadecimal digits of each digest that aria2 supports.
    private static let digits = [
        "sha-1": 40, "sha-224": 56, "sha-256": 64, "sha-384": 96, "sha-512": 128, "md5": 32,
        "adler32": 8,
    ]

    private static func isDigest(_ text: String) -> Bool {
        let parts = text.split(separator: "=", maxSplits: 1).map(trimmed)
        return parts.count == 2 && digits[parts[0].lowercased()] == parts[1].utf8.count
            && parts[1].utf8.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }

    /// Returns a proxy that aria2 accepts, or a SOCKS proxy, which only segget supports.
    ///
    /// aria2 uses plain HTTP with every proxy, whatever its scheme.
    private static func proxy(_ text: String) throws(BadValue) -> String {
        guard !text.isEmpty else { return text }
        var url = text
        for scheme in ["https://", "ftp://"] where text.hasPrefix(scheme) {
            url = "http://\(text.dropFirst(scheme.count))"
        }
        guard let proxy = WebAddress.proxy(url) else {
            throw BadValue(text: "unrecognized proxy format")
        }
        return proxy
    }

    /// Returns the text without white space at its ends.
    static func trimmed(_ text: some StringProtocol) -> String {
        let isSpace: (Unicode.Scalar) -> Bool = { " \t\r\n".unicodeScalars.contains($0) }
        let front = String(text).unicodeScalars.drop(while: isSpace)
        guard let last = front.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(front[...last])
    }
}
