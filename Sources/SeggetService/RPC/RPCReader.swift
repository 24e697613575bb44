import FoundationEssentials

/// Reads a text of JSON as RFC 8259 has it: what that does not allow, such as a comma at the end of a list, is refused.
///
/// It is read once, byte by byte, and not deeper than `RPCValue.mostLevels`.
struct RPCReader {
    /// The text is no JSON, or is nested too deeply.
    private struct Refused: Error {}

    /// The text, and a 0 behind it, which no value begins or goes on with.
    private let text: [UInt8]
    private var place = 0

    private init(_ text: Data) { self.text = Array(text) + [0] }

    /// The value that a text is.
    ///
    /// - Returns: The value; `nil` where it is none, is not in UTF-8, or is nested too deeply. Of members of the same
    ///   name the last one counts.
    static func value(of text: Data) -> RPCValue? {
        guard String(validating: text, as: UTF8.self) != nil else { return nil }
        var reader = RPCReader(text)
        guard let value = try? reader.value(0) else { return nil }
        return reader.place == text.count ? value : nil
    }

    /// Reads a value and the space around it.
    ///
    /// - Parameter level: In how many lists and objects it stands.
    private mutating func value(_ level: Int) throws(Refused) -> RPCValue {
        guard level < RPCValue.mostLevels else { throw Refused() }
        skipSpace()
        let value: RPCValue
        switch next {
        case "{": value = .object(try members(level))
        case "[": value = .array(try elements(level))
        case "\"": value = .string(try string())
        case "t": value = try word("true", .bool(true))
        case "f": value = try word("false", .bool(false))
        case "n": value = try word("null", .null)
        default: value = .number(try number())
        }
        skipSpace()
        return value
    }

    private mutating func elements(_ level: Int) throws(Refused) -> [RPCValue] {
        place += 1
        skipSpace()
        var values: [RPCValue] = []
        guard !take("]") else { return values }
        repeat { values.append(try value(level + 1)) } while take(",")
        try need("]")
        return values
    }

    private mutating func members(_ level: Int) throws(Refused) -> [String: RPCValue] {
        place += 1
        skipSpace()
        var members: [String: RPCValue] = [:]
        guard !take("}") else { return members }
        repeat {
            skipSpace()
            let name = try string()
            skipSpace()
            try need(":")
            members[name] = try value(level + 1)
        } while take(",")
        try need("}")
        return members
    }

    private mutating func word(_ word: String, _ value: RPCValue) throws(Refused) -> RPCValue {
        guard text[place...].starts(with: word.utf8) else { throw Refused() }
        place += word.utf8.count
        return value
    }

    /// Reads a number (RFC 8259 §6), and gives its text.
    private mutating func number() throws(Refused) -> String {
        let start = place
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") { try digits() }
        if take("e") || take("E") {
            _ = take("+") || take("-")
            try digits()
        }
        return String(decoding: text[start..<place], as: UTF8.self)
    }

    private mutating func digits() throws(Refused) {
        guard ("0"..."9").contains(next) else { throw Refused() }
        while ("0"..."9").contains(next) { place += 1 }
    }

    /// Reads a string (RFC 8259 §7).
    private mutating func string() throws(Refused) -> String {
        try need("\"")
        var string: [UInt8] = []
        while !take("\"") {
            guard next >= " " else { throw Refused() }
            if take("\\") {
                string += String(try escaped()).utf8
            } else {
                string.append(text[place])
                place += 1
            }
        }
        return String(decoding: string, as: UTF8.self)
    }

    /// Reads what stands behind a backslash.
    private mutating func escaped() throws(Refused) -> Unicode.Scalar {
        let character = next
        place += 1
        switch character {
        case "\"", "\\", "/": return character
        case "b": return "\u{8}"
        case "f": return "\u{c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u": break
        default: throw Refused()
        }
        let unit = try fourDigits()
        guard UTF16.isLeadSurrogate(unit) else {
            // The second half of a pair alone is no character.
            guard let scalar = Unicode.Scalar(unit) else { throw Refused() }
            return scalar
        }
        try need("\\")
        try need("u")
        let second = try fourDigits()
        guard UTF16.isTrailSurrogate(second),
            let scalar = Unicode.Scalar(
                0x10000 + (UInt32(unit) & 0x3ff) << 10 + UInt32(second) & 0x3ff)
        else { throw Refused() }
        return scalar
    }

    private mutating func fourDigits() throws(Refused) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = Character(next).hexDigitValue else { throw Refused() }
            unit = unit << 4 | UInt16(digit)
            place += 1
        }
        return unit
    }

    // MARK: Bytes

    /// The byte that comes next; what is no ASCII stands in strings only, and is not looked at as a character.
    private var next: Unicode.Scalar { Unicode.Scalar(text[place]) }

    /// Takes the next byte if it is a character.
    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard next == character else { return false }
        place += 1
        return true
    }

    private mutating func need(_ character: Unicode.Scalar) throws(Refused) {
        guard take(character) else { throw Refused() }
    }

    private mutating func skipSpace() {
        while next == " " || next == "\n" || next == "\r" || next == "\t" { place += 1 }
    }
}
