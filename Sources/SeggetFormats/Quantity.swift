/// A number of bytes with an optional unit: `1500`, `1.5M`, `20MiB`, `700MB`.
///
/// `K`, `M`, `G` and `T` are powers of 1024, as in curl and wget, with or without `i` or `iB`
/// after them. `kB`, `MB`, `GB` and `TB` are powers of 1000. Case does not matter.
public struct Quantity: Equatable, Sendable {
    /// The number of bytes, 0 or more.
    public let bytes: Double

    /// Parses a number of bytes; `nil` if it is malformed or does not fit into 62 bits.
    public init?(_ text: String) {
        guard let (number, unit) = Self.split(text), let factor = Self.factor(of: unit) else {
            return nil
        }
        self.init(number * factor)
    }

    fileprivate init?(_ bytes: Double) {
        guard bytes.isFinite, bytes < 0x1p62 else { return nil }
        self.bytes = bytes
    }

    /// Returns the number, and the unit in lower case.
    fileprivate static func split(_ text: String) -> (number: Double, unit: String)? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        // A text with two points or without a digit is not a number.
        guard digits.contains(where: \.isNumber), let number = Double(digits) else { return nil }
        var unit = text.dropFirst(digits.count)
        if unit.first == " " { unit.removeFirst() }
        return (number, unit.lowercased())
    }

    private static func factor(of unit: String) -> Double? {
        guard let prefix = unit.first, unit != "b" else {
            return unit.isEmpty || unit == "b" ? 1 : nil
        }
        guard let power = "kmgt".firstIndex(of: prefix).map({ "kmgt".distance(to: $0) }) else {
            return nil
        }
        switch unit.dropFirst() {
        case "", "i", "ib": return (0...power).reduce(1) { factor, _ in factor * 1024 }
        case "b": return (0...power).reduce(1) { factor, _ in factor * 1000 }
        default: return nil
        }
    }
}

/// A rate: bytes per second as a ``Quantity``, or bits per second as `8Mbit`.
///
/// `bit`, `Kbit`, `Mbit` and `Gbit` are powers of 1000. `/s` may follow any unit. A small `b` at
/// the end, as in `3Mb`, is ambiguous, because it can mean bits or bytes.
public struct Rate: Equatable, Sendable {
    /// Bytes per second, 0 or more.
    public let bytesPerSecond: Double

    /// Parses a rate; `nil` if it is malformed or ambiguous.
    public init?(_ text: String) {
        guard let rate = try? Rate(parsing: text) else { return nil }
        self = rate
    }

    /// Parses a rate.
    ///
    /// - Throws: ``RateSyntaxError``, if the text is malformed or ambiguous.
    public init(parsing text: String) throws(RateSyntaxError) {
        let text = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
        let bits = ["bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9]
        guard let (number, unit) = Quantity.split(text) else { throw .malformed }
        let factor = bits[unit]
        guard let quantity = factor.map({ Quantity(number * $0 / 8) }) ?? Quantity(text) else {
            throw .malformed
        }
        if factor == nil, text.hasSuffix("b") {
            let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
            let prefix = unit.first.flatMap { $0 == "b" ? nil : $0.uppercased() } ?? ""
            throw .ambiguous(bytes: digits + prefix, bits: "\(digits)\(prefix)bit")
        }
        bytesPerSecond = quantity.bytes
    }
}

/// An error in the text of a rate.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RateSyntaxError: Error, Sendable, Hashable {
    /// The text is not a number with a known unit.
    case malformed
    /// The text, such as `3Mb`, can mean bytes or bits; the values are unambiguous forms of both.
    case ambiguous(bytes: String, bits: String)
}

extension String {
    /// Returns the number of characters before `index`.
    fileprivate func distance(to index: Index) -> Int { distance(from: startIndex, to: index) }
}
