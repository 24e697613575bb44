/// A number of bytes as people write it: `1500`, `1.5M`, `20MiB`, `700MB`.
///
/// `K`, `M`, `G` and `T` are powers of 1024, as curl and wget have it, and so are `Ki` and `KiB` and
/// their like; `kB`, `MB`, `GB` and `TB` are powers of 1000. Case does not matter.
public struct Quantity: Equatable, Sendable {
    /// The number of bytes, 0 or more.
    public let bytes: Double

    /// Reads a number of bytes; `nil` for what is none, or does not fit into 62 bits.
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

    /// The number and, in small letters, what stands behind it.
    fileprivate static func split(_ text: String) -> (number: Double, unit: String)? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        // Two points, or no digit, are no number.
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

/// A rate as people write it: bytes per second as a ``Quantity``, or bits as `8Mbit`.
///
/// `bit`, `Kbit`, `Mbit` and `Gbit` are powers of 1000. `/s` may follow all of them. A small `b` at the
/// end, as in `3Mb`, is ambiguous: people use it for bits and for bytes.
public struct Rate: Equatable, Sendable {
    /// Bytes per second, 0 or more.
    public let bytesPerSecond: Double

    /// Reads a rate; `nil` for a text that is none, or an ambiguous one.
    public init?(_ text: String) {
        guard let rate = try? Rate(parsing: text) else { return nil }
        self = rate
    }

    /// Reads a rate.
    ///
    /// - Throws: ``RateSyntaxError`` for a text that is none, or an ambiguous one.
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

/// Why a text is not a rate.
#if hasAttribute(nonexhaustive)
    @nonexhaustive
#endif
public enum RateSyntaxError: Error, Sendable, Hashable {
    /// It is no number with a known unit.
    case malformed
    /// It can mean bytes or bits, such as `3Mb`; the texts are the rate in bytes, and in bits.
    case ambiguous(bytes: String, bits: String)
}

extension String {
    /// The number of characters before `index`.
    fileprivate func distance(to index: Index) -> Int { distance(from: startIndex, to: index) }
}
