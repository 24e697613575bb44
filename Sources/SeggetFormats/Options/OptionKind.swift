import Segmenter

/// The values that an option takes.
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
    /// A number of connections, as `ConnectionCount` parses it.
    case connections
    /// A digest with or without the name of its algorithm.
    case digest
    /// One of these words.
    case choice([String])
    /// A header, as `Name: value`; several values accumulate.
    case headers
    /// A text that is not empty; the associated value describes it.
    case text(String)
    /// Like `text`; several values accumulate.
    case texts(String)
    /// The path of a file on this machine.
    case path
    /// A user name, with or without a password after a colon.
    case credentials
    /// Up to three octal digits.
    case fileMode

    /// The accepted values, to follow "takes" in a message.
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

    /// The maximum number of bytes, more than any file has.
    package static let mostBytes: Int64 = 1 << 61

    /// Whether several values accumulate.
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
