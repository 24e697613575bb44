import Segmenter

/// Which values an option takes.
package enum OptionKind: Sendable, Hashable {
    /// `true` or `false`.
    case flag
    /// A whole number in a range.
    case integer(ClosedRange<Int>)
    /// A number of seconds in a range, fractions included.
    case seconds(ClosedRange<Double>)
    /// A number of bytes in a range.
    case bytes(ClosedRange<Int64>)
    /// Bytes per second; 0 is no limit.
    case rate
    /// A number of connections, as `ConnectionCount` reads it.
    case connections
    /// A digest with or without the name of its algorithm.
    case digest
    /// One of these words.
    case choice([String])
    /// A header, as `Name: value`; several add up.
    case headers
    /// A text that is not empty; the words say what it is.
    case text(String)
    /// Such texts, which add up.
    case texts(String)
    /// The path of a file on this machine.
    case path
    /// A user, with or without a password behind a colon.
    case credentials
    /// Up to three octal digits.
    case fileMode

    /// What the option takes, as the object of "takes".
    package var expected: String {
        switch self {
        case .flag: "`true` or `false`"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .seconds(let range):
            "\(Self.short(range.lowerBound)) to \(Self.short(range.upperBound)) seconds"
        case .bytes(let range) where range.upperBound < Self.mostBytes:
            "a number of bytes, \(range.lowerBound >> 10)K or more, up to \(range.upperBound >> 40)T"
        case .bytes: "a number of bytes, such as `1M` or `4GB`"
        case .rate:
            "a rate in bytes per second, such as `8M`, or in bits, such as `8Mbit`, or 0"
        case .connections: "1 to 64, `auto` or `auto:N`"
        case .digest: "ALGO=HEX, such as `sha-256=…`, or the hexadecimal digits alone"
        case .choice(let words):
            words.dropLast().map { "`\($0)`" }.joined(separator: ", ")
                + " or `\(words.last ?? "")`"
        case .headers: "`Name: value`"
        case .text(let words), .texts(let words): words
        case .path: "the path of a file, not a URL"
        case .credentials: "USER or USER:PASS"
        case .fileMode: "up to three octal digits, such as 022"
        }
    }

    /// More than any file has.
    package static let mostBytes: Int64 = 1 << 61

    /// Whether several values add up.
    package var addsUp: Bool {
        switch self {
        case .headers, .texts: true
        default: false
        }
    }

    private static func short(_ number: Double) -> String {
        number.rounded() == number ? "\(Int(number))" : "\(number)"
    }
}
