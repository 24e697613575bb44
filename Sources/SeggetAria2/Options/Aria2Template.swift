/// Expands URLs with sets and ranges (`--parameterized-uri`): `{a,b}`, `[1-10]`, `[001-100:2]`,
/// `[a-z]`.
enum Aria2Template {
    /// The error in a pattern, with aria2's message.
    struct PatternError: Error {
        var text: String
    }

    /// The maximum number of URLs from one pattern, and from all patterns of a run.
    static let most = 1 << 16
    private static let largest: Int = 65_535

    /// Returns all URLs of a pattern; the rightmost set or range varies fastest.
    static func expanded(_ text: String) throws(PatternError) -> [String] {
        var results = [""]
        var rest = text.unicodeScalars[...]
        while !rest.isEmpty {
            let plain = rest.prefix { $0 != "{" && $0 != "[" }
            if !plain.isEmpty { results = results.map { $0 + String(plain) } }
            rest = rest[plain.endIndex...]
            guard let opening = rest.popFirst() else { break }
            let closing: Unicode.Scalar = opening == "{" ? "}" : "]"
            guard let end = rest.firstIndex(of: closing) else {
                throw PatternError(text: "Missing '\(closing)' in the parameterized string.")
            }
            let inside = String(rest[..<end])
            rest = rest[rest.index(after: end)...]
            // A descending range expands to nothing, so it is omitted.
            guard let choices = opening == "{" ? set(inside) : try range(inside) else { continue }
            guard results.count * choices.count <= most else {
                throw PatternError(text: "Loop range overflow.")
            }
            results = results.flatMap { start in choices.map { start + $0 } }
        }
        return results == [""] ? [] : results
    }

    private static func set(_ text: String) -> [String]? {
        text.split(separator: ",").map { Aria2Option.trimmed($0) }.filter { !$0.isEmpty }
    }

    private static func range(_ text: String) throws(PatternError) -> [String]? {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        var step = 1
        if parts.count > 1 {
            guard let number = Int(parts[1]), number > 0 else {
                throw PatternError(text: "A step count must be a positive number.")
            }
            guard number <= largest else { throw PatternError(text: "Loop step overflow.") }
            step = number
        }
        let ends = parts[0].split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { throw PatternError(text: "Loop range missing.") }
        let width = ends[0].utf8.count == ends[1].utf8.count ? ends[0].utf8.count : 0
        let alphabet: ClosedRange<UInt8>
        if ends.allSatisfy({ isMade($0, of: UInt8(ascii: "0")...UInt8(ascii: "9")) }) {
            alphabet = UInt8(ascii: "0")...UInt8(ascii: "9")
        } else if ends.allSatisfy({ isMade($0, of: UInt8(ascii: "a")...UInt8(ascii: "z")) }) {
            alphabet = UInt8(ascii: "a")...UInt8(ascii: "z")
        } else if ends.allSatisfy({ isMade($0, of: UInt8(ascii: "A")...UInt8(ascii: "Z")) }) {
            alphabet = UInt8(ascii: "A")...UInt8(ascii: "Z")
        } else {
            throw PatternError(text: "Invalid loop range.")
        }
        let (start, end) = (try number(ends[0], alphabet), try number(ends[1], alphabet))
        guard start <= end else { return nil }
        return stride(from: start, through: end, by: step).map { digits($0, alphabet, width) }
    }

    private static func isMade(_ text: Substring, of alphabet: ClosedRange<UInt8>) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(alphabet.contains)
    }

    private static func number(
        _ text: Substring, _ alphabet: ClosedRange<UInt8>
    ) throws(PatternError) -> Int {
        var number = 0
        for digit in text.utf8 {
            number = number * alphabet.count + Int(digit - alphabet.lowerBound)
            guard number <= largest else { throw PatternError(text: "Loop range overflow.") }
        }
        return number
    }

    private static func digits(_ number: Int, _ alphabet: ClosedRange<UInt8>, _ width: Int)
        -> String
    {
        var (rest, digits): (Int, [UInt8]) = (number, [])
        repeat {
            digits.append(alphabet.lowerBound + UInt8(rest % alphabet.count))
            rest /= alphabet.count
        } while rest > 0
        while digits.count < width { digits.append(alphabet.lowerBound) }
        return String(decoding: digits.reversed(), as: UTF8.self)
    }
}
