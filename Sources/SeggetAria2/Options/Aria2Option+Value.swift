import Glibc
import Segmenter

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
