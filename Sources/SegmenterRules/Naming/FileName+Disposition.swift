import struct FoundationEssentials.Data

// Reads the name in a `Content-Disposition` field in the same way as Chromium.
extension FileName {
    /// Returns the file name in a `Content-Disposition` value (RFC 6266 §4.3).
    ///
    /// `filename*` has precedence over `filename`. Like browsers, the parser accepts more than the
    /// RFC. The type may be missing, and `filename` may be percent-encoded or consist of encoded
    /// words (RFC 2047). Characters that are invalid on other systems become `_`. A name with an
    /// invalid encoding is ignored.
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

    /// Replaces characters that are invalid on Windows and its file systems by `_`, and tabs by
    /// spaces.
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

    /// Decodes a `filename`: percent-encoded, encoded words or plain; `nil` if the encoding is
    /// invalid.
    private static func decodedPlain(_ value: String) -> String? {
        value.utf8.allSatisfy { $0 < 0x80 }
            ? decodedWords(value) ?? percentDecodedText(value) : value
    }

    /// Decodes encoded words, `=?charset?encoding?text?=` (RFC 2047 §2), in UTF-8 or ISO-8859-1.
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

    /// Decodes `charset'language'percent-encoded` (RFC 8187 §3.2) in UTF-8 or ISO-8859-1.
    ///
    /// For other character sets, the system would load a converter that the server chooses.
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

    /// Returns the `name=value` parameters, with lowercase names and without quotes.
    ///
    /// The type at the start is skipped, and may be missing.
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

    /// Removes a quoted-string (RFC 9110 §5.6.4) from the start and returns its content.
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
