/// Makes external text safe to print on a terminal.
///
/// Names, header values and messages come from servers. Control characters in them could move the
/// cursor or change what earlier lines seem to say, so each becomes a visible `\u{1b}`.
public enum PrintableText {
    /// Returns the text with every control character escaped.
    public static func escape(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if isUnsafe(scalar) {
                result += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns the escaped text, truncated to `columns` with an ellipsis; in ASCII if `unicode` is
    /// false.
    public static func fit(_ text: String, columns: Int, unicode: Bool) -> String {
        let escaped = escape(text)
        let shown = unicode ? escaped : String(escaped.map { $0.isASCII ? $0 : "?" })
        guard width(shown) > columns else { return shown }
        let ellipsis = unicode ? "…" : "~"
        var result = ""
        var used = width(ellipsis)
        guard used <= columns else { return "" }
        for character in shown {
            used += width(character)
            guard used <= columns else { break }
            result.append(character)
        }
        return result + ellipsis
    }

    /// Returns the number of terminal columns that the text occupies.
    public static func width(_ text: String) -> Int {
        // Fast path: in ASCII text, each byte is one column.
        text.utf8.allSatisfy { $0 < 0x80 } ? text.utf8.count : text.reduce(0) { $0 + width($1) }
    }

    private static func width(_ character: Character) -> Int {
        // The sum over the scalars: a joined emoji counts as too wide, never as too narrow.
        character.unicodeScalars.reduce(0) { $0 + width($1) }
    }

    private static func width(_ scalar: Unicode.Scalar) -> Int {
        guard !scalar.isASCII, scalar.value != 0xfe0f else { return 1 }
        if scalar.properties.isEmojiPresentation { return 2 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: return 0
        default: return wide.contains { $0.contains(scalar.value) } ? 2 : 1
        }
    }

    /// Scalars that take two columns: East Asian Width W and F (Unicode Standard Annex 11).
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xa960...0xa97c, 0xac00...0xd7a3,
        0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x16fe0...0x18cff,
        0x1aff0...0x1b2fb, 0x1f200...0x1f2ff, 0x20000...0x3fffd,
    ]

    /// Returns whether the scalar is a C0, C1 or DEL control, a line or paragraph separator, or a
    /// bidirectional control.
    public static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x00...0x1f, 0x7f...0x9f, 0x061c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069:
            true
        default: false
        }
    }
}
