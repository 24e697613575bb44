import FoundationEssentials

// The name in a `Content-Disposition` field, read as Chromium reads it.
extension FileName {
    /// The file name in a `Content-Disposition` value (RFC 6266 §4.3): `filename*` before `filename`.
    ///
    /// Beyond the RFC, as servers send it and browsers read it: the type may be missing, `filename` may be
    /// percent-encoded or made of encoded words (RFC 2047), and characters that other systems allow in no name become
    /// `_`. A name that is encoded wrongly is none.
    static func fromDisposition(_ value: String) -> String? {
        var plain: String?
        var extended: String?
        for (name, value) in parameters(of: value) {
            switch name {
            case "filename": plain = plain ?? decodedPlain(value)
            case "filename*": extended = extended ?? decodedExtended(value)
            default: break
            }
        }
        return (extended ?? plain).map(portable)
    }

    /// With `_` for what Windows and its file systems allow in no name, and blanks for tabs.
    private static func portable(_ name: String) -> String {
        String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    switch scalar {
                    case "\t": " "
                    case "\"", "*", ":", "<", ">", "?", "|": "_"
                    default: scalar
                    }
                }))
    }

    /// A `filename`: percent-encoded, encoded words, or as it is; `nil` where what is encoded is no text.
    private static func decodedPlain(_ value: String) -> String? {
        value.utf8.allSatisfy { $0 < 0x80 }
            ? decodedWords(value) ?? percentDecodedText(value) : value
    }

    /// A text that is made of encoded words, `=?charset?encoding?text?=` (RFC 2047 §2), in UTF-8 or ISO-8859-1.
    ///
    /// - Returns: `nil` for any other text.
    private static func decodedWords(_ text: String) -> String? {
        let words = text.split(separator: " ")
        guard !words.isEmpty else { return nil }
        var result = ""
        for word in words {
            guard word.hasPrefix("=?"), word.hasSuffix("?="), word.utf8.count > 4 else {
                return nil
            }
            let parts = word.dropFirst(2).dropLast(2).split(
                separator: "?", omittingEmptySubsequences: false)
            guard parts.count == 3 else { return nil }
            let bytes: [UInt8]?
            switch parts[1].lowercased() {
            case "b": bytes = Data(base64Encoded: String(parts[2])).map(Array.init)
            case "q":
                let percent = parts[2].replacing("%", with: "%25").replacing("=", with: "%")
                    .replacing("_", with: " ")
                bytes = percentDecodedBytes(String(percent))
            default: bytes = nil
            }
            guard let bytes, let text = Self.text(bytes, parts[0]) else { return nil }
            result += text
        }
        return result
    }

    /// `charset'language'percent-encoded` (RFC 8187 §3.2); UTF-8 and ISO-8859-1.
    ///
    /// Other character sets would have the system load a converter that the server names.
    private static func decodedExtended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[2].isEmpty else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return percentDecodedText(String(parts[2]))
        case "iso-8859-1": return latin1Decoded(parts[2])
        default: return nil
        }
    }

    private static func text(_ bytes: [UInt8], _ charset: Substring) -> String? {
        switch charset.lowercased() {
        case "utf-8": String(validating: bytes, as: UTF8.self)
        case "iso-8859-1", "us-ascii":
            String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: nil
        }
    }

    private static func latin1Decoded(_ text: Substring) -> String? {
        var result = String.UnicodeScalarView()
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                result.append(Unicode.Scalar(byte))
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, digits.allSatisfy(\.isHexDigit),
                let code = UInt8(digits, radix: 16)
            else { return nil }
            result.append(Unicode.Scalar(code))
            rest = rest.dropFirst(2)
        }
        return String(result)
    }

    /// The `name=value` parameters, names in lower case, quotes undone; the type in front is not one of them, and may be
    /// missing.
    private static func parameters(of value: String) -> [(String, String)] {
        var result: [(String, String)] = []
        var rest = Substring(";" + value)
        while let semicolon = rest.firstIndex(of: ";") {
            rest = rest[rest.index(after: semicolon)...].drop { $0 == " " || $0 == "\t" }
            guard let equals = rest.firstIndex(where: { $0 == "=" || $0 == ";" }),
                rest[equals] == "="
            else { continue }
            let name = rest[..<equals].lowercased().filter { $0 != " " && $0 != "\t" }
            rest = rest[rest.index(after: equals)...].drop { $0 == " " || $0 == "\t" }
            if rest.first == "\"" {
                result.append((name, takeQuoted(&rest)))
            } else {
                let token = rest.prefix { $0 != ";" }
                rest = rest[token.endIndex...]
                result.append((name, String(token.reversed().drop { $0 == " " }.reversed())))
            }
        }
        return result
    }

    /// Takes a quoted-string (RFC 9110 §5.6.4) from the front.
    private static func takeQuoted(_ rest: inout Substring) -> String {
        var text = ""
        rest.removeFirst()
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\" else {
                text.append(character)
                continue
            }
            if let escaped = rest.popFirst() { text.append(escaped) }
        }
        return text
    }
}
